//! Writes a run's MS2 spectra as MGF.

use std::io::{self, Write};

use super::chemistry::Scratch;
use super::{SyntheticFacts, SyntheticRun, SyntheticSpectrum};
use crate::spectrum::Polarity;

pub(super) fn write(run: &SyntheticRun, out: &mut impl Write) -> io::Result<SyntheticFacts> {
    let mut facts = SyntheticFacts::default();
    let mut scratch = Scratch::default();
    let mut spectrum = SyntheticSpectrum::empty();
    let mut text = Vec::new();
    for index in 0..run.spectrum_count {
        run.fill(index, &mut spectrum, &mut scratch);
        if spectrum.precursor.is_none() {
            continue;
        }
        facts.add(&spectrum);
        text.clear();
        block(run, &spectrum, &mut text)?;
        facts.byte_count += text.len() as u64;
        out.write_all(&text)?;
    }
    Ok(facts)
}

fn block(run: &SyntheticRun, spectrum: &SyntheticSpectrum, text: &mut Vec<u8>) -> io::Result<()> {
    writeln!(text, "BEGIN IONS\nTITLE={}", spectrum.native_id)?;
    if let Some(precursor) = &spectrum.precursor {
        write!(text, "PEPMASS={}", precursor.target_mz)?;
        if let Some(intensity) = precursor.intensity {
            write!(text, " {intensity}")?;
        }
        if let Some(charge) = precursor.charge {
            let sign = if run.polarity == Polarity::Positive { '+' } else { '-' };
            write!(text, "\nCHARGE={charge}{sign}")?;
        }
    }
    // seconds as they were before they became minutes, so that the same minutes come back
    let seconds = f64::from(spectrum.index) * run.spectrum_seconds;
    writeln!(text, "\nRTINSECONDS={seconds}\nSCANS={}", u64::from(spectrum.index) + 1)?;
    for (mz, intensity) in spectrum.mz.iter().zip(&spectrum.intensity) {
        writeln!(text, "{mz} {intensity}")?;
    }
    writeln!(text, "END IONS\n")
}
