//! Small named facts about a payload, bounded whatever the payload holds.

use serde::Serialize;
use serde_json::{Map, Value};

/// An ordered list of named facts, at most [`Summary::LARGEST`] bytes of JSON.
///
/// Nothing is shortened in silence: a long text is cut and its full length stands beside it as `<name>_length`;
/// a long list is cut and its count stands beside it as `<name>_count`; a number that JSON cannot hold is `null`
/// and named in `non_finite`; a fact for which there is no room is named in `omitted`.
///
/// ```
/// let mut summary = mzarena::reference::Summary::default();
/// summary.count("spectrum_count", 3);
/// summary.number("lowest_observed_mz", None);
/// summary.number("total_ion_current", Some(f64::NAN));
/// assert_eq!(
///     serde_json::to_string(&summary)?,
///     r#"{"spectrum_count":3,"lowest_observed_mz":null,"total_ion_current":null,"non_finite":{"total_ion_current":"NaN"}}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    facts: Map<String, Value>,
    non_finite: Map<String, Value>,
    omitted: Vec<String>,
    used: usize,
}

impl Summary {
    /// Most bytes of JSON that the facts take, names included.
    pub const LARGEST: usize = 2048;
    /// Longest text that is kept whole, in characters.
    pub const LONGEST_TEXT: usize = 256;
    /// Longest text of a list that is kept whole, in characters.
    pub const LONGEST_ENTRY: usize = 96;
    /// Most texts of a list that are kept.
    pub const MOST_ENTRIES: usize = 8;
    /// Most names of facts without room that are kept.
    const MOST_OMITTED: usize = 32;

    /// A number of things.
    pub fn count(&mut self, name: &'static str, value: u64) {
        self.put(name, value.into());
    }

    /// Whether something holds.
    pub fn flag(&mut self, name: &'static str, value: bool) {
        self.put(name, value.into());
    }

    /// A word that is known to be short, such as a code; `null` where there is none.
    pub fn word(&mut self, name: &'static str, value: Option<&'static str>) {
        self.put(name, value.into());
    }

    /// A measured or computed number; `null` where there is none.
    pub fn number(&mut self, name: &'static str, value: Option<f64>) {
        if let Some(value) = value.filter(|value| !value.is_finite()) {
            if self.put(name, Value::Null) {
                self.non_finite.insert(name.to_owned(), non_finite_text(value).into());
            }
        } else {
            self.put(name, value.into());
        }
    }

    /// A text of the source; `null` where there is none.
    pub fn text(&mut self, name: &'static str, value: Option<&str>) {
        match value {
            None => self.put(name, Value::Null),
            Some(value) => match cut(value, Self::LONGEST_TEXT) {
                (whole, None) => self.put(name, whole.into()),
                (short, Some(length)) => {
                    self.put(name, short.into()) && self.put_named(format!("{name}_length"), length.into())
                }
            },
        };
    }

    /// Texts of the source, the first [`Summary::MOST_ENTRIES`] of them.
    pub fn texts(&mut self, name: &'static str, values: &[String]) {
        let kept = values.iter().take(Self::MOST_ENTRIES);
        let kept: Vec<Value> = kept.map(|value| cut(value, Self::LONGEST_ENTRY)).map(entry).collect();
        let is_cut = kept.len() < values.len();
        if self.put(name, kept.into()) && is_cut {
            self.put_named(format!("{name}_count"), values.len().into());
        }
    }

    /// A small object or list that the caller has bounded, without NaN or infinities.
    pub fn value(&mut self, name: &'static str, value: Value) {
        self.put(name, value);
    }

    /// Adds the facts of `other` behind its own; a name that is there already keeps its value.
    pub fn extend(&mut self, other: Self) {
        for (name, value) in other.facts {
            if self.facts.contains_key(&name) {
                continue;
            }
            if !self.put_named(name.clone(), value) {
                self.omitted.push(name);
            } else if let Some(text) = other.non_finite.get(&name) {
                self.non_finite.insert(name, text.clone());
            }
        }
        self.omitted.extend(other.omitted);
        self.omitted.truncate(Self::MOST_OMITTED);
    }

    /// A fact by name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.facts.get(name)
    }

    /// The facts, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.facts.iter().map(|(name, value)| (name.as_str(), value))
    }

    fn put(&mut self, name: &'static str, value: Value) -> bool {
        let is_put = self.put_named(name.to_owned(), value);
        if !is_put && self.omitted.len() < Self::MOST_OMITTED {
            self.omitted.push(name.to_owned());
        }
        is_put
    }

    fn put_named(&mut self, name: String, value: Value) -> bool {
        let size = name.len() + value.to_string().len() + "\"\":,".len();
        let fits = self.used + size <= Self::LARGEST;
        if fits {
            self.used += size;
            self.facts.insert(name, value);
        }
        fits
    }
}

impl Serialize for Summary {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in &self.facts {
            map.serialize_entry(name, value)?;
        }
        if !self.non_finite.is_empty() {
            map.serialize_entry("non_finite", &self.non_finite)?;
        }
        if !self.omitted.is_empty() {
            map.serialize_entry("omitted", &self.omitted)?;
        }
        map.end()
    }
}

/// The text itself, or its first `most` characters and the number of all of them.
fn cut(text: &str, most: usize) -> (String, Option<usize>) {
    match text.char_indices().nth(most) {
        None => (text.to_owned(), None),
        Some((end, _)) => (text.get(..end).unwrap_or_default().to_owned(), Some(text.chars().count())),
    }
}

/// A text of a list; a cut one says how long it was.
fn entry((text, length): (String, Option<usize>)) -> Value {
    match length {
        None => text.into(),
        Some(length) => serde_json::json!({ "text": text, "length": length }),
    }
}

fn non_finite_text(value: f64) -> &'static str {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}
