//! What is in progress: a search, a verdict, or nothing.

use crate::portfolio::claim::Claim;
use crate::portfolio::history::Kind;
use crate::portfolio::search::Search;
use crate::portfolio::search::changed::Changed;
use crate::portfolio::search::descent::Descent;
use crate::portfolio::search::edge::Edge;
use crate::portfolio::search::population::Population;
use crate::portfolio::search::sample::Sample;
use crate::portfolio::search::smooth::Smooth;
use crate::portfolio::search::survey::Survey;
use crate::portfolio::verify::Verify;
use serde::{Deserialize, Serialize};

/// What is in progress.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Present {
    /// Nothing: the next search has not been chosen yet.
    Choice,
    Descent(Box<Descent>, Kind),
    Population(Box<Population>),
    Sample(Box<Sample>),
    Survey(Box<Survey>),
    Edge(Box<Edge>),
    Smooth(Box<Smooth>, Kind),
    /// With the rivals of its answer.
    Changed(Box<Changed>, Kind, Vec<Vec<f64>>),
    /// What an earlier run found.
    Recalled(Claim),
    /// The verdict on the claim of an entry.
    Verify(Box<Verify>, usize),
    Ended,
    /// The remaining budget is too small for anything.
    Spent,
}

impl Present {
    /// The search under way, to look at.
    pub(super) fn searching(&self) -> Option<&dyn Search> {
        match self {
            Present::Choice | Present::Recalled(_) | Present::Ended | Present::Spent => None,
            Present::Descent(search, _) => Some(&**search),
            Present::Population(search) => Some(&**search),
            Present::Sample(search) => Some(&**search),
            Present::Survey(search) => Some(&**search),
            Present::Edge(search) => Some(&**search),
            Present::Smooth(search, _) => Some(&**search),
            Present::Changed(search, ..) => Some(&**search),
            Present::Verify(search, _) => Some(&**search),
        }
    }

    /// The search under way.
    pub(super) fn search(&mut self) -> Option<&mut dyn Search> {
        match self {
            Present::Choice | Present::Recalled(_) | Present::Ended | Present::Spent => None,
            Present::Descent(search, _) => Some(&mut **search),
            Present::Population(search) => Some(&mut **search),
            Present::Sample(search) => Some(&mut **search),
            Present::Survey(search) => Some(&mut **search),
            Present::Edge(search) => Some(&mut **search),
            Present::Smooth(search, _) => Some(&mut **search),
            Present::Changed(search, ..) => Some(&mut **search),
            Present::Verify(search, _) => Some(&mut **search),
        }
    }
}
