//! What changes, for those who listen (R26-SUBS, C37).
