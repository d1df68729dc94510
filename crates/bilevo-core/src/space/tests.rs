use super::*;
use crate::rng::{Purpose, Streams};

fn stream() -> Stream {
    Streams::new(3).open(Purpose::Start, 0, 0)
}

/// A price, a number of trucks from 0 to 4, a site that is open or not, and a fixed height.
fn mixed() -> Space {
    Space::new().real("price", -1.0, 3.0).whole("trucks", 0.0, 4.0).binary("open").real("height", 2.5, 2.5)
}

#[test]
fn unit_coordinates_go_there_and_back() {
    let space = mixed();
    assert_eq!(space.to_unit(&[1.0, 3.0, 1.0, 2.5]), [0.5, 0.75, 1.0, 0.0]);
    assert_eq!(space.from_unit(&[0.5, 0.75, 1.0, 0.0]), [1.0, 3.0, 1.0, 2.5]);
    assert_eq!(space.from_unit(&[1.5, 0.7, 0.49, 0.9]), [3.0, 3.0, 0.0, 2.5], "held and rounded");
    assert_eq!(space.to_unit(&[9.0, -2.0, 0.4, 7.0]), [1.0, 0.0, 0.4, 0.0], "relaxed values are kept");
    let mut unit = [0.3, 0.7, 0.5, 0.9];
    space.snap(&mut unit);
    assert_eq!(unit, [0.3, 0.75, 1.0, 0.0]);
}

#[test]
fn real_coordinates_are_the_plain_formulas_to_the_bit() {
    let space = Space::from(vec![(-5.0, 10.0), (1e-3, 7e5)]);
    let (mut a, mut b) = (stream(), stream());
    for _ in 0..1_000 {
        let plain: Vec<f64> = space.bounds().iter().map(|(l, h)| l + (h - l) * a.uniform()).collect();
        let drawn = space.draw(&mut b);
        assert_eq!(drawn, plain);
        let unit: Vec<f64> = drawn.iter().zip(space.bounds()).map(|(v, (l, h))| (v - l) / (h - l)).collect();
        assert_eq!(space.to_unit(&drawn), unit);
        let back: Vec<f64> =
            unit.iter().zip(space.bounds()).map(|(u, (l, h))| (l + (h - l) * u).clamp(*l, *h)).collect();
        assert_eq!(space.from_unit(&unit), back);
    }
    assert_eq!(space.middle(), [2.5, 1e-3 + (7e5 - 1e-3) / 2.0]);
}

#[test]
fn points_are_held_and_rounded() {
    let space = mixed();
    let mut point = [7.0, 2.5, 0.5, f64::NAN];
    space.clamp(&mut point);
    assert_eq!(point, [3.0, 2.5, 0.5, 2.5]);
    space.round(&mut point);
    assert_eq!(point, [3.0, 3.0, 1.0, 2.5]);
    assert!(space.contains(&point) && !space.contains(&[3.0, 2.5, 1.0, 2.5]) && !space.contains(&point[..3]));
    let mut lost = [f64::NAN, f64::NAN, f64::NEG_INFINITY, f64::INFINITY];
    space.round(&mut lost);
    assert_eq!(lost, [1.0, 2.0, 0.0, 2.5]);
    let mut negative = [-0.3];
    Space::new().whole("n", -3.0, 3.0).round(&mut negative);
    assert_eq!(negative, [0.0]);
    assert!(negative[0].is_sign_positive());
}

#[test]
fn every_whole_number_is_drawn_equally_often() {
    let space = mixed();
    let mut stream = stream();
    let mut counts = [0_u32; 5];
    for _ in 0..5_000 {
        let point = space.draw(&mut stream);
        assert!(space.contains(&point), "{point:?}");
        counts[point[1] as usize] += 1;
    }
    assert!(counts.iter().all(|count| (850..1_150).contains(count)), "{counts:?}");
}

#[test]
fn neighbours_and_exchanges_stay_within_the_bounds() {
    let space = mixed();
    let near: Vec<Vec<f64>> = space.neighbours(&[0.5, 0.0, 1.0, 2.5]).collect();
    assert_eq!(near, [[0.5, 1.0, 1.0, 2.5], [0.5, 0.0, 0.0, 2.5]]);
    let swaps: Vec<Vec<f64>> = space.exchanges(&[0.5, 2.0, 1.0, 2.5]).collect();
    assert_eq!(swaps, [[0.5, 3.0, 0.0, 2.5]], "up and down; the site cannot open twice");
    assert_eq!(Space::from(vec![(0.0, 1.0)]).neighbours(&[0.5]).count(), 0);
    let wide = Space::new().whole("n", 0.0, 20.0).real("z", 0.0, 1.0);
    let moves: Vec<Vec<f64>> = wide.moves(&[5.0, 0.5]).collect();
    let values: Vec<f64> = moves.iter().filter(|p| p[1] == 0.5).map(|p| p[0]).collect();
    assert_eq!(values, [4.0, 6.0, 1.0, 9.0]);
    assert!(
        moves.contains(&vec![5.0, 0.75])
            && moves.contains(&vec![5.0, 0.4375])
            && moves.iter().all(|p| wide.contains(p))
    );
}

#[test]
fn all_combinations_come_once_in_order() {
    let space = mixed();
    assert_eq!(space.combinations(), 10);
    assert!(space.has_whole() && space.has_fixed() && !space.is_finite());
    let all: Vec<Vec<f64>> = space.enumerate(&[0.25, 9.0, 9.0, 9.0]).collect();
    assert_eq!(all.len(), 10);
    assert_eq!(
        (&all[0][..], &all[1][..], &all[9][..]),
        (&[0.25, 0.0, 0.0, 2.5][..], &[0.25, 0.0, 1.0, 2.5][..], &[0.25, 4.0, 1.0, 2.5][..])
    );
    assert!(all.windows(2).all(|pair| pair[0] < pair[1]) && all.iter().all(|point| space.contains(point)));
    let huge = (0..40).fold(Space::new(), |space, i| space.whole(format!("n{i}"), 0.0, 1e9));
    assert_eq!(huge.combinations(), u64::MAX);
    assert!(huge.is_finite() && huge.check().is_ok());
    assert_eq!(Space::from(vec![(0.0, 1.0)]).enumerate(&[0.3]).collect::<Vec<_>>(), [[0.3]], "nothing to choose");
}

#[test]
fn names_and_kinds_are_kept_when_levels_are_joined() {
    let plain = Space::from(vec![(0.0, 1.0); 2]);
    assert_eq!(plain.names('y'), ["y1", "y2"]);
    let joint = plain.chain(&mixed());
    assert_eq!(joint.dim(), 6);
    assert_eq!(joint.names('x'), ["x1", "x2", "price", "trucks", "open", "height"]);
    assert_eq!(joint.iter().map(|v| v.is_whole()).collect::<Vec<_>>(), [false, false, false, true, true, false]);
    assert_eq!(plain.chain(&plain), Space::from(vec![(0.0, 1.0); 4]), "nothing that says nothing is kept");
    let later = Space::from(vec![(0.0, 1.5)]).whole("n", 0.0, 2.0).real("z", 0.0, 1.0);
    assert_eq!(later.names('x'), ["x1", "n", "z"]);
    assert_eq!(later.iter().map(|v| v.is_whole()).collect::<Vec<_>>(), [false, true, false]);
    assert!(later.check().is_ok());
}

#[test]
fn the_bounds_of_a_whole_number_become_whole() {
    let space = Space::from(vec![(0.5, 3.7), (0.0, 1.0)]).with_whole([0]).unwrap();
    assert_eq!(space.bounds(), [(1.0, 3.0), (0.0, 1.0)]);
    assert_eq!(space.variable(0).values(), Some(3));
    assert_eq!(space.variable(1).values(), None);
}

#[test]
fn what_cannot_be_searched_is_refused_by_name() {
    let refused = |space: Space| space.check().unwrap_err().to_string();
    let one = |low, high| Space::new().real("price", low, high);
    assert!(refused(one(1.0, 0.0)).contains("variable `price` has the box [1, 0]"));
    assert!(refused(one(f64::NAN, 0.0)).contains("the first bound must not be above the second"));
    assert!(refused(one(-1e308, 1e308)).contains("the box"));
    assert!(refused(one(f64::INFINITY, f64::INFINITY)).contains("the box"));
    assert!(refused(one(f64::NEG_INFINITY, f64::NEG_INFINITY)).contains("the box"));
    assert!(one(f64::NEG_INFINITY, f64::INFINITY).whole("n", 0.0, f64::INFINITY).check().is_ok(), "open sides");
    assert!(
        refused(Space::new().whole("n", 0.2, 0.8)).contains("no whole number lies within the bounds of variable `n`")
    );
    assert!(refused(Space::new().whole("n", 5.0, 2.0)).contains("[5, 2]"));
    assert!(refused(Space::new().whole("n", 0.0, 1e17)).contains("beyond 2^53"));
    assert!(refused(one(0.0, 1.0).real("price", 0.0, 1.0)).contains("two variables are called `price`"));
    assert!(refused(Space::from(vec![(0.0, 1.0), (2.0, 1.0)])).contains("variable 1 has the box"));
    for (low, high) in [(0.0, 5e-324), (1.0, 1.0 + f64::EPSILON), (0.0, 1e-310)] {
        assert!(refused(one(low, high)).contains("`price` has a box too narrow for its numbers"));
    }
    assert!(one(1e6, 1e6 + 1e-6).check().is_ok() && one(0.0, 1e-200).check().is_ok());
    assert!(one(2.0, 2.0).check().is_ok(), "a fixed variable");
    let plain = || Space::from(vec![(0.0, 1.0); 2]);
    assert_eq!(plain().with_whole([2]), Err(SpaceError::NoSuchVariable { index: 2, dim: 2 }));
    assert_eq!(plain().with_names(vec!["a".into()]), Err(SpaceError::Count { what: "names", got: 1, dim: 2 }));
    assert!(plain().with_names(vec!["a".into(), "a".into()]).is_err());
}

#[test]
fn open_sides_have_a_first_box_and_are_null_in_writing() {
    let inf = f64::INFINITY;
    let space = Space::new().real("price", 0.0, inf).whole("n", -inf, inf).real("z", -3.0, 5.0).real("low", -inf, -2.0);
    assert!(space.is_open() && !space.is_finite());
    let first = space.closed(None);
    assert_eq!(first.bounds(), [(0.0, 10.0), (-10.0, 10.0), (-3.0, 5.0), (-22.0, -2.0)]);
    assert_eq!(space.closed(Some(&[7.0, 3.5, 0.0, -40.0])).bounds()[..2], [(0.0, 77.0), (-31.0, 38.0)]);
    assert_eq!(space.middle(), [0.0, 0.0, 1.0, -2.0]);
    let text = serde_json::to_string(&space).unwrap();
    assert!(text.contains("[[0.0,null],[null,null],[-3.0,5.0],[null,-2.0]]"), "{text}");
    assert_eq!(serde_json::from_str::<Space>(&text).unwrap(), space);
}

#[test]
fn the_written_form_is_short_and_read_back() {
    let plain = Space::from(vec![(0.0, 1.0)]);
    assert_eq!(serde_json::to_string(&plain).unwrap(), r#"{"bounds":[[0.0,1.0]],"kinds":[],"names":[]}"#);
    for space in [plain, mixed()] {
        let text = serde_json::to_string(&space).unwrap();
        assert_eq!(serde_json::from_str::<Space>(&text).unwrap(), space);
    }
    let short: Space = serde_json::from_str(r#"{"bounds":[[0,1]]}"#).unwrap();
    assert_eq!(short, Space::from(vec![(0.0, 1.0)]));
    // A form that was tampered with is refused, not walked over.
    let broken: Space = serde_json::from_str(r#"{"bounds":[[0,1],[0,1]],"kinds":["whole"],"names":[]}"#).unwrap();
    assert_eq!(broken.check(), Err(SpaceError::Count { what: "kinds", got: 1, dim: 2 }));
    assert_eq!(broken.iter().filter(|v| v.is_whole()).count(), 1);
}
