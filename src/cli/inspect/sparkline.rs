//! A trace as one line of text.

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws `points` (time, value) in at most `width` characters of equal duration: the largest value of each, from 0 (or
/// less) to the largest of all. A blank is a time without a point. `None` where there is nothing to draw.
pub(super) fn sparkline(points: &[(f64, f64)], width: usize) -> Option<String> {
    let times = || points.iter().map(|(time, _)| *time);
    let first = times().fold(f64::INFINITY, f64::min);
    let duration = times().fold(f64::NEG_INFINITY, f64::max) - first;
    if points.is_empty() || width == 0 || !duration.is_finite() {
        return None;
    }
    let mut columns = vec![None; if duration > 0.0 { width.min(points.len()) } else { 1 }];
    let last = columns.len() - 1;
    for (time, value) in points {
        let share = if duration > 0.0 { (time - first) / duration } else { 0.0 };
        // a hair more, so that rounding moves no point to the column before; the end belongs to the last one
        let column = ((share * columns.len() as f64 + 1e-9) as usize).min(last);
        if let Some(largest) = columns.get_mut(column) {
            *largest = Some(largest.map_or(*value, |largest: f64| largest.max(*value)));
        }
    }
    let top = columns.iter().flatten().fold(0.0, |top: f64, value| top.max(*value));
    let block = |value: f64| {
        let share = if top > 0.0 { (value / top).max(0.0) } else { 0.0 };
        BLOCKS.get((share * (BLOCKS.len() - 1) as f64).round() as usize).copied().unwrap_or(' ')
    };
    Some(columns.into_iter().map(|value| value.map_or(' ', block)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_the_shape_of_the_trace() {
        let even = |values: &[f64]| -> Vec<(f64, f64)> {
            values.iter().enumerate().map(|(at, value)| (at as f64 * 0.1 + 3.0, *value)).collect()
        };
        for (points, width, expected) in [
            (even(&[]), 60, None),
            (even(&[5.0]), 60, Some("█")),
            (even(&[0.0, 0.0]), 60, Some("▁▁")),
            (even(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), 60, Some("▁▂▃▄▅▆▇█")),
            (even(&[7.0, -7.0, 3.5]), 60, Some("█▁▅")),
            // two points to a column, of which the larger counts
            (even(&[1.0, 7.0, 0.0, 1.0]), 2, Some("█▂")),
            // a gap is a blank; order does not matter
            (vec![(10.0, 7.0), (0.0, 7.0), (1.0, 0.0), (9.5, 0.0)], 60, Some("█  █")),
            // several points at one time
            (vec![(1.0, 1.0), (1.0, 2.0)], 60, Some("█")),
        ] {
            assert_eq!(sparkline(&points, width).as_deref(), expected, "{points:?}");
        }
    }

    #[test]
    fn any_number_of_evenly_timed_points_leaves_no_gap() {
        for count in 2..300 {
            let points: Vec<(f64, f64)> = (0..count).map(|at| (f64::from(at) * 0.37, 1.0)).collect();
            let line = sparkline(&points, 60).unwrap();
            assert_eq!(line.chars().count(), 60.min(count as usize));
            assert!(!line.contains(' '), "{count}: {line}");
        }
    }
}
