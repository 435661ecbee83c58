//! Filling an arena: in one pass, with flat memory, nothing known beforehand.

mod block;
mod embedding;
mod index;
mod output;
mod run;
mod side;
mod sorter;
mod text;

use super::ArenaError;

pub use embedding::write_embedding;
pub use run::{ChromatogramColumns, RunWriter, SealReport};

/// Allows an arena to grow, or not.
///
/// An arena asks before it writes; at the end the sum of what was granted is the arena's size in bytes.
pub trait Budget {
    /// Asks for `bytes` more.
    ///
    /// # Errors
    ///
    /// [`ArenaError::Limit`] refuses them; the arena is then given up.
    fn grant(&mut self, bytes: u64) -> Result<(), ArenaError>;
}

/// Grants everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unlimited;

impl Budget for Unlimited {
    fn grant(&mut self, _bytes: u64) -> Result<(), ArenaError> {
        Ok(())
    }
}

impl<B: Budget + ?Sized> Budget for Box<B> {
    fn grant(&mut self, bytes: u64) -> Result<(), ArenaError> {
        (**self).grant(bytes)
    }
}
