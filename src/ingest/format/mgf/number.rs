//! Numbers of MGF values: plain ones, and ranges and lists of which the lower end counts.

/// Splits the first word off; `None` where only white space is left.
pub(super) fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start();
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    text.split_at_checked(end).filter(|(word, _)| !word.is_empty())
}

/// A number, also NaN and the infinities where they are written so. A finite number too large for 64 bits is none.
pub(super) fn float(word: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(word).ok()?.parse().ok()?;
    let is_too_large = value.is_infinite() && word.iter().any(u8::is_ascii_digit);
    (!is_too_large).then_some(value)
}

/// A whole number of 0 to 255, also written as `2.0`.
pub(super) fn small_integer(word: &[u8]) -> Option<u8> {
    let value = word.first().filter(|byte| byte.is_ascii_digit()).and_then(|_| float(word))?;
    ((0.0..=255.0).contains(&value) && value.fract() == 0.0).then_some(value as u8)
}

/// The smallest number of `12.5`, `12.5-13`, `12.5,13` or `12.5-13 and 14-15`.
pub(super) fn lower_end(text: &[u8]) -> Option<f64> {
    if let Some(value) = float(text) {
        return value.is_finite().then_some(value);
    }
    let mut lowest: Option<f64> = None;
    let parts = text.split(|byte| matches!(byte, b',' | b';') || byte.is_ascii_whitespace());
    for part in parts.filter(|part| !part.is_empty() && !is_conjunction(part)) {
        let value = float(part).or_else(|| range_start(part)).filter(|value| value.is_finite())?;
        lowest = Some(lowest.map_or(value, |lowest| lowest.min(value)));
    }
    lowest
}

/// Whether a word only joins the parts of a list.
pub(super) fn is_conjunction(word: &[u8]) -> bool {
    word.eq_ignore_ascii_case(b"and") || word.eq_ignore_ascii_case(b"or") || word == b"&"
}

/// The lower end of `a-b`. A dash right after an exponent's `e` is that exponent's sign.
fn range_start(part: &[u8]) -> Option<f64> {
    let is_dash = |(index, byte): &(usize, &u8)| {
        let before = index.checked_sub(1).and_then(|before| part.get(before));
        **byte == b'-' && before.is_some_and(|before| !matches!(before, b'e' | b'E'))
    };
    let (dash, _) = part.iter().enumerate().find(is_dash)?;
    let (start, end) = part.split_at_checked(dash)?;
    let (start, end) = (float(start)?, float(end.get(1..)?)?);
    Some(start.min(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_end_of_ranges_and_lists_counts() {
        let table: &[(&str, Option<f64>)] = &[
            ("25", Some(25.0)),
            ("-1", Some(-1.0)),
            ("1.5e-3", Some(0.0015)),
            ("25-30", Some(25.0)),
            ("1e-3-2e-3", Some(0.001)),
            ("30-25", Some(25.0)),
            ("31,30.5", Some(30.5)),
            ("12.5-13 and 11-15", Some(11.0)),
            ("12 , 13", Some(12.0)),
            ("-1--1", Some(-1.0)),
            ("", None),
            ("nan", None),
            ("inf", None),
            ("1e999", None),
            ("PT25S", None),
            ("25-", None),
            ("25 s", None),
            ("1.#QNAN", None),
        ];
        for (text, right) in table {
            assert_eq!(lower_end(text.as_bytes()), *right, "{text:?}");
        }
    }

    #[test]
    fn small_integers_are_whole() {
        let table: &[(&str, Option<u8>)] = &[
            ("2", Some(2)),
            ("2.0", Some(2)),
            ("0", Some(0)),
            ("255", Some(255)),
            ("256", None),
            ("2.5", None),
            ("-1", None),
            ("MS2", None),
            ("inf", None),
            ("", None),
        ];
        for (text, right) in table {
            assert_eq!(small_integer(text.as_bytes()), *right, "{text:?}");
        }
    }
}
