use std::future::poll_fn;
use std::sync::mpsc;

use super::*;

async fn read(reader: &mut ThreadReader, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; most];
    let length = poll_fn(|cx| Pin::new(&mut *reader).poll_read(cx, &mut bytes)).await?;
    bytes.truncate(length);
    Ok(bytes)
}

/// Gives what comes through a channel, and ends with it.
struct Fed(mpsc::Receiver<io::Result<&'static [u8]>>);

impl Read for Fed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Ok(bytes) = self.0.recv() else { return Ok(0) };
        let bytes = bytes?;
        into[..bytes.len()].copy_from_slice(bytes);
        Ok(bytes.len())
    }
}

#[tokio::test]
async fn a_reader_gives_what_was_read_in_order_then_the_end() {
    let (feed, fed) = mpsc::channel();
    let mut reader = ThreadReader::new(Fed(fed)).unwrap();
    feed.send(Ok(&b"one"[..])).unwrap();
    feed.send(Err(ErrorKind::Interrupted.into())).unwrap();
    feed.send(Ok(&b"two"[..])).unwrap();
    assert_eq!(read(&mut reader, 2).await.unwrap(), b"on");
    assert_eq!(read(&mut reader, 2).await.unwrap(), b"e");
    assert_eq!(read(&mut reader, 8).await.unwrap(), b"two");
    drop(feed);
    assert_eq!(read(&mut reader, 8).await.unwrap(), b"");
    assert_eq!(read(&mut reader, 8).await.unwrap(), b"", "the end stays the end");
}

#[tokio::test]
async fn an_error_of_reading_arrives() {
    let (feed, fed) = mpsc::channel();
    let mut reader = ThreadReader::new(Fed(fed)).unwrap();
    feed.send(Err(ErrorKind::PermissionDenied.into())).unwrap();
    let error = read(&mut reader, 8).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
}

/// Says what it is given, and does not return before it is told how that went.
struct Gate(mpsc::Sender<Vec<u8>>, mpsc::Receiver<io::Result<()>>);

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes.to_vec()).unwrap();
        self.1.recv().unwrap().map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_writer_is_flushed_and_closed_once_everything_is_written() {
    let (given, gave) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    let mut writer = ThreadWriter::new(Gate(given, told)).unwrap();
    let mut write = async |bytes| poll_fn(|cx| Pin::new(&mut writer).poll_write(cx, bytes)).await;
    assert_eq!(write(b"one").await.unwrap(), 3);
    assert_eq!(gave.recv().unwrap(), b"one");
    {
        let mut unpolled = Context::from_waker(std::task::Waker::noop());
        let mut writer = Pin::new(&mut writer);
        assert!(writer.as_mut().poll_write(&mut unpolled, b"two").is_pending());
        assert!(writer.as_mut().poll_flush(&mut unpolled).is_pending());
        assert!(writer.as_mut().poll_close(&mut unpolled).is_pending());
    }
    tell.send(Ok(())).unwrap();
    poll_fn(|cx| Pin::new(&mut writer).poll_close(cx)).await.unwrap();
    let closed = poll_fn(|cx| Pin::new(&mut writer).poll_write(cx, b"two")).await.unwrap_err();
    assert_eq!(closed.kind(), ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn an_error_of_writing_arrives() {
    let (given, _gave) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    let mut writer = ThreadWriter::new(Gate(given, told)).unwrap();
    tell.send(Err(ErrorKind::StorageFull.into())).unwrap();
    poll_fn(|cx| Pin::new(&mut writer).poll_write(cx, b"one")).await.unwrap();
    let error = poll_fn(|cx| Pin::new(&mut writer).poll_flush(cx)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
}
