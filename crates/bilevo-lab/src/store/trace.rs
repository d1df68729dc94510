//! Convergence traces in a compact, exact form.
//!
//! A format byte, then for each point the steps of both counters and the bits of F and accuracy
//! XORed with those of the point before, all as variable-length numbers: a point at which the elite
//! did not change takes about five bytes.

use crate::row::TracePoint;

const FORMAT: u8 = 1;

/// The bytes of a trace.
pub(super) fn encode(trace: &[TracePoint]) -> Vec<u8> {
    let mut bytes = vec![FORMAT];
    let mut last = Last::default();
    for point in trace {
        put(&mut bytes, point.upper_evals.wrapping_sub(last.upper_evals));
        put(&mut bytes, point.lower_evals.wrapping_sub(last.lower_evals));
        put(&mut bytes, point.upper_value.to_bits() ^ last.value);
        bytes.push(u8::from(point.accuracy.is_some()));
        if let Some(accuracy) = point.accuracy {
            put(&mut bytes, accuracy.to_bits() ^ last.accuracy);
        }
        last.follow(point);
    }
    bytes
}

/// Decodes a trace; `None` if the bytes are not one.
pub(super) fn decode(bytes: &[u8]) -> Option<Vec<TracePoint>> {
    let (&FORMAT, mut rest) = bytes.split_first()? else { return None };
    let mut trace = Vec::new();
    let mut last = Last::default();
    while !rest.is_empty() {
        let upper_evals = last.upper_evals.wrapping_add(get(&mut rest)?);
        let lower_evals = last.lower_evals.wrapping_add(get(&mut rest)?);
        let upper_value = f64::from_bits(get(&mut rest)? ^ last.value);
        let accuracy = match get(&mut rest)? {
            0 => None,
            1 => Some(f64::from_bits(get(&mut rest)? ^ last.accuracy)),
            _ => return None,
        };
        let point = TracePoint { upper_evals, lower_evals, upper_value, accuracy };
        last.follow(&point);
        trace.push(point);
    }
    Some(trace)
}

/// The previous point, to which the next one is relative.
#[derive(Default)]
struct Last {
    upper_evals: u64,
    lower_evals: u64,
    value: u64,
    accuracy: u64,
}

impl Last {
    fn follow(&mut self, point: &TracePoint) {
        self.upper_evals = point.upper_evals;
        self.lower_evals = point.lower_evals;
        self.value = point.upper_value.to_bits();
        self.accuracy = point.accuracy.map_or(self.accuracy, f64::to_bits);
    }
}

/// Seven bits at a time, the lowest first, the top bit set while more follow.
fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn get(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bits(trace: &[TracePoint]) -> Vec<(u64, u64, u64, Option<u64>)> {
        let bits =
            |p: &TracePoint| (p.upper_evals, p.lower_evals, p.upper_value.to_bits(), p.accuracy.map(f64::to_bits));
        trace.iter().map(bits).collect()
    }

    proptest! {
        #[test]
        fn every_trace_comes_back_bit_for_bit(raw in prop::collection::vec(any::<(u64, u64, u64, Option<u64>)>(), 0..50)) {
            let trace: Vec<TracePoint> = raw.iter().map(|&(upper_evals, lower_evals, value, accuracy)| TracePoint {
                upper_evals, lower_evals, upper_value: f64::from_bits(value), accuracy: accuracy.map(f64::from_bits),
            }).collect();
            prop_assert_eq!(bits(&decode(&encode(&trace)).unwrap()), raw);
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(trace) = decode(&bytes) {
                prop_assert!(trace.len() < bytes.len());
            }
        }
    }

    #[test]
    fn an_unchanged_elite_takes_few_bytes() {
        let point =
            |i: u64| TracePoint { upper_evals: 9 * i, lower_evals: 700 * i, upper_value: 0.1, accuracy: Some(0.1) };
        let trace: Vec<TracePoint> = (1..=500).map(point).collect();
        assert!(encode(&trace).len() < 500 * 6 + 30);
    }

    #[test]
    fn other_formats_are_refused() {
        assert_eq!(decode(&[]), None);
        assert_eq!(decode(&[2]), None);
        assert_eq!(decode(&[FORMAT, 0x80]), None);
    }
}
