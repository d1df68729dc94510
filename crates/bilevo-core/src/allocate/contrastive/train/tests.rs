use super::*;
use crate::rng::{Purpose, Stream, Streams};

const TEN: Schedule = Schedule { epochs: 10, learning_rate: 0.1 };
const HUNDRED: Schedule = Schedule { epochs: 100, learning_rate: 0.1 };

fn stream(seed: u64) -> Stream {
    Streams::new(seed).open(Purpose::Train, 0, 0)
}

fn shape(inputs: usize, response: usize, hidden: usize) -> Shape {
    Shape { inputs, response, hidden }
}

/// Points ~ N(0, 1) and ranks 0..classes with ties.
fn random_pool(samples: usize, inputs: usize, classes: usize, stream: &mut Stream) -> (Vec<f64>, Vec<usize>) {
    let points = (0..samples * inputs).map(|_| stream.normal()).collect();
    (points, (0..samples).map(|_| stream.below(classes)).collect())
}

/// Dense ranks of values.
fn ranks_of(values: &[f64]) -> Vec<usize> {
    values.iter().map(|a| values.iter().filter(|b| *b < a).count()).collect()
}

fn scores(net: &Network, points: &[f64]) -> Vec<f64> {
    let mut scratch = Vec::new();
    points.chunks_exact(net.shape().inputs).map(|x| net.score(x, &mut scratch)).collect()
}

/// The loss as it is defined: over ordered pairs, from scores of single points.
fn naive_loss(net: &Network, pool: Pool<'_>) -> f64 {
    let scores = scores(net, pool.inputs);
    let (mut total, mut count) = (0.0, 0.0);
    for i in 0..scores.len() {
        for j in 0..scores.len() {
            let label = f64::from(u8::from(pool.ranks[i] < pool.ranks[j]));
            if pool.ranks[i] != pool.ranks[j] {
                let p = 1.0 / (1.0 + libm::exp(scores[j] - scores[i]));
                total -= label * libm::log(p) + (1.0 - label) * libm::log(1.0 - p);
                count += 1.0;
            }
        }
    }
    total / count
}

/// Loss and gradient of the kernel, in the layout of the weights.
fn gradient(net: &Network, pool: Pool<'_>) -> (f64, Vec<f64>) {
    let shape = net.shape();
    let zeros = vec![0.0; shape.weight_count()];
    let mut kernel = Kernel::default();
    kernel.load_pool(shape, pool);
    kernel.load_weights(shape, net.weights(), &zeros, &zeros);
    kernel.forward::<4>();
    let loss = kernel.loss();
    assert!(kernel.slope());
    kernel.backward::<4>();
    std::mem::swap(&mut kernel.weights, &mut kernel.gradient);
    let mut gradient = zeros.clone();
    kernel.store_weights(shape, &mut gradient, &mut zeros.clone(), &mut zeros.clone());
    (loss, gradient)
}

const SIZES: [(usize, usize, usize, usize); 6] =
    [(1, 1, 1, 2), (2, 3, 5, 9), (3, 2, 8, 17), (1, 4, 11, 8), (4, 1, 16, 12), (2, 0, 3, 7)];

#[test]
fn gradient_agrees_with_central_differences() {
    for (case, (m, n, q, samples)) in SIZES.into_iter().enumerate() {
        let mut stream = stream(case as u64);
        let (points, mut ranks) = random_pool(samples, m, 4, &mut stream);
        (ranks[0], ranks[1]) = (0, 1);
        let pool = Pool { inputs: &points, ranks: &ranks };
        let net = Network::new(shape(m, n, q), &mut stream);
        let (_, exact) = gradient(&net, pool);
        assert!(exact.iter().any(|g| g.abs() > 1e-3), "nothing to compare in case {case}");
        for (k, &derivative) in exact.iter().enumerate() {
            let at = |h: f64| {
                let mut weights = net.weights().to_vec();
                weights[k] += h;
                naive_loss(&Network::with_weights(net.shape(), weights).unwrap(), pool)
            };
            // the step errs by O(h²) ~ 1e-10 and rounding by 1e-16/h ~ 1e-11
            let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((difference - derivative).abs() < 1e-8, "case {case}, weight {k}: {difference} {derivative}");
        }
    }
}

#[test]
fn loss_is_the_mean_over_ordered_pairs() {
    for (case, (m, n, q, samples)) in SIZES.into_iter().enumerate() {
        let mut stream = stream(100 + case as u64);
        let (points, mut ranks) = random_pool(samples, m, 5, &mut stream);
        (ranks[0], ranks[1]) = (0, 1);
        let pool = Pool { inputs: &points, ranks: &ranks };
        let net = Network::new(shape(m, n, q), &mut stream);
        let (loss, naive) = (gradient(&net, pool).0, naive_loss(&net, pool));
        assert!((loss - naive).abs() < 1e-14 * naive.max(1.0), "case {case}: {loss} {naive}");
    }
}

#[test]
fn slopes_do_not_depend_on_the_spread_of_scores() {
    // the same two pairs of neighbours, once within the range of exp and once far outside it
    let mut slopes = Vec::new();
    for gap in [30.0, 1e4] {
        let mut kernel = Kernel::default();
        let pool = Pool { inputs: &[0.0, 1.0, 2.0, 3.0], ranks: &[0, 1, 2, 3] };
        kernel.load_pool(shape(1, 1, 1), pool);
        kernel.scores.copy_from_slice(&[gap + 1.0, gap, 0.5, 0.0]);
        assert!(kernel.slope());
        slopes.push(kernel.slopes[..4].to_vec());
    }
    for (near, far) in slopes[0].iter().zip(&slopes[1]) {
        assert!((near - far).abs() < 1e-12, "{slopes:?}");
        assert!(near.abs() > 0.01);
    }
}

#[test]
fn training_is_deterministic_and_the_same_for_all_instructions() {
    for (m, n, q, samples) in [(2, 3, 32, 49), (5, 5, 60, 33), (3, 7, 9, 101)] {
        let mut stream = stream(7);
        let (points, ranks) = random_pool(samples, m, samples, &mut stream);
        let pool = Pool { inputs: &points, ranks: &ranks };
        let start = Network::new(shape(m, n, q), &mut stream);
        let run = |instructions| {
            let (mut net, mut adam) = (start.clone(), Adam::default());
            let mut trainer = Trainer { instructions, ..Trainer::default() };
            let report = trainer.train(&mut net, &mut adam, pool, HUNDRED);
            let bits: Vec<u64> = net.weights().iter().map(|w| w.to_bits()).collect();
            (report, bits, adam)
        };
        let fastest = run(Instructions::default());
        assert_eq!(fastest.0.end, End::Complete);
        assert_eq!(fastest, run(Instructions::default()));
        assert_eq!(fastest, run(Instructions::Baseline));
    }
}

#[test]
fn order_of_the_pool_changes_no_bit() {
    let mut stream = stream(8);
    let (points, ranks) = random_pool(30, 2, 12, &mut stream);
    let start = Network::new(shape(2, 3, 16), &mut stream);
    let order = stream.choose(30, 30);
    let shuffled: Vec<f64> = order.iter().flat_map(|&i| [points[2 * i], points[2 * i + 1]]).collect();
    let shuffled_ranks: Vec<usize> = order.iter().map(|&i| ranks[i]).collect();
    let run = |inputs: &[f64], ranks: &[usize]| {
        let (mut net, mut adam) = (start.clone(), Adam::default());
        Trainer::default().train(&mut net, &mut adam, Pool { inputs, ranks }, HUNDRED);
        net
    };
    assert_ne!(points, shuffled);
    assert_eq!(run(&points, &ranks), run(&shuffled, &shuffled_ranks));
}

#[test]
fn learns_a_monotone_function() {
    let value = |x: &[f64]| libm::exp(0.7 * x[0]) + 0.5 * x[1];
    let mut stream = stream(9);
    let (points, _) = random_pool(40, 2, 1, &mut stream);
    let ranks = ranks_of(&points.chunks_exact(2).map(value).collect::<Vec<_>>());
    let mut net = Network::new(shape(2, 3, 32), &mut stream);
    let pool = Pool { inputs: &points, ranks: &ranks };
    let before = naive_loss(&net, pool);
    let report = Trainer::default().train(&mut net, &mut Adam::default(), pool, HUNDRED);
    assert!(report.loss < 0.2 * before, "{before} {report:?}");

    let (held_out, _) = random_pool(100, 2, 1, &mut stream);
    let values: Vec<f64> = held_out.chunks_exact(2).map(value).collect();
    let scores = scores(&net, &held_out);
    let pairs = || (0..100).flat_map(|i| (0..i).map(move |j| (i, j)));
    let right = pairs().filter(|&(i, j)| (values[i] < values[j]) == (scores[i] > scores[j])).count();
    let accuracy = right as f64 / pairs().count() as f64;
    assert!(accuracy > 0.95, "{accuracy}");
}

#[test]
fn pools_without_pairs_change_nothing() {
    let start = Network::new(shape(2, 3, 8), &mut stream(10));
    let pools: [(&[f64], &[usize]); 4] =
        [(&[], &[]), (&[1.0, 2.0], &[0]), (&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[4, 4, 4]), (&[1.0, 2.0, 3.0], &[0, 1])];
    for (inputs, ranks) in pools {
        let mut net = start.clone();
        let report = Trainer::default().train(&mut net, &mut Adam::default(), Pool { inputs, ranks }, TEN);
        assert_eq!(report, Training { loss: 0.0, epochs: 0, end: End::NoPairs });
        assert_eq!(net, start);
    }
}

#[test]
fn one_repeated_point_cannot_be_learned() {
    let mut net = Network::new(shape(2, 3, 8), &mut stream(11));
    let (inputs, ranks) = ([0.3, -0.4].repeat(6), [0, 1, 2, 3, 4, 5]);
    let report =
        Trainer::default().train(&mut net, &mut Adam::default(), Pool { inputs: &inputs, ranks: &ranks }, HUNDRED);
    assert_eq!(report.end, End::Complete);
    assert!((report.loss - std::f64::consts::LN_2).abs() < 1e-12, "{report:?}");
    assert!(net.weights().iter().all(|w| w.is_finite()));
}

#[test]
fn no_scale_gives_anything_but_finite_numbers() {
    let mut trainer = Trainer::default();
    for (case, scale) in [1e-300, 1e-150, 1e150, 1e290, 1e300, 1e307, f64::INFINITY, f64::NAN].into_iter().enumerate() {
        let mut stream = stream(20 + case as u64);
        let (points, ranks) = random_pool(20, 2, 20, &mut stream);
        let points: Vec<f64> = points.iter().map(|v| v * scale).collect();
        let (mut net, mut adam) = (Network::new(shape(2, 3, 16), &mut stream), Adam::default());
        let start = net.clone();
        for _ in 0..3 {
            let report = trainer.train(&mut net, &mut adam, Pool { inputs: &points, ranks: &ranks }, HUNDRED);
            assert!(report.loss.is_finite(), "{scale}: {report:?}");
            assert_eq!(report.end == End::Complete, report.epochs == 100, "{scale}: {report:?}");
        }
        assert!(net.weights().iter().chain(&adam.first).chain(&adam.second).all(|w| w.is_finite()), "{scale}");
        assert!(scores(&net, &points).iter().all(|s| s.is_finite()), "{scale}");
        assert!(scale.is_finite() || net == start, "{scale}");
    }
}

#[test]
fn a_step_out_of_range_is_undone_and_reported() {
    let mut stream = stream(12);
    let (points, mut ranks) = random_pool(10, 2, 3, &mut stream);
    (ranks[0], ranks[1]) = (0, 1);
    let start = Network::new(shape(2, 3, 8), &mut stream);
    let pool = Pool { inputs: &points, ranks: &ranks };
    for learning_rate in [f64::INFINITY, f64::NAN] {
        let (mut net, mut adam) = (start.clone(), Adam::default());
        let report = Trainer::default().train(&mut net, &mut adam, pool, Schedule { epochs: 5, learning_rate });
        assert_eq!((report.epochs, report.end), (0, End::NotFinite));
        assert_eq!(net, start);
        let report = Trainer::default().train(&mut net, &mut adam, pool, TEN);
        assert_eq!(report.end, End::Complete);
    }
}

#[test]
fn a_saved_training_continues_with_the_same_bits() {
    let mut stream = stream(13);
    let (points, ranks) = random_pool(25, 3, 25, &mut stream);
    let pool = Pool { inputs: &points, ranks: &ranks };
    let (mut net, mut adam) = (Network::new(shape(3, 2, 12), &mut stream), Adam::default());
    let mut trainer = Trainer::default();
    trainer.train(&mut net, &mut adam, pool, TEN);

    let bytes = postcard::to_stdvec(&(&net, &adam)).unwrap();
    let (mut loaded, mut loaded_adam): (Network, Adam) = postcard::from_bytes(&bytes).unwrap();
    assert_eq!(postcard::to_stdvec(&(&loaded, &loaded_adam)).unwrap(), bytes);
    let one = trainer.train(&mut net, &mut adam, pool, TEN);
    let other = Trainer::default().train(&mut loaded, &mut loaded_adam, pool, TEN);
    assert_eq!((one, &net, &adam), (other, &loaded, &loaded_adam));
    assert_eq!(adam.steps, 20);
}

#[test]
fn working_memory_may_serve_networks_and_pools_of_any_size() {
    let mut shared = Trainer::default();
    for (case, (m, n, q, samples)) in SIZES.into_iter().chain(SIZES.into_iter().rev()).enumerate() {
        let mut stream = stream(40 + case as u64);
        let (points, ranks) = random_pool(samples, m, 4, &mut stream);
        let pool = Pool { inputs: &points, ranks: &ranks };
        let start = Network::new(shape(m, n, q), &mut stream);
        let run = |trainer: &mut Trainer| {
            let (mut net, mut adam) = (start.clone(), Adam::default());
            (trainer.train(&mut net, &mut adam, pool, TEN), net, adam)
        };
        assert_eq!(run(&mut shared), run(&mut Trainer::default()));
    }
}
