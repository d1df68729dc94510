//! When and how a run continues in another box (`boxes` decides in which).

use super::boxes::{Boxes, Former, Look, SHRINK, shares};
use super::outside::Outside;
use super::probe::Probe;
use super::scheme::{SchemeKind, SchemeSetup, SchemeState};
use super::{Engine, scout};
use crate::batch::{Answers, Batch};
use crate::candidate::Solved;
use crate::order;
use crate::portfolio::config::Effort;
use crate::problem::{Follower, ProblemSpec};
use crate::record::{Step, StopReason, Verification};

impl Engine {
    /// If a run has ended by itself, it continues in another box if the best point lies at an edge that is not a
    /// bound, or if the box may be too wide.
    pub(super) fn turn(&mut self) {
        let given_up = self.boxes.given_up(self.evaluations.total(), self.elite.as_ref());
        if let Some(former) = given_up.filter(|_| self.stop.is_none()).cloned() {
            return self.go_back_to(former);
        }
        let Some(stop) =
            self.stop.filter(|s| matches!(s, StopReason::Agreed | StopReason::Flat | StopReason::Collapsed))
        else {
            return;
        };
        let Some(best) = self.elite.clone() else { return };
        self.boxes.stop = Some(stop);
        if let Some(former) = self.boxes.in_vain(&best).cloned() {
            return self.go_back_to(former);
        }
        if let Some(larger) = self.boxes.grown(&self.spec, &best) {
            self.keep(&best);
            return self.go_on_in(larger, Look::first(&self.config), &best);
        }
        let close = self.boxes.look == Look::Close;
        // If values are noisy, small differences say nothing about a box.
        let exact = self.repeats.size().is_none();
        let wide = |spreads| exact && self.boxes.may_be_too_wide(&best, spreads);
        if self.spec.follower == Follower::Search && (close || self.scheme.spreads().is_some_and(wide)) {
            self.keep(&best);
            self.boxes.probe = Some(Probe::new(best));
            self.stop = None;
        } else if close && self.effort_is_more_than_local() {
            self.go_on_in(self.spec.clone(), Look::Whole, &best);
        }
    }

    /// Ends like the whole search before, with its result unless something better has been verified since.
    fn go_back_to(&mut self, former: Former) {
        let later = self.scheme.rechecked().filter(|later| order::better(&later.upper, &former.solved.upper));
        if later.is_none() {
            self.tell_steps();
            self.spec = self.spec.within(former.spaces);
            self.scheme = *former.scheme;
            self.boxes.look = Look::Whole;
            self.boxes.told = self.scheme.history().len();
        }
        (self.elite, self.stop) = (later.or(Some(former.solved)), Some(former.stop));
    }

    /// Takes values around the best point, and decides once all are known.
    pub(super) fn probed(&mut self, asked: &Batch, answers: Answers<'_>) {
        let Some(mut probe) = self.boxes.probe.take() else { return };
        probe.tell(asked.level(), answers);
        if probe.wants().is_some() {
            self.boxes.probe = Some(probe);
            self.stop = self.watch.spent(&self.budgeted());
            if self.stop.is_some() {
                self.boxes.probe = None;
            }
            return;
        }
        let sizes = probe.sizes();
        let least = sizes.iter().copied().fold(1.0, f64::min);
        let before = self.boxes.least.replace(least);
        let close = self.boxes.look == Look::Close;
        // If values are simply zero, every box looks too wide, including the smaller one.
        let in_vain = close && least < SHRINK && before.is_some_and(|before| least < 2.0 * before);
        let smaller = if in_vain { None } else { self.boxes.smaller(&self.spec, &probe.base, &sizes) };
        match smaller {
            Some(smaller) => self.go_on_in(smaller, Look::Close, &probe.base),
            None if close && !in_vain && self.effort_is_more_than_local() => {
                self.go_on_in(self.spec.clone(), Look::Whole, &probe.base);
            }
            None if in_vain && self.boxes.former.is_none() && self.effort_is_more_than_local() => {
                self.go_on_in(self.boxes.before(&self.spec), Look::Whole, &probe.base);
            }
            _ => self.stop = self.boxes.former.as_ref().map(|former| former.stop).or(self.boxes.stop),
        }
    }

    /// Continues in another box, from the best point so far.
    pub(super) fn go_on_in(&mut self, spec: ProblemSpec, look: Look, best: &Solved) {
        if self.outside.is_none() {
            self.outside = Some(Outside::plain(&self.spec));
        }
        self.tell_steps();
        self.boxes.begin(look, self.evaluations.total());
        self.spec = spec;
        self.leaning.begin_anew(&self.config);
        self.stop = None;
        self.fruitless = 0;
        self.watch.begin_anew();
        let start = scout::start(&self.spec, best);
        self.renew_scheme();
        let config = self.boxes.config(&self.config);
        let Engine { spec, sizes, streams, scheme, .. } = self;
        scheme.begin_at(SchemeSetup { spec, config: &config, sizes, streams: *streams }, &[start], true);
    }

    /// Places the first box of a problem with open sides around a point: x, or (x, y).
    pub(super) fn begin_around(&mut self, at: &[f64]) {
        let own = self.boxes.own(&self.spec);
        if let Some((spec, boxes)) = Boxes::open(&own, &self.config, Some(at)) {
            (self.spec, self.boxes) = (spec, boxes);
            self.renew_scheme();
        }
    }

    /// A new scheme for the current box.
    pub(super) fn renew_scheme(&mut self) {
        let config = self.boxes.config(&self.config);
        let setup = SchemeSetup { spec: &self.spec, config: &config, sizes: &self.sizes, streams: self.streams };
        self.scheme = SchemeState::new(config.scheme.kind, setup);
        self.repeats.size().iter().for_each(|sizes| self.scheme.learn_noise(*sizes));
    }

    fn effort_is_more_than_local(&self) -> bool {
        self.config.scheme.kind == SchemeKind::Portfolio && self.config.portfolio.effort != Effort::Local
    }

    /// Keeps what was found in a box that was searched as the settings say.
    fn keep(&mut self, best: &Solved) {
        if let (Look::Whole, Some(stop)) = (self.boxes.look, self.boxes.stop) {
            let verification = self.scheme.verification(best);
            let spaces = [self.spec.upper.space.clone(), self.spec.lower.space.clone()];
            let scheme = Box::new(self.scheme.clone());
            let shares = self.scheme.spreads().map_or([0.0; 2], |spreads| shares(best, spreads));
            self.boxes.former = Some(Former { spaces, scheme, solved: best.clone(), shares, verification, stop });
        }
    }

    /// How the answer was verified: by the whole search of a box, if the current box had only a short one.
    pub(super) fn verification(&self, solution: &Solved) -> Option<Verification> {
        let own = self.scheme.verification(solution);
        let Some(former) = &self.boxes.former else { return own };
        let is_former = former.solved.x == solution.x && former.solved.y == solution.y;
        if is_former && !own.is_some_and(|own| own.rechecked) {
            return former.verification;
        }
        let by_former = self.boxes.look == Look::Close || self.stop == Some(former.stop);
        match (own, former.verification) {
            (Some(own), Some(former)) if by_former && own.rechecked => Some(former),
            (own, _) => own,
        }
    }

    /// The searches of all boxes.
    pub(super) fn all_steps(&self) -> Vec<Step> {
        let mut all = self.boxes.steps.clone();
        all.extend(later(&all, self.scheme.history().split_off(self.boxes.told)));
        all
    }

    /// Moves the searches of the current scheme to the earlier ones.
    fn tell_steps(&mut self) {
        self.boxes.steps = self.all_steps();
        self.boxes.told = 0;
    }
}

/// Appends steps, continuing the count of restarts.
fn later(before: &[Step], mut steps: Vec<Step>) -> Vec<Step> {
    let restarts = before.iter().map(|step| step.restart).max().unwrap_or(0);
    steps.iter_mut().for_each(|step| step.restart += restarts);
    steps
}

impl Boxes {
    /// Whether values around the best point are being evaluated.
    pub(super) fn is_probing(&self) -> bool {
        self.probe.is_some()
    }
}
