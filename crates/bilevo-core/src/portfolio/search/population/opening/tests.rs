use super::*;
use crate::config::Config;
use crate::portfolio::search::population::Start;
use crate::portfolio::search::tests::{Bench, bowl, follows};

fn population(bench: &Bench, config: &Config) -> Population {
    let (shape, mean, rivals) = (bench.shape(), vec![0.5; 2], Vec::new());
    let start = Start { shape, mean, config, size: 6, number: 0, generation: 0, goal: None, rivals };
    Population::new(&bench.ground(), start)
}

#[test]
fn what_falls_out_of_the_box_goes_to_the_bound_or_halfway() {
    let bench = Bench::new(bowl, follows);
    let config = Config::default();
    let mut search = population(&bench, &config);
    search.cma.mean = vec![0.1, 0.9];
    let mut stream = bench.ground().streams.open(Purpose::Sample, 1, 0);
    let (mut inside, mut bound, mut halfway) = (0, 0, 0);
    for _ in 0..1000 {
        let mut point = [0.0; 2];
        sample(&search.cma, &mut stream, &mut point);
        for (v, mean) in point.iter().zip([0.1, 0.9]) {
            let half = |bound: f64| (v - 0.5 * (mean + bound)).abs() < 1e-15;
            match *v {
                0.0 | 1.0 => bound += 1,
                _ if half(0.0) || half(1.0) => halfway += 1,
                v => inside += i32::from((0.0..1.0).contains(&v)),
            }
        }
    }
    assert_eq!(inside + bound + halfway, 2000);
    // As often the one as the other: 5 standard deviations of 500 and more throws.
    assert!(bound + halfway > 500 && (bound - halfway).abs() < (bound + halfway) / 4, "{inside} {bound} {halfway}");
}

#[test]
fn the_spread_is_that_of_the_leaders_variables() {
    let bench = Bench::new(bowl, follows);
    let config = Config::default();
    let mut search = population(&bench, &config);
    search.cma.step_size = 0.01;
    search.cma.cov = vec![4.0, 0.0, 0.0, 100.0];
    assert!((search.spread() - 0.02).abs() < 1e-15, "{}", search.spread());
}
