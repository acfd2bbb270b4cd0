//! Loops that understand as much of a request as they need to find its end.

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Answers each HTTP request with `reply`.
pub(crate) async fn http(stream: impl AsyncRead + AsyncWrite, reply: Vec<u8>) {
    let (reader, writer) = tokio::io::split(stream);
    serve(reader, writer, &reply, request_length).await;
}

/// Answers each line with `reply`.
#[cfg(unix)]
pub(crate) async fn lines(reader: impl AsyncRead, writer: impl AsyncWrite, reply: Vec<u8>) {
    let length = |input: &[u8]| Some(input.iter().position(|&byte| byte == b'\n')? + 1);
    serve(reader, writer, &reply, length).await;
}

/// Writes once what came of one read.
async fn serve(
    reader: impl AsyncRead,
    writer: impl AsyncWrite,
    reply: &[u8],
    length: impl Fn(&[u8]) -> Option<usize>,
) {
    let (mut reader, mut writer) = (std::pin::pin!(reader), std::pin::pin!(writer));
    let (mut input, mut output) = (Vec::with_capacity(16 * 1024), Vec::new());
    while reader.read_buf(&mut input).await.is_ok_and(|read| read > 0) {
        let mut taken = 0;
        while let Some(length) = length(&input[taken..]) {
            taken += length;
            output.extend_from_slice(reply);
        }
        input.drain(..taken);
        if writer.write_all(&output).await.is_err() {
            return;
        }
        output.clear();
    }
}

/// The length of the request that `input` begins with, once all of it is there.
fn request_length(input: &[u8]) -> Option<usize> {
    let mut fields = [httparse::EMPTY_HEADER; 32];
    let mut request = httparse::Request::new(&mut fields);
    let Ok(httparse::Status::Complete(head)) = request.parse(input) else { return None };
    let is_length =
        |field: &&httparse::Header<'_>| field.name.eq_ignore_ascii_case("content-length");
    let length = request.headers.iter().find(is_length).map(|field| field.value)?;
    let body: usize = std::str::from_utf8(length).ok()?.parse().ok()?;
    Some(head + body).filter(|whole| *whole <= input.len())
}
