//! mzML 1.0 and 1.1, strictly and in one pass: the embedded index is neither needed nor trusted.
//!
//! ```text
//! window ─▶ cutter: whole elements, aware of quotes, comments, CDATA ─▶ quick-xml on each slice
//!                                                                        ├▶ header: groups, instruments
//!                                                                        └▶ record: spectrum or chromatogram ─▶ sink
//! ```

mod arrays;
mod context;
mod cutter;
mod document;
mod encoding;
mod header;
mod param;
mod points;
mod precursor;
mod record;
mod xml;

pub(super) use document::{read, recognises};
