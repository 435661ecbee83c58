//! The other direction of MS-Numpress, for tests alone, written from the description of the format.

/// Collects half-bytes, high before low.
#[derive(Default)]
struct HalfBytes(Vec<u8>);

impl HalfBytes {
    fn integer(&mut self, value: u32) {
        let digits: Vec<u8> = (0..8).map(|place| (value >> (4 * place)) as u8 & 0xf).collect();
        let leading =
            |digit: u8, most: usize| digits.iter().rev().take_while(|d| **d == digit).count().min(most);
        let (zeros, ones) = (leading(0, 8), leading(0xf, 7));
        let (count, left_out) = if ones > 0 { (8 + ones, ones) } else { (zeros, zeros) };
        self.0.push(count as u8);
        self.0.extend(&digits[..8 - left_out]);
    }

    fn bytes(self) -> Vec<u8> {
        self.0.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect()
    }
}

pub(super) fn linear(values: &[f64], point: f64) -> Vec<u8> {
    let fixed: Vec<i64> = values.iter().map(|value| (value * point).round() as i64).collect();
    let mut out = point.to_be_bytes().to_vec();
    for first in fixed.iter().take(2) {
        out.extend(u32::try_from(*first).unwrap().to_le_bytes());
    }
    let mut residuals = HalfBytes::default();
    for three in fixed.windows(3) {
        let residual = i32::try_from(three[2] - (2 * three[1] - three[0])).unwrap();
        residuals.integer(residual as u32);
    }
    out.extend(residuals.bytes());
    out
}

pub(super) fn positive_integers(values: &[u32]) -> Vec<u8> {
    let mut out = HalfBytes::default();
    for value in values {
        out.integer(*value);
    }
    out.bytes()
}

pub(super) fn short_logged_floats(values: &[f64], point: f64) -> Vec<u8> {
    let mut out = point.to_be_bytes().to_vec();
    for value in values {
        let log = ((value + 1.0).ln() * point).round();
        assert!(log <= 65535.0);
        out.extend((log as u16).to_le_bytes());
    }
    out
}
