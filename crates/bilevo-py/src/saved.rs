//! A run as bytes, between any two answers: magic line, checksum, payload.

use crate::told::Told;
use bilevo::{Ask, Engine, GenerationRecord, Run, RunId};
use serde::{Deserialize, Serialize};

/// First bytes of a saved run.
const MAGIC: &[u8] = b"bilevo optimizer 1\n";
const HINT: &str = "\nhint: give what `Optimizer.to_bytes` returned, unchanged";

#[derive(Serialize)]
struct Out<'a> {
    id: &'a RunId,
    source: &'a str,
    engine: &'a Engine,
    told: &'a Told,
    records: &'a [(GenerationRecord, f64)],
}

#[derive(Deserialize)]
struct In {
    id: RunId,
    source: String,
    engine: Engine,
    told: Told,
    records: Vec<(GenerationRecord, f64)>,
}

/// Everything a run needs to continue.
pub(crate) fn write(run: &Run, told: &Told, records: &[(GenerationRecord, f64)]) -> Result<Vec<u8>, String> {
    let header = run.header();
    let out = Out { id: run.id(), source: &header.source, engine: run.engine(), told, records };
    let payload = postcard::to_stdvec(&out).map_err(|error| format!("the run could not be written: {error}"))?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
    bytes.extend_from_slice(&payload);
    Ok(bytes)
}

/// A run, the answers to its open batch, and its completed generations.
type Saved = (Run, Told, Vec<(GenerationRecord, f64)>);

/// A stable code and a message.
type Refusal = (&'static str, String);

/// The run that [`write`] wrote.
pub(crate) fn read(bytes: &[u8]) -> Result<Saved, Refusal> {
    let foreign = || ("E501", format!("these bytes are not a saved run{HINT}"));
    let damaged = |reason: &str| ("E502", format!("the saved run is damaged: {reason}{HINT}"));
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(foreign)?;
    let (checksum, payload) = rest.split_first_chunk::<4>().ok_or_else(|| damaged("its end is missing"))?;
    if u32::from_le_bytes(*checksum) != crc32fast::hash(payload) {
        return Err(damaged("its checksum does not match its content"));
    }
    let saved: In = postcard::from_bytes(payload).map_err(|error| damaged(&error.to_string()))?;
    if saved.id.version != bilevo::VERSION {
        let (theirs, ours) = (saved.id.version, bilevo::VERSION);
        let words = format!("the run was saved by bilevo {theirs}, this is {ours}\nhint: continue with that version");
        return Err(("E503", words));
    }
    let mut run = Run::new(saved.engine, saved.id.method).of_source(saved.source, saved.id.problem_hash);
    let fits = match run.ask().map_err(|error| damaged(&error.to_string()))? {
        Ask::Evaluate(batch) => saved.told.fits(batch),
        Ask::Finished(_) => saved.told.is_empty(),
    };
    if fits { Ok((run, saved.told, saved.records)) } else { Err(damaged("its answers do not match its open batch")) }
}
