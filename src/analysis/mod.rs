//! Answers from views: plain functions, no I/O, no text, no protocol.

pub mod lookup;
