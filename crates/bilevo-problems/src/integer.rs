//! Problems with whole numbers, as problem files written for this project. Their optima are exact: by
//! enumeration of both levels (see the tests), in closed form where a level has real variables too.

use crate::ProblemInfo;

macro_rules! problem {
    ($name:literal, $dims:expr, $about:literal) => {
        file_problem!("integer", $name, $dims, $about)
    };
}

/// The collection.
pub(crate) static PROBLEMS: [ProblemInfo; 13] = [
    problem!("capacity", (2, 3), "whole units of two capacities; the follower plans three products"),
    problem!("facility", (5, 12), "sites to open and one price; each customer buys at the cheapest open site"),
    problem!("knapsack-5", (5, 5), "interdiction: the leader takes items away, the follower packs the rest"),
    problem!("knapsack-8", (8, 8), "the same with eight items"),
    problem!("knapsack-10", (10, 10), "the same with ten items"),
    problem!("mixed", (2, 2), "whole and real variables at both levels"),
    problem!("moore-bard", (1, 1), "Moore and Bard 1990: the relaxed optimum rounds to nothing good"),
    problem!("patrol", (6, 1), "guards on six targets; the attacker picks the target that is worth most"),
    problem!("quadratic", (1, 1), "a quadratic problem of BASBLib in whole numbers"),
    problem!("sites", (13, 3), "twelve sites and a price; customers buy real quantities at the nearest open site"),
    problem!("toll", (3, 1), "tolls on three roads, one traveller chooses among five paths"),
    problem!("units", (2, 6), "a price-maker offers a block of power; the operator switches units on"),
    problem!("wide", (1, 1), "a price and a quantity from 0 to 1000"),
];
