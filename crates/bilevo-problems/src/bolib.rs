//! Sixty problems of the kind of BOLIB (the bilevel optimisation library of Zhou, Zemkoho and Tin), as
//! problem files written from their formulas, and one that is infeasible. Five are of the PMM family
//! of Mejía-de-Dios and Mezura-Montes, four are tests of BilevelJuMP, one is made by the generator of
//! Calamai and Vicente.
//!
//! If a library leaves a variable unbounded, we added bounds. Best known values are checked (see the tests), and
//! differ from stated ones that are wrong.

use crate::ProblemInfo;

macro_rules! problem {
    ($name:literal, $dims:expr, $about:literal) => {
        file_problem!("bolib", $name, $dims, $about)
    };
}

/// The collection, in its order; the last one is infeasible.
pub(crate) static PROBLEMS: [ProblemInfo; 61] = [
    problem!("allendestill2013", (2, 2), "the follower copies the leader within a box, answer at its corner"),
    problem!("anetal2009", (2, 2), "quadratic, indefinite follower between linear constraints"),
    problem!("bard1988ex2", (4, 4), "resources for two divisions, many optimal decisions"),
    problem!("bard1991ex2", (1, 2), "linear, at x = 0 the follower is indifferent"),
    problem!("benayedblair1990a", (1, 2), "linear at both levels, no interior answer"),
    problem!("bialaskarwan1984a", (1, 2), "linear, the follower is indifferent to y1"),
    problem!("calamaivicente1994a", (1, 1), "an equation leaves the follower a single point"),
    problem!("calamaivicente1994c", (4, 2), "quadratic, rotated, six constraints below"),
    problem!("colson2002bipa5", (1, 2), "quartic above, exponentials below"),
    problem!("dempeetal2012", (1, 1), "linear above, bilinear below"),
    problem!("dempefranke2011ex42", (2, 2), "an equation above, optimum where the follower is indifferent"),
    problem!("dempefranke2014ex38", (2, 2), "linear above, bilinear below, optimum where the answer jumps"),
    problem!("dempelohse2011ex31b", (3, 3), "bilinear below, optimum only where the follower is indifferent"),
    problem!("designcentringp4", (4, 6), "the largest rectangle in a curved region"),
    problem!("floudaszlobec1998", (1, 2), "the follower has no bounded answer near x = 0"),
    problem!("frankeetal2018ex513", (1, 3), "the follower is indifferent between answers on a line"),
    problem!("frankeetal2018ex53", (1, 2), "the follower is indifferent to y2"),
    problem!("hatzetal2013", (1, 2), "the answer has a kink at x = 0"),
    problem!("hendersonquandt1958", (1, 1), "two firms, one of them leads"),
    problem!("ishizukaaiyoshi1992a", (1, 2), "any x = 0 or y2 = 0 will do, indifferent follower"),
    problem!("lampariellosagratella2017ex23", (1, 2), "curved constraint below, answer at its bound"),
    problem!("lampariellosagratella2017ex32", (1, 1), "quadratic at both levels, one line of answers"),
    problem!("lampariellosagratella2017ex35", (1, 1), "linear follower with a kink"),
    problem!("ludebsinha2016d", (2, 2), "both levels maximise between parabolas"),
    problem!("ludebsinha2016e", (1, 2), "the follower jumps between two peaks"),
    problem!("macalhurter1997", (1, 1), "quadratic, the answer moves fifty times as fast as x"),
    problem!("mershadempe2006ex2", (1, 1), "linear, constraints above with the follower in them"),
    problem!("mitsosbarton2006ex310", (1, 1), "quartic follower whose answer does not depend on x"),
    problem!("mitsosbarton2006ex317", (1, 1), "quartic follower, the answer splits in two"),
    problem!("mitsosbarton2006ex325", (2, 3), "polynomials in three lower variables, constrained at both levels"),
    problem!("mitsosbarton2006ex328", (5, 5), "five variables at each level, non-convex at both"),
    problem!("morganpatrone2006a", (1, 1), "bilinear below, optimum where the follower is indifferent"),
    problem!("muuquy2003ex2", (2, 3), "quadratic, one constraint at each level"),
    problem!("networkdesignp2", (5, 5), "capacities of five roads, flow conserved by equations"),
    problem!("niewangye2017ex61", (2, 2), "cubic follower in a disc"),
    problem!("outrata1990ex1b", (2, 2), "convex quadratic follower, kinks in the answer"),
    problem!("outrata1990ex1e", (2, 2), "convex quadratic follower, optimum at a corner of its answers"),
    problem!("outrata1990ex2a", (1, 2), "one upper variable moves two answers"),
    problem!("outrata1990ex2c", (1, 2), "curvature of the follower depends on x"),
    problem!("outrata1990ex2e", (1, 2), "curvature and constraints of the follower depend on x"),
    problem!("outrata1993ex32", (1, 2), "follower in a disc that grows with x"),
    problem!("robustportfoliop1", (11, 10), "weights against the worst returns in an ellipsoid"),
    problem!("shimizuetal1997a", (1, 1), "quadratic, three constraints below"),
    problem!("tollsettingp2", (3, 18), "tolls on three roads, the flow follows the cheapest path"),
    problem!("tollsettingp3", (3, 18), "tollsettingp2 with other units for half of the flow"),
    problem!("tuyetal1993", (2, 2), "linear at both levels, four variables"),
    problem!("tuyetal2007ex3", (10, 6), "linear at both levels, sixteen variables"),
    problem!("wangjiaoli2005", (1, 2), "linear, the follower is indifferent along an edge"),
    problem!("yezhu2010ex43", (1, 1), "cubic follower, a false basin pays better"),
    problem!("zlobec2001a", (1, 2), "the answer jumps between two corners at the optimum"),
    problem!("morganpatrone2006c", (1, 1), "indifferent in the middle, decided at both ends"),
    problem!("flds923", (2, 2), "quadratic follower, two local optima"),
    problem!("flds926b", (2, 2), "the follower copies the leader within a box"),
    problem!("jointc2", (1, 1), "constraint above leaves one decision"),
    problem!("pmm2_2", (2, 2), "absolute differences above, sin and a quartic below"),
    problem!("pmm5_2", (2, 2), "absolute differences above, many local optima below"),
    problem!("pmm3_5", (5, 5), "absolute differences above, curved valley below, five variables"),
    problem!("pmm2_5", (5, 5), "absolute differences above, badly scaled below, five variables"),
    problem!("pmm4_5", (5, 5), "absolute differences above, many local optima below, five variables"),
    problem!("calamaivicente_5", (5, 5), "five small quadratic problems side by side"),
    problem!("jointc1", (1, 1), "infeasible: the leader forbids every answer"),
];
