//! What `reading.md` decides, and D1, S1, S3, S9, on small inputs made by the tests themselves.

#[path = "support/loading.rs"]
mod loading;
#[path = "support/mzml.rs"]
mod mzml;
#[path = "support/shared.rs"]
mod shared;

#[path = "reading/arrays.rs"]
mod arrays;
#[path = "reading/damage.rs"]
mod damage;
#[path = "reading/flips.rs"]
mod flips;
#[path = "reading/metadata.rs"]
mod metadata;
#[path = "reading/mgf.rs"]
mod mgf;
#[path = "reading/round_trip.rs"]
mod round_trip;
#[path = "reading/single.rs"]
mod single;
#[path = "reading/source.rs"]
mod source;
#[path = "reading/xml.rs"]
mod xml;
