use super::*;
use crate::portfolio::search::tests::{Bench, bowl, follows};

#[test]
fn means_leave_out_failures_and_do_not_depend_on_the_order() {
    assert_eq!(means(&vec![vec![1.0, 4.0], vec![], vec![3.0, 2.0]]), [2.0, 3.0]);
    assert_eq!(means(&vec![vec![], vec![]]), [0.0; 0]);
    let values = [0.1, 0.7, 1e9, -1e9, 0.3];
    let in_order = |order: &[usize]| means(&order.iter().map(|i| vec![values[*i]]).collect());
    assert_eq!(in_order(&[0, 1, 2, 3, 4]), in_order(&[2, 0, 4, 1, 3]));
}

fn smooth(bench: &Bench, size: f64) -> Smooth {
    Smooth::new(bench.shape(), vec![0.3, 0.2], size, 5, &bench.ground().streams)
}

#[test]
fn rounds_of_points_all_over_a_region_that_shrinks_to_the_optimum() {
    let mut bench = Bench::new(bowl, follows);
    let mut search = smooth(&bench, 1.0);
    assert_eq!(search.reach(), (0.5, 1.0));
    assert_eq!(bench.run(&mut search), Some(End::Converged));
    // A quadratic of two variables has 6 coefficients; 6 more; 20 rounds and 8 repeats at both levels.
    assert_eq!(bench.trace.len(), 2 * (20 * 12 + 8));
    assert!(bench.trace[..12].iter().all(|(level, p)| *level == Level::Lower && p[0] <= 0.8 && p[1] <= 0.7));
    assert!(bench.trace[..12].iter().any(|(_, p)| p[0] > 0.5), "{:?}", &bench.trace[..12]);
    let claim = search.claim().unwrap();
    assert!((claim.x[0] - 0.45).abs() < 0.02 && (claim.y[0] - 0.45).abs() < 0.02 && claim.settled, "{claim:?}");
    assert!((claim.value() - bowl(&claim.point())[0]).abs() < 1e-12, "the mean of equal values");
    assert!(search.reach().0 < 0.1, "{:?}", search.reach());
}

#[test]
fn noise_is_averaged_and_the_region_stays_as_wide_as_it_asks_for() {
    // A tenth of what F changes by, up and down without order.
    fn noise(p: &[f64]) -> f64 {
        0.05 * libm::sin(1e7 * (p[0] + 3.7 * p[1]))
    }
    let mut bench = Bench::new(|p| vec![bowl(p)[0] + noise(p)], |p| vec![follows(p)[0] + noise(p)]);
    bench.archive.noise = [0.035; 2];
    let mut search = smooth(&bench, 1.0);
    assert_eq!(bench.run(&mut search), Some(End::Converged));
    let claim = search.claim().unwrap();
    assert!((claim.x[0] - 0.45).abs() < 0.15 && (claim.y[0] - claim.x[0]).abs() < 0.15, "{claim:?}");
    let exact = {
        let mut bench = Bench::new(bowl, follows);
        let mut search = smooth(&bench, 1.0);
        bench.run(&mut search);
        search.reach().0
    };
    assert!(search.reach().0 > 2.0 * exact, "{:?} {exact}", search.reach());
}

#[test]
fn too_few_values_end_it_and_so_does_a_cut() {
    let mut bench = Bench::new(bowl, |p| if p[0] == 0.5 { vec![0.0] } else { vec![] });
    let mut search = smooth(&bench, 1.0);
    assert_eq!((bench.run(&mut search), search.claim()), (Some(End::Lost), None));
    let mut bench = Bench::new(bowl, follows);
    let mut search = smooth(&bench, 0.5);
    assert_eq!(search.reach().0, 0.25);
    search.cut();
    assert_eq!((bench.run(&mut search), bench.trace.len()), (Some(End::Spent), 0));
}
