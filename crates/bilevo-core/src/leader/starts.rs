//! Where descents start.

use crate::rng::Stream;
use crate::space::Space;

/// The number of candidates for a start, for each variable.
const CANDIDATES: usize = 100;
/// The weight of the expected value against the distance from what is known, in turn.
const WEIGHTS: [f64; 3] = [0.2, 0.5, 0.8];

/// Decisions that are spread over the box: the range of every variable is divided into as many equal parts as there
/// are decisions, and each part holds one (a Latin hypercube).
pub(super) fn spread(space: &Space, count: usize, stream: &mut Stream) -> Vec<Vec<f64>> {
    let dim = space.dim();
    let mut points = vec![vec![0.0; dim]; count];
    for variable in 0..dim {
        let mut parts: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            let other = ((last + 1) as f64 * stream.uniform()) as usize;
            parts.swap(last, other.min(last));
        }
        for (point, part) in points.iter_mut().zip(parts) {
            point[variable] = (part as f64 + stream.uniform()) / count as f64;
        }
    }
    points.iter_mut().for_each(|point| space.snap(point));
    let mut distinct: Vec<Vec<f64>> = Vec::new();
    points.into_iter().for_each(|point| {
        if !distinct.contains(&point) {
            distinct.push(point);
        }
    });
    distinct
}

/// A new start: far from all that is known, or where neighbours are good, or a mixture of both, in turn. None if no
/// new point can be drawn. A known point comes with its value; failed ones have none.
pub(crate) fn elsewhere(
    space: &Space,
    known: &[(&[f64], Option<f64>)],
    turn: usize,
    stream: &mut Stream,
) -> Option<Vec<f64>> {
    let mut candidates: Vec<(Vec<f64>, f64, f64)> = Vec::new();
    for _ in 0..CANDIDATES * space.dim() {
        let mut point: Vec<f64> = (0..space.dim()).map(|_| stream.uniform()).collect();
        space.snap(&mut point);
        let (mut nearest, mut sum, mut weights) = (f64::INFINITY, 0.0, 0.0);
        for (other, value) in known {
            let square: f64 = other.iter().zip(&point).map(|(a, b)| (a - b) * (a - b)).sum();
            nearest = nearest.min(square);
            if let Some(value) = value {
                // Shepard's mean, in which nearby points count most.
                let weight = 1.0 / (square * square + 1e-12);
                (sum, weights) = (sum + weight * value, weights + weight);
            }
        }
        if nearest > 0.0 {
            candidates.push((point, sum / weights.max(f64::MIN_POSITIVE), nearest));
        }
    }
    let by_value = ranks(&candidates, |candidate| candidate.1);
    let by_distance = ranks(&candidates, |candidate| -candidate.2);
    let weight = WEIGHTS[turn % WEIGHTS.len()];
    let score = |i: usize| weight * by_value[i] + (1.0 - weight) * by_distance[i];
    let best = (0..candidates.len()).min_by(|&i, &j| score(i).total_cmp(&score(j)))?;
    Some(candidates.swap_remove(best).0)
}

/// The rank of every candidate by a key.
fn ranks<T>(candidates: &[T], key: impl Fn(&T) -> f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by(|&i, &j| key(&candidates[i]).total_cmp(&key(&candidates[j])));
    let mut ranks = vec![0.0; order.len()];
    order.into_iter().enumerate().for_each(|(rank, index)| ranks[index] = rank as f64);
    ranks
}
