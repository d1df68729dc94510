//! The hand-written training against the definition, differentiated by candle: the loss is written
//! out over every ordered pair, and Adam works on candle's tensors. Both start from equal weights.

use bilevo_core::allocate::contrastive::network::{Network, Shape};
use bilevo_core::allocate::contrastive::train::{Adam, End, Pool, Schedule, Trainer};
use bilevo_core::rng::{Purpose, Streams};
use candle_core::{D, Device, Result, Tensor, Var};

const RATE: f64 = 0.1;

/// The network as candle's variables: response weights and biases, hidden ones, output ones.
struct Oracle {
    parameters: Vec<Var>,
    moments: Vec<(Tensor, Tensor)>,
    steps: i32,
}

impl Oracle {
    fn new(net: &Network) -> Result<Self> {
        let Shape { inputs, response, hidden } = net.shape();
        let on = |values: &[f64], shape: &[usize]| Tensor::from_slice(values, shape, &Device::Cpu);
        let (first, rest) = net.weights().split_at(response * (1 + inputs));
        let (second, output) = rest.split_at((1 + inputs + response) * hidden);
        let first = on(first, &[response, 1 + inputs])?.t()?;
        let second = on(second, &[1 + inputs + response, hidden])?;
        let tensors = [
            first.narrow(0, 1, inputs)?.contiguous()?,
            first.narrow(0, 0, 1)?.contiguous()?,
            second.narrow(0, 1, inputs + response)?.contiguous()?,
            second.narrow(0, 0, 1)?.contiguous()?,
            on(&output[..hidden], &[hidden, 1])?,
            on(&output[hidden..], &[1, 1])?,
        ];
        let moments = tensors.iter().map(|t| Ok((t.zeros_like()?, t.zeros_like()?))).collect::<Result<_>>()?;
        let parameters = tensors.iter().map(Var::from_tensor).collect::<Result<_>>()?;
        Ok(Oracle { parameters, moments, steps: 0 })
    }

    /// All weights in the order of `Network`.
    fn weights(&self) -> Result<Vec<f64>> {
        let p = |i: usize| self.parameters[i].as_tensor();
        let first = Tensor::cat(&[p(1), p(0)], 0)?.t()?.contiguous()?;
        let second = Tensor::cat(&[p(3), p(2)], 0)?;
        let flat = [&first, &second, p(4), p(5)].map(|t| t.flatten_all()?.to_vec1());
        Ok(flat.into_iter().collect::<Result<Vec<Vec<f64>>>>()?.concat())
    }

    /// Mean binary cross-entropy over the pairs (better, worse) in both orders.
    fn loss(&self, x: &Tensor, left: &Tensor, right: &Tensor, labels: &Tensor) -> Result<Tensor> {
        let p = |i: usize| self.parameters[i].as_tensor();
        let map = x.matmul(p(0))?.broadcast_add(p(1))?.relu()?;
        let seen = Tensor::cat(&[x, &map], D::Minus1)?;
        let hidden = seen.matmul(p(2))?.broadcast_add(p(3))?.relu()?;
        let scores = hidden.matmul(p(4))?.broadcast_add(p(5))?.squeeze(1)?;
        let logits = (scores.index_select(left, 0)? - scores.index_select(right, 0)?)?;
        // −l ln σ(d) − (1 − l) ln(1 − σ(d)) = max(d, 0) − l d + ln(1 + e^−|d|)
        let rest = (logits.abs()?.neg()?.exp()? + 1.0)?.log()?;
        ((logits.relu()? - (&logits * labels)?)? + rest)?.mean_all()
    }

    /// One step of Adam as its authors wrote it.
    fn step(&mut self, loss: &Tensor) -> Result<()> {
        let gradients = loss.backward()?;
        self.steps += 1;
        for (parameter, (first, second)) in self.parameters.iter().zip(&mut self.moments) {
            let Some(gradient) = gradients.get(parameter) else { candle_core::bail!("a parameter is not used") };
            *first = ((&*first * 0.9)? + (gradient * 0.1)?)?;
            *second = ((&*second * 0.999)? + (gradient.sqr()? * 0.001)?)?;
            let mean = (&*first / (1.0 - 0.9_f64.powi(self.steps)))?;
            let square = (&*second / (1.0 - 0.999_f64.powi(self.steps)))?;
            let change = ((mean / (square.sqrt()? + 1e-8)?)? * RATE)?;
            parameter.set(&(parameter.as_tensor() - change)?)?;
        }
        Ok(())
    }
}

/// Largest difference of two vectors, relative to the largest entry.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let scale = a.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    a.iter().zip(b).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs())) / scale
}

fn compare(shape: Shape, samples: usize, classes: usize, epochs: usize) -> Result<()> {
    let mut stream = Streams::new(samples as u64).open(Purpose::Train, 0, 0);
    let points: Vec<f64> = (0..samples * shape.inputs).map(|_| stream.normal()).collect();
    let values: Vec<f64> = points.chunks_exact(shape.inputs).map(|x| x.iter().map(|v| v * v).sum()).collect();
    let places = values.iter().map(|a| values.iter().filter(|b| *b < a).count());
    let ranks: Vec<usize> = places.map(|place| place * classes / samples).collect();
    let start = Network::new(shape, &mut stream);

    let pairs = || (0..samples as u32).flat_map(|i| (0..samples as u32).map(move |j| (i, j)));
    let rank = |i: u32| ranks[i as usize];
    let used: Vec<(u32, u32)> = pairs().filter(|&(i, j)| rank(i) != rank(j)).collect();
    let index =
        |side: fn(&(u32, u32)) -> u32| Tensor::from_iter(used.iter().map(side).collect::<Vec<_>>(), &Device::Cpu);
    let (left, right) = (index(|pair| pair.0)?, index(|pair| pair.1)?);
    let labels: Vec<f64> = used.iter().map(|&(i, j)| f64::from(u8::from(rank(i) < rank(j)))).collect();
    let labels = Tensor::from_iter(labels, &Device::Cpu)?;
    let x = Tensor::from_slice(&points, (samples, shape.inputs), &Device::Cpu)?;

    let mut oracle = Oracle::new(&start)?;
    assert_eq!(oracle.weights()?, start.weights());
    for _ in 0..epochs {
        let loss = oracle.loss(&x, &left, &right, &labels)?;
        oracle.step(&loss)?;
    }
    let expected = oracle.loss(&x, &left, &right, &labels)?.to_scalar::<f64>()?;

    let (mut net, pool) = (start.clone(), Pool { inputs: &points, ranks: &ranks });
    let schedule = Schedule { epochs, learning_rate: RATE };
    let report = Trainer::default().train(&mut net, &mut Adam::default(), pool, schedule);
    assert_eq!((report.epochs, report.end), (epochs, End::Complete));

    // Rounding differs by about 1e-16 in a gradient. Adam divides it by the size of the gradient, at
    // least by 1e-8: that makes up to 1e-9 a step in weights that hardly matter, and the loss hides
    // it. An error in the mathematics shows at once: each step moves the weights by about 0.1.
    assert!((report.loss - expected).abs() < 1e-10 * expected, "loss {} for {expected}", report.loss);
    let weights = oracle.weights()?;
    let last = weights.len() - 1;
    assert!(distance(&weights, start.weights()) > 0.5, "nothing was learned");
    let apart = distance(&weights[..last], &net.weights()[..last]);
    assert!(apart < 1e-8, "weights differ by {apart}");
    // pairs cannot see the output bias: ours stays, candle's moves by rounding alone
    assert_eq!(net.weights()[last], start.weights()[last]);
    assert!((weights[last] - start.weights()[last]).abs() < 1e-7, "output bias {}", weights[last]);
    Ok(())
}

#[test]
fn small_networks_agree() -> Result<()> {
    compare(Shape { inputs: 2, response: 3, hidden: 32 }, 49, 49, 100)
}

#[test]
fn medium_networks_agree() -> Result<()> {
    compare(Shape { inputs: 5, response: 5, hidden: 64 }, 100, 100, 100)
}

#[test]
fn large_networks_agree() -> Result<()> {
    compare(Shape { inputs: 10, response: 10, hidden: 128 }, 200, 200, 100)
}

#[test]
fn pools_with_ties_agree() -> Result<()> {
    compare(Shape { inputs: 3, response: 2, hidden: 20 }, 41, 6, 100)
}
