//! Reading responses.

use bytes::Buf;

use super::super::body::{ChunkError, Chunked};
use super::super::framing::Framing;
use super::super::response;
use super::super::scan::HeadScan;
use super::{Client, Event, Failure, Life, PENDING, Receive, Send};
use crate::time::Instant;

impl Client {
    /// Consumes a part of `data`: as much as there is room for.
    pub(super) fn take(&mut self, now: Instant, data: &[u8]) -> usize {
        if self.life != Life::Open {
            return data.len();
        }
        match &mut self.receive {
            // Nobody asked: the framing is lost, whatever this is.
            Receive::Idle => {
                self.end(None);
                data.len()
            }
            Receive::Head(_) => {
                let room = self.limits.head_bytes().saturating_sub(self.input.len());
                let taken = data.get(..room).unwrap_or(data);
                self.input.extend_from_slice(taken);
                self.read_head(now);
                taken.len()
            }
            Receive::Sized(_) | Receive::Chunked(_) | Receive::UntilClose => {
                let room = PENDING.saturating_sub(self.body.len());
                self.read_body(now, data.get(..room).unwrap_or(data))
            }
        }
    }

    fn read_head(&mut self, now: Instant) {
        while let Receive::Head(scan) = &mut self.receive {
            let bytes = match scan.find_end(&self.input) {
                Err(complaint) => return self.fail(Failure::Malformed(complaint)),
                Ok(None) if self.input.len() >= self.limits.head_bytes() => {
                    return self.fail(Failure::HeadTooLarge);
                }
                Ok(None) => return,
                Ok(Some(end)) => self.input.split_to(end).freeze(),
            };
            let response = match response::parse(bytes, self.to_head, &self.limits) {
                Err(failure) => return self.fail(failure),
                Ok(response) => response,
            };
            match response.head.status() {
                101 => return self.fail(Failure::Malformed("the protocol changed unasked")),
                100..200 => match self.interim.checked_sub(1) {
                    None => return self.fail(Failure::Malformed("interim responses do not end")),
                    Some(left) => {
                        self.interim = left;
                        self.receive = Receive::Head(HeadScan::default());
                    }
                },
                _ => {
                    self.keep_alive = response.keep_alive;
                    self.head = Some(response.head);
                    self.receive = match response.framing {
                        Some(Framing::Sized(length)) => Receive::Sized(length),
                        Some(Framing::Chunked) => {
                            Receive::Chunked(Chunked::new(u64::MAX, self.limits.trailers))
                        }
                        None => Receive::UntilClose,
                    };
                }
            }
        }
        let mut rest = core::mem::take(&mut self.input);
        let used = self.read_body(now, &rest);
        rest.advance(used.min(rest.len()));
        if self.life == Life::Open && !rest.is_empty() {
            self.end(None);
        }
    }

    /// Reads of the body what is in `data`; returns how much of it belonged to the body.
    fn read_body(&mut self, now: Instant, data: &[u8]) -> usize {
        let body = &mut self.body;
        match &mut self.receive {
            Receive::Sized(left) => {
                let used = usize::try_from(*left).unwrap_or(usize::MAX).min(data.len());
                body.extend_from_slice(data.get(..used).unwrap_or_default());
                *left -= used as u64;
                if *left == 0 {
                    self.complete(now);
                }
                used
            }
            Receive::Chunked(chunked) => {
                match chunked.decode(data, |piece| body.extend_from_slice(piece)) {
                    Ok(used) if chunked.is_done() => {
                        self.complete(now);
                        used
                    }
                    Ok(used) => used,
                    Err(error) => {
                        self.fail(match error {
                            ChunkError::Malformed(complaint) => Failure::Malformed(complaint),
                            ChunkError::TooLarge => {
                                Failure::Malformed("the body is endlessly long")
                            }
                        });
                        data.len()
                    }
                }
            }
            Receive::UntilClose => {
                body.extend_from_slice(data);
                data.len()
            }
            Receive::Idle | Receive::Head(_) => 0,
        }
    }

    /// The response was read to its end.
    fn complete(&mut self, now: Instant) {
        self.last = Some(Event::End);
        self.receive = Receive::Idle;
        if self.keep_alive && matches!(self.send, Send::Complete) {
            self.timer = self.limits.idle(now);
        } else {
            self.end(None);
        }
    }
}
