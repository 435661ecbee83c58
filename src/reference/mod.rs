//! What leaves the store: identifiers, kinds and metadata. No payload, and nothing that could reach one.
//!
//! ## Adding a kind
//!
//! 1. A variant in [`DataKind`] and its line in [`DataKind::ALL`]; the compiler points at the matches that miss it.
//! 2. A variant in [`Shape`] and a `register_…` of the store that validates and copies.
//! 3. A tool that answers with the [`DataReference`], never with the payload.
//! 4. Tests: registration, wrong kind, expiry, release twice, both limits.

mod data_class;
mod data_reference;
mod describe;
mod error;
mod id;
mod kind;
mod summary;

pub use data_class::DataClass;
pub(crate) use data_reference::check_bounds;
pub use data_reference::{DataReference, Derived, Shape, UtcTime};
pub use describe::{run_summary, spectrum_summary};
pub use error::ReferenceError;
pub use id::{IntoReferenceId, ReferenceId};
pub use kind::DataKind;
pub use summary::Summary;
