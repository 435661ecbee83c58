//! Payloads as bytes: written once, sealed, mapped read-only, given back when the last holder lets go.
//!
//! An arena is a private temporary file without a name. [`RunWriter`] fills it with ordinary writes, so a full disk
//! is an error and never a signal; sealing closes the writable descriptor and maps a read-only one, which is closed
//! in turn. From then on there is no path, no descriptor and no `&mut` by which its bytes could change.
//!
//! [`RunView`] and [`SpectrumView`] are borrowed, zero-copy windows: ranges and alignment are proved when a view is
//! made, so reading through it cannot fail, allocates nothing and copies nothing.
//!
//! What remains outside of anybody's control: a disk that fails under a mapped page ends the process with a signal.
//!
//! ```
//! use mzarena::arena::{ArenaFolder, ColumnsRef, IntensityRef, RunWriter, Unlimited};
//! use mzarena::spectrum::SpectrumDescription;
//!
//! # fn main() -> Result<(), mzarena::arena::ArenaError> {
//! let folder = ArenaFolder::from_environment()?;
//! let mut writer = RunWriter::create(&folder, Unlimited)?;
//! let description = SpectrumDescription { native_id: "scan=1".into(), ..Default::default() };
//! let columns = ColumnsRef::new(&[100.0, 200.5], IntensityRef::F32(&[10.0, 30.0]));
//! writer.push(&description, columns)?;
//! let (arena, _) = writer.seal()?;
//!
//! let run = arena.run()?;
//! let spectrum = run.spectrum(0).unwrap();
//! assert_eq!(spectrum.mz(), &[100.0, 200.5]);
//! assert_eq!(spectrum.base_peak_mz(), Some(200.5));
//! # Ok(())
//! # }
//! ```

mod bytes;
mod columns;
mod error;
mod file;
mod folder;
mod layout;
mod sealed;
mod totals;
mod view;
mod writer;

pub use columns::{ColumnsRef, IntensityRef};
pub use error::ArenaError;
pub use folder::{ARENA_DIR_VARIABLE, ArenaFolder};
pub use sealed::Arena;
pub use totals::{LevelCounts, PointFacts, RunTotals};
pub use view::{ChromatogramView, EmbeddingView, PrecursorView, RunView, SelectedIonView, SpectrumView};
pub use writer::{Budget, ChromatogramColumns, RunWriter, SealReport, Unlimited, write_embedding};
