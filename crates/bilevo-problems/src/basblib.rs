//! BASBLib: thirty small problems of the public-domain (CC0) library of bilevel test problems by
//! Paulavičius and Adjiman, as problem files.
//!
//! The collection states its best known values to three decimals. Ours are exact and checked (see the tests); a
//! comment in the file says so if they differ from the stated ones by more than rounding.

use crate::ProblemInfo;

macro_rules! problem {
    ($name:literal, $dims:expr, $about:literal) => {
        file_problem!("basblib", $name, $dims, $about)
    };
}

/// The collection, in its order.
pub(crate) static PROBLEMS: [ProblemInfo; 30] = [
    problem!("b_1984_01", (1, 1), "linear at both levels, one vertex"),
    problem!("bf_1982_01", (2, 3), "linear at both levels, five variables"),
    problem!("cw_1990_01", (1, 2), "linear, the follower is indifferent to y2"),
    problem!("lh_1994_01", (1, 1), "linear, the leader wants what the follower avoids"),
    problem!("sib_1997_02", (1, 1), "linear, optimum where two constraints meet"),
    problem!("sib_1997_02v", (1, 1), "the same as sib_1997_02"),
    problem!("ka_2014_01", (1, 1), "at x = 0 the follower is indifferent"),
    problem!("mb_2007_13v", (1, 1), "cubic in x, optimum in a corner"),
    problem!("mb_2007_15", (1, 1), "cubic follower"),
    problem!("nwj_2017_01", (1, 2), "follower inside a lemniscate"),
    problem!("as_1984_01", (2, 2), "quadratic follower, two optima"),
    problem!("mb_2007_24", (2, 3), "many follower answers, constrained above"),
    problem!("nwj_2017_03", (4, 4), "four variables at each level, no interior answer"),
    problem!("nwj_2017_04", (2, 3), "non-convex follower in a ball"),
    problem!("dd_2012_01", (1, 1), "the follower has a single feasible point"),
    problem!("mb_2007_08", (1, 1), "feasible only where the follower is indifferent"),
    problem!("mb_2007_18", (1, 1), "the answer jumps"),
    problem!("mb_2007_19", (1, 1), "two equally good answers"),
    problem!("mb_2007_20", (1, 1), "optimum where the answer jumps"),
    problem!("mb_2007_23", (1, 1), "quartic follower with two answers"),
    problem!("sib_1997_01", (1, 1), "quartic follower, constraints at both levels"),
    problem!("b_1988_01", (1, 1), "quadratic, several local optima"),
    problem!("b_1998_02", (2, 1), "quadratic, the answer stays at its bound"),
    problem!("b_1998_05", (1, 1), "quadratic, the answer stays at its bound"),
    problem!("b_1998_07", (1, 2), "quadratic, the follower is left one point"),
    problem!("fl_1995_01", (2, 2), "the follower copies the leader within a box"),
    problem!("lmp_1987_01", (1, 1), "optimum only where the follower is indifferent"),
    problem!("sa_1981_01", (1, 1), "quadratic, constraints at both levels"),
    problem!("tmh_2007_01", (1, 1), "linear follower, two optima"),
    problem!("y_1996_02", (1, 1), "bilinear, optimum where the follower is indifferent"),
];
