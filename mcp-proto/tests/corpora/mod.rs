//! Where the external test vectors are, and how a test reads them.
//!
//! They live outside the repository, in `../shared/corpora` beside the workspace root;
//! `MCP_CORPORA` names another place. A test that finds none says so in one line and passes.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses the part it needs")]

use std::path::{Path, PathBuf};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

/// One corpus file, parsed; `None`, with a line on standard output, where the corpora are absent.
///
/// # Panics
/// When the corpora are there but this file is missing or is not JSON.
pub(crate) fn load(file: &str) -> Option<Value> {
    let folder = folder();
    if !folder.is_dir() {
        println!("corpora absent ({}): {file} not run", folder.display());
        return None;
    }
    let path = folder.join(file);
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    Some(serde_json::from_slice(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

/// The folder of the corpora, whether or not it exists.
pub(crate) fn folder() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpora");
    std::env::var_os("MCP_CORPORA").map_or_else(beside, PathBuf::from)
}

/// The rows of one section; fails when there are none.
pub(crate) fn rows<'a>(corpus: &'a Value, section: &str) -> &'a [Value] {
    match corpus[section].as_array() {
        Some(rows) if !rows.is_empty() => rows,
        _ => panic!("no rows in section {section}"),
    }
}

/// A string member of a row.
pub(crate) fn text<'a>(row: &'a Value, member: &str) -> &'a str {
    row[member].as_str().unwrap_or_else(|| panic!("no string {member} in {row}"))
}

/// A row's bytes: its `bytes_b64`, decoded.
pub(crate) fn bytes(row: &Value) -> Vec<u8> {
    STANDARD.decode(text(row, "bytes_b64")).expect("base64")
}

/// Says how many vectors of a corpus ran; fails when none did.
pub(crate) fn report(corpus: &str, ran: usize) {
    println!("{corpus}: {ran} vectors");
    assert!(ran > 0, "{corpus}: present, but no vector ran");
}
