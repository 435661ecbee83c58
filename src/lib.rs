//! An immutable, memory-mapped store of mass spectra with zero-copy views, and a read-only MCP server over it.
//!
//! An LC-MS/MS run has far more peaks than fit in a context window. Here a run is read once into an *arena*, a private
//! file without a name that is mapped read-only; whoever works with it holds a short opaque *reference* and reads
//! peaks through *views* that copy nothing. A server hands references and bounded summaries to an agent; the peaks
//! never pass through the protocol.
//!
//! ```
//! use mzarena::arena::{ColumnsRef, IntensityRef};
//! use mzarena::provenance::Provenance;
//! use mzarena::spectrum::SpectrumDescription;
//! use mzarena::store::{Details, SpectrumStore};
//!
//! # fn main() -> Result<(), mzarena::Error> {
//! let store = SpectrumStore::from_environment()?;
//! let description = SpectrumDescription { native_id: "scan=19".into(), ..Default::default() };
//! let columns = ColumnsRef::new(&[100.25, 200.5], IntensityRef::F32(&[10.0, 50.0]));
//! let registered = store.register_spectrum(&description, columns, Details::new(Provenance::of("example")))?;
//!
//! let lease = store.resolve(registered.reference)?;
//! assert_eq!(lease.spectrum()?.mz(), &[100.25, 200.5]);
//! drop(lease);
//! assert!(store.release(registered.reference)?.released);
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! ```text
//! units  code  warning  observe      quantities, stable codes, progress and cancellation
//! spectrum  provenance               what is known apart from arrays; where it came from
//! arena                              payloads as bytes: written once, sealed, mapped; views
//! reference                          what leaves the store: identifiers, metadata, summaries
//! store   access   analysis          who holds what; which files may be opened; answers from views
//! ingest  synthetic                  from a source to an arena; the generator of runs
//! tools                              what a client may ask, without any protocol
//! mcp     cli                        the server on stdio; the command line
//! ```
//!
//! A module imports only from lines above its own; a test reads the sources and holds that.
//!
//! # What always holds
//!
//! 1. An arena is written once, sealed and mapped read-only; it has no name on disk.
//! 2. A view that exists has no errors left: ranges and alignment are proved before.
//! 3. Stored values are bit-equal to what the source delivered; nothing is rounded, scaled or sorted in silence.
//! 4. Missing is `None`, never 0.
//! 5. A lease keeps its arena mapped; no arena is unmapped under a lock.
//! 6. Payload types do not serialise; a tool answers references and bounded numbers.
//!
//! # Platforms
//!
//! Linux is what is tested. On macOS and Windows the code is meant to build, and is untested: there an arena's file has
//! a name for a moment while it is made, and the checks of file systems and of the limits of mappings and descriptors
//! are left out.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::print_stdout,
        clippy::print_stderr,
        clippy::panic
    )
)]

pub mod code;
pub mod observe;
pub mod units;
pub mod warning;

pub mod provenance;
pub mod spectrum;

pub mod arena;

pub mod reference;

pub mod access;
pub mod analysis;
pub mod store;

pub mod ingest;
pub mod synthetic;

pub mod tools;

pub mod cli;
pub mod mcp;

mod error;

pub use error::Error;

/// The examples of README.md, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
