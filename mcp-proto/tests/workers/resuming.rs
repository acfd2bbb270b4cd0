//! Streams that are taken up again on another worker (R2503-RESUME, R2511-RESUME, C37, C50).
