//! Selects rows of a store.

use anyhow::anyhow;
use bilevo::config::{did_you_mean, nearest};
use bilevo::{RunId, methods};
use bilevo_lab::row::Row;
use bilevo_lab::store::{Filter, Store};
use bilevo_lab::tables::general;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Which rows of a store.
#[derive(clap::Args, Debug)]
pub(super) struct RowArgs {
    /// The store
    #[arg(long, value_name = "FILE")]
    pub(super) store: PathBuf,
    /// Only these methods
    #[arg(long, short, value_name = "NAMES", value_delimiter = ',')]
    methods: Vec<String>,
    /// Only these problems
    #[arg(long, short, value_name = "NAMES", value_delimiter = ',')]
    problems: Vec<String>,
    /// Include rows of earlier versions and settings, not only the newest
    #[arg(long)]
    all: bool,
}

/// Whether convergence curves are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curves {
    Load,
    Leave,
}

impl RowArgs {
    /// The matching rows of the store. If there are rows but none matches, the error says why.
    pub(super) fn rows(&self, store: &Store, curves: Curves) -> anyhow::Result<Vec<Row>> {
        let mut filter = if self.all { Filter::all() } else { Filter::default() };
        filter.methods = self.methods.iter().map(|name| own_name(name)).collect();
        filter.problems.clone_from(&self.problems);
        let filter = if curves == Curves::Load { filter.with_traces() } else { filter };
        let rows = store.rows(&filter)?;
        if rows.is_empty() && store.count()? > 0 {
            return Err(self.nothing_matches(&store.ids()?));
        }
        Ok(rows)
    }

    /// Says which name is not in the store, or that the names never occur together.
    fn nothing_matches(&self, stored: &BTreeSet<RunId>) -> anyhow::Error {
        let methods: BTreeSet<&str> = stored.iter().map(|id| id.method.as_str()).collect();
        let problems: BTreeSet<&str> = stored.iter().map(|id| id.problem.as_str()).collect();
        for (what, given, known) in [("method", &self.methods, methods), ("problem", &self.problems, problems)] {
            if let Some(name) = given.iter().find(|name| !known.contains(own_name(name).as_str())) {
                let question = did_you_mean(&nearest(name, known.iter().copied()));
                let known = known.into_iter().collect::<Vec<_>>().join(", ");
                return anyhow!(
                    "no run matches: the store has none with the {what} `{name}`{question}\nhint: it holds {known}"
                );
            }
        }
        let store = self.store.display();
        anyhow!("no run matches all the names\nhint: `bilevo experiment status --store {store}` shows what is there")
    }
}

/// Rows carry a method's own name, even if it was chosen by `auto`.
fn own_name(name: &str) -> String {
    methods::find(name).map_or_else(|_| name.into(), |method| method.name())
}

/// The method against which the others are tested.
#[derive(clap::Args, Debug)]
pub(super) struct TestArgs {
    /// Test the other methods against this one
    #[arg(long, value_name = "METHOD")]
    reference: Option<String>,
    /// Correct the p-values for the number of tests (Holm)
    #[arg(long, requires = "reference")]
    holm: bool,
}

impl TestArgs {
    pub(super) fn options(&self) -> general::Options {
        general::Options { reference: self.reference.as_deref().map(own_name), holm: self.holm }
    }
}
