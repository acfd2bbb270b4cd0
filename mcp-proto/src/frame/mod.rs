//! Bytes to frames and back. This layer knows no MCP method.

pub mod envelope;
pub mod header_value;
pub mod http1;
pub mod json;
pub mod lines;
pub mod sse;
pub mod uri_template;
pub mod writer;
