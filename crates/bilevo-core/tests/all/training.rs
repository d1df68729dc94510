//! The hand-written training against the definition, differentiated automatically: the loss is written
//! out over every ordered pair, a library takes its gradient, and Adam stands here as published. Both
//! start from equal weights.

use bilevo_core::allocate::contrastive::network::{Network, Shape};
use bilevo_core::allocate::contrastive::train::{Adam, End, Pool, Schedule, Trainer};
use bilevo_core::rng::{Purpose, Streams};
use reverse::{Tape, Var};

const RATE: f64 = 0.1;

/// The network by its definition.
struct Oracle {
    shape: Shape,
    /// In the order of `Network`: a row (bias, inputs) for each response; for the hidden layer a row of
    /// biases, then one for each input and response; for the output the weights, then the bias.
    weights: Vec<f64>,
    moments: Vec<(f64, f64)>,
    steps: i32,
}

/// What is learned from: decisions, and the pairs of them that differ in rank, each in both orders, with
/// 1 if the first is the better one.
struct Lesson<'a> {
    points: &'a [f64],
    pairs: Vec<(usize, usize, f64)>,
}

/// max(v, 0), with derivative 0 where it is 0.
fn relu(v: Var<'_>) -> Var<'_> {
    if v.val() > 0.0 { v } else { v * 0.0 }
}

impl Oracle {
    fn new(net: &Network) -> Self {
        let weights = net.weights().to_vec();
        Oracle { shape: net.shape(), moments: vec![(0.0, 0.0); weights.len()], weights, steps: 0 }
    }

    fn score<'a>(&self, w: &[Var<'a>], x: &[f64]) -> Var<'a> {
        let Shape { inputs, response, hidden } = self.shape;
        let (first, rest) = w.split_at(response * (1 + inputs));
        let (second, output) = rest.split_at((1 + inputs + response) * hidden);
        let weighted = |row: &[Var<'a>]| x.iter().zip(&row[1..]).fold(row[0], |sum, (x, w)| sum + *w * *x);
        let map: Vec<Var> = first.chunks_exact(1 + inputs).map(|row| relu(weighted(row))).collect();
        let unit = |h: usize| {
            let column = |k: usize| second[(1 + k) * hidden + h];
            let seen = (0..inputs).fold(second[h], |sum, k| sum + column(k) * x[k]);
            relu((0..response).fold(seen, |sum, k| sum + column(inputs + k) * map[k]))
        };
        (0..hidden).fold(output[hidden], |sum, h| sum + output[h] * unit(h))
    }

    /// Mean binary cross-entropy over the pairs.
    fn loss<'a>(&self, w: &[Var<'a>], lesson: &Lesson<'_>) -> Var<'a> {
        let scores: Vec<Var> = lesson.points.chunks_exact(self.shape.inputs).map(|x| self.score(w, x)).collect();
        // −l ln σ(d) − (1 − l) ln(1 − σ(d)) = max(d, 0) − l d + ln(1 + e^−|d|)
        let term = |&(left, right, label): &(usize, usize, f64)| {
            let d = scores[left] - scores[right];
            relu(d) - d * label + (-d.abs()).exp().ln_1p()
        };
        lesson.pairs.iter().map(term).sum::<Var>() / lesson.pairs.len() as f64
    }

    fn value(&self, lesson: &Lesson<'_>, tape: &Tape) -> f64 {
        tape.clear();
        self.loss(&tape.add_vars(&self.weights), lesson).val()
    }

    /// One step of Adam as its authors wrote it.
    fn step(&mut self, lesson: &Lesson<'_>, tape: &Tape) {
        tape.clear();
        let gradient = self.loss(&tape.add_vars(&self.weights), lesson).grad();
        self.steps += 1;
        // The weights were the first variables on the tape.
        for ((weight, (first, second)), slope) in self.weights.iter_mut().zip(&mut self.moments).zip(gradient) {
            *first = 0.9 * *first + 0.1 * slope;
            *second = 0.999 * *second + 0.001 * slope * slope;
            let mean = *first / (1.0 - 0.9_f64.powi(self.steps));
            let square = *second / (1.0 - 0.999_f64.powi(self.steps));
            *weight -= RATE * mean / (square.sqrt() + 1e-8);
        }
    }
}

/// Largest difference of two vectors, relative to the largest entry.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let scale = a.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    a.iter().zip(b).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs())) / scale
}

fn compare(shape: Shape, samples: usize, classes: usize, epochs: usize) {
    let mut stream = Streams::new(samples as u64).open(Purpose::Train, 0, 0);
    let points: Vec<f64> = (0..samples * shape.inputs).map(|_| stream.normal()).collect();
    let values: Vec<f64> = points.chunks_exact(shape.inputs).map(|x| x.iter().map(|v| v * v).sum()).collect();
    let places = values.iter().map(|a| values.iter().filter(|b| *b < a).count());
    let ranks: Vec<usize> = places.map(|place| place * classes / samples).collect();
    let start = Network::new(shape, &mut stream);

    let pairs = (0..samples).flat_map(|i| (0..samples).map(move |j| (i, j)));
    let labelled = pairs.filter(|&(i, j)| ranks[i] != ranks[j]).map(|(i, j)| (i, j, f64::from(ranks[i] < ranks[j])));
    let lesson = Lesson { points: &points, pairs: labelled.collect() };
    let mut oracle = Oracle::new(&start);
    let tape = Tape::new();
    for _ in 0..epochs {
        oracle.step(&lesson, &tape);
    }
    let expected = oracle.value(&lesson, &tape);

    let (mut net, pool) = (start.clone(), Pool { inputs: &points, ranks: &ranks });
    let schedule = Schedule { epochs, learning_rate: RATE };
    let report = Trainer::default().train(&mut net, &mut Adam::default(), pool, schedule);
    assert_eq!((report.epochs, report.end), (epochs, End::Complete));

    // Rounding differs by about 1e-16 in a gradient. Adam divides it by the size of the gradient, at
    // least by 1e-8: that makes up to 1e-9 a step in weights that hardly matter, and the loss hides
    // it. An error in the mathematics shows at once: each step moves the weights by about 0.1.
    assert!((report.loss - expected).abs() < 1e-10 * expected, "loss {} for {expected}", report.loss);
    let weights = &oracle.weights;
    let last = weights.len() - 1;
    assert!(distance(weights, start.weights()) > 0.5, "nothing was learned");
    let apart = distance(&weights[..last], &net.weights()[..last]);
    assert!(apart < 1e-8, "weights differ by {apart}");
    // pairs cannot see the output bias: ours stays, the oracle's moves by rounding alone
    assert_eq!(net.weights()[last], start.weights()[last]);
    assert!((weights[last] - start.weights()[last]).abs() < 1e-7, "output bias {}", weights[last]);
}

#[test]
fn small_networks_agree() {
    compare(Shape { inputs: 2, response: 3, hidden: 32 }, 49, 49, 100);
}

#[test]
fn medium_networks_agree() {
    compare(Shape { inputs: 5, response: 5, hidden: 64 }, 100, 100, 100);
}

#[test]
fn large_networks_agree() {
    compare(Shape { inputs: 10, response: 10, hidden: 128 }, 200, 200, 100);
}

#[test]
fn pools_with_ties_agree() {
    compare(Shape { inputs: 3, response: 2, hidden: 20 }, 41, 6, 100);
}
