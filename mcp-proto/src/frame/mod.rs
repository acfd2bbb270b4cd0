//! Bytes to frames and back. This layer knows no MCP method.

pub mod coding;
pub mod envelope;
#[cfg(feature = "gzip")]
pub mod gzip;
pub mod header_value;
pub mod http1;
pub mod json;
pub mod lines;
pub mod sse;
pub mod uri_template;
pub mod writer;
