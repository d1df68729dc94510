//! Short runs, pinned: what they evaluate and find changes only with a change of all results.

use crate::common::{engine_of, finish, toy};
use bilevo_core::methods;
use bilevo_core::record::GenerationRecord;

/// FNV-1a over the counts and the bits of the numbers of every generation.
fn fingerprint(records: &[GenerationRecord]) -> u64 {
    let numbers = records.iter().flat_map(|r| {
        let searches = r.lower_searches;
        let counts = [r.evaluations.upper, r.evaluations.lower, r.evaluations.refine_lower];
        let searches = [searches.run, searches.skipped, searches.resampled];
        let values = [r.upper_value, r.lower_value, r.step_size, r.axis_ratio].map(f64::to_bits);
        let model = r.model.into_iter().flat_map(|m| [m.loss, m.accuracy]).map(|v| v.unwrap_or(-1.0).to_bits());
        counts.into_iter().chain(searches).chain(values).chain(model)
    });
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    numbers.flat_map(u64::to_le_bytes).fold(0xcbf2_9ce4_8422_2325, step)
}

const GOLDEN: [(&str, u64); 14] = [
    ("bl-cma-es", 0x6e903b572505c079),
    ("tlea-cma-es", 0x26570af7ab54e9d0),
    ("tlea-de", 0x35e34d0b675da969),
    ("motea", 0x5e7a5f3ef333ad87),
    ("boc", 0x6ad2adbde932e241),
    ("cr-bl-cma-es", 0x9e45664c36956ba8),
    ("cr-tlea-cma-es", 0x94e139269397b24c),
    ("cr-tlea-de", 0xa5e1dd2673b3304d),
    ("cr-motea", 0x65c0d369d224665d),
    ("cr-boc", 0xeabbf42d1fed00ee),
    ("tlea-cma-es-random", 0x6677de1a7cc3ab7c),
    ("tlea-cma-es-random-recall", 0xcab1d201f50a4fd6),
    ("cr-tlea-cma-es-published", 0x277c130c1db0fbed),
    ("cr-bl-cma-es-plain-window", 0x221e3db1662486e9),
];

#[test]
fn short_runs_go_where_they_always_went() {
    let run = |name: &str| fingerprint(&finish(&mut engine_of(&methods::find(name).unwrap(), 5), toy));
    let found: Vec<(&str, u64)> = GOLDEN.iter().map(|&(name, _)| (name, run(name))).collect();
    assert_eq!(found, GOLDEN, "if a change of results is meant, it belongs into the changelog");
}

#[test]
fn recall_changes_a_run_of_every_base() {
    for base in methods::BASES {
        for (with, without) in [("-recall", ""), ("-random-recall", "-random")] {
            let run = |suffix: &str| {
                let method = methods::find(&format!("{}{suffix}", base.name)).unwrap();
                fingerprint(&finish(&mut engine_of(&method, 5), toy))
            };
            assert_ne!(run(with), run(without), "{}{with}", base.name);
        }
    }
}
