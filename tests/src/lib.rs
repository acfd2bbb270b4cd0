//! Tests across crates, processes and real servers: see the targets of this package.
