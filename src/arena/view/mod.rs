//! Borrowed, zero-copy windows on a sealed arena. A view that exists has no errors left.

mod codes;
mod embedding;
mod proof;
mod run;
mod spectrum;

pub use embedding::EmbeddingView;
pub use run::{ChromatogramView, RunView};
pub use spectrum::{PrecursorView, SelectedIonView, SpectrumView};

pub(super) use codes::{chromatogram_code, energy_code, mobility_code};
pub(super) use proof::Proof;
