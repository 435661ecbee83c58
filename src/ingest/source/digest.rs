//! Digests of every byte of a source.

use sha2::Digest as _;

/// Which digest a provenance record states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DigestKind {
    /// BLAKE3: fast everywhere.
    #[default]
    Blake3,
    /// SHA-256: what repositories publish; slow where the processor has no instructions for it.
    Sha256,
}

pub(super) enum Hasher {
    Blake3(Box<blake3::Hasher>),
    Sha256(sha2::Sha256),
}

impl Hasher {
    pub(super) fn new(kind: DigestKind) -> Self {
        match kind {
            DigestKind::Blake3 => Self::Blake3(Box::new(blake3::Hasher::new())),
            DigestKind::Sha256 => Self::Sha256(sha2::Sha256::new()),
        }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Blake3(hasher) => {
                hasher.update(bytes);
            }
            Self::Sha256(hasher) => hasher.update(bytes),
        }
    }

    /// `blake3:` or `sha256:` and lower-case hex.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Blake3(hasher) => format!("blake3:{}", hasher.finalize().to_hex()),
            Self::Sha256(hasher) => {
                use std::fmt::Write as _;
                let mut text = String::from("sha256:");
                for byte in hasher.clone().finalize() {
                    // Writing to a string cannot fail.
                    let _ = write!(text, "{byte:02x}");
                }
                text
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published test vectors of both functions for the input "abc".
    #[test]
    fn digests_are_the_published_ones() {
        let cases = [
            (DigestKind::Blake3, "blake3:6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"),
            (DigestKind::Sha256, "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ];
        for (kind, expected) in cases {
            let mut hasher = Hasher::new(kind);
            hasher.update(b"a");
            hasher.update(b"bc");
            assert_eq!(hasher.text(), expected);
        }
    }
}
