//! The client's side of a revision: requests out, replies in.

mod describe;
mod heard;
mod request;
mod results;

pub use describe::{ServerError, offered_versions};
pub use heard::Heard;
pub use request::Speaker;
pub use results::{BadReply, Received};
