//! Methods by name: a base algorithm, an allocator, and the variants of both.
//!
//! `bl-cma-es`, `tlea-cma-es`, `tlea-de`, `motea`, `boc` are the bases. `cr-BASE` adds contrastive
//! ranking; `cr-BASE-published` is the paper's text to the letter, `-standardised` and
//! `-plain-window` lie between the two; `cr-BASE-no-resample` and `BASE-random` are its ablations; `BASE-capped` and `cr-BASE-capped` limit lower searches to a
//! few generations.

use crate::config::{AllocatorConfig, AllocatorKind, CAP, Config, ConfigError, InputRule, LowerKind, nearest};

/// A base algorithm.
#[derive(Debug)]
pub struct Base {
    /// Its name.
    pub name: &'static str,
    /// The lower search that distinguishes it.
    pub lower: LowerKind,
    /// One sentence about it.
    pub about: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

/// The base algorithms.
pub const BASES: [Base; 5] = [
    Base {
        name: "bl-cma-es",
        lower: LowerKind::Independent,
        about: "CMA-ES at both levels; the upper distribution over (x, y) is the prior of every lower search.",
        source: "He et al., 2018",
    },
    Base {
        name: "tlea-cma-es",
        lower: LowerKind::TransferCma,
        about: "As bl-cma-es, with all lower searches side by side and their distributions passed between neighbours.",
        source: "Chen et al., 2021",
    },
    Base {
        name: "tlea-de",
        lower: LowerKind::TransferDe,
        about: "Success-history differential evolution for every lower task, parameters passed between neighbours.",
        source: "Chen et al., 2021",
    },
    Base {
        name: "motea",
        lower: LowerKind::Multiobjective,
        about: "All lower tasks as one bi-objective problem, solved by decomposition; reconstructed from the published description.",
        source: "Chen et al., 2023",
    },
    Base {
        name: "boc",
        lower: LowerKind::Collaborative,
        about: "One solution for each lower task, all of them collaborating; reconstructed from the published description.",
        source: "Huang et al., 2023",
    },
];

/// A variant: how a base's name is dressed up and what that changes.
#[derive(Debug)]
pub struct Variant {
    prefix: &'static str,
    suffix: &'static str,
    /// One sentence about it; empty for the base itself.
    pub about: &'static str,
    apply: fn(&mut Config),
}

/// The variants of every base.
pub const VARIANTS: [Variant; 9] = [
    Variant { prefix: "", suffix: "", about: "Every candidate gets a lower search.", apply: |_| {} },
    Variant {
        prefix: "cr-",
        suffix: "",
        about: "Contrastive ranking: a small network learns from solved candidates which new ones deserve a lower search.",
        apply: |c| c.allocator.kind = AllocatorKind::Contrastive,
    },
    Variant {
        prefix: "cr-",
        suffix: "-published",
        about: "Contrastive ranking to the letter of the paper: raw inputs, a pool that fills up and is emptied, the model always trusted.",
        apply: |c| c.allocator = AllocatorConfig::published(),
    },
    Variant {
        prefix: "cr-",
        suffix: "-standardised",
        about: "As published, with standardised inputs: shows what scaling alone brings.",
        apply: |c| {
            c.allocator = AllocatorConfig::published();
            c.allocator.inputs = InputRule::Standardised;
        },
    },
    Variant {
        prefix: "cr-",
        suffix: "-plain-window",
        about: "A fresh model on the latest solutions in every generation, always trusted: shows what trust, exploration and recall bring.",
        apply: |c| c.allocator = AllocatorConfig::plain_window(),
    },
    Variant {
        prefix: "cr-",
        suffix: "-no-resample",
        about: "Contrastive ranking without sampling again when the candidates look poor (ablation v2).",
        apply: |c| {
            c.allocator.kind = AllocatorKind::Contrastive;
            c.allocator.resample_rounds = 0;
        },
    },
    Variant {
        prefix: "",
        suffix: "-random",
        about: "A random half of the candidates gets a lower search (ablation v1).",
        apply: |c| c.allocator.kind = AllocatorKind::Random,
    },
    Variant {
        prefix: "",
        suffix: "-capped",
        about: "Control without a model: lower searches end after a few generations.",
        apply: cap,
    },
    Variant {
        prefix: "cr-",
        suffix: "-capped",
        about: "Contrastive ranking and capped lower searches together.",
        apply: |c| {
            c.allocator.kind = AllocatorKind::Contrastive;
            cap(c);
        },
    },
];

fn cap(config: &mut Config) {
    config.lower.max_generations = Some(CAP);
}

/// A method: a base and a variant of it.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// The base.
    pub base: &'static Base,
    /// The variant.
    pub variant: &'static Variant,
}

impl Method {
    /// Its name, as in `cr-bl-cma-es-no-resample`.
    pub fn name(&self) -> String {
        format!("{}{}{}", self.variant.prefix, self.base.name, self.variant.suffix)
    }

    /// Its settings.
    pub fn config(&self) -> Config {
        let mut config = Config::default();
        config.lower.kind = self.base.lower;
        (self.variant.apply)(&mut config);
        match self.base.lower {
            // The sizes that fit the published costs; see `lower::multiobjective`.
            LowerKind::Multiobjective => {
                config.lower.population = Some(6);
                config.refine.max_generations = Some(2);
            }
            // Tasks that hold one solution each lose most when a generation shrinks.
            LowerKind::Collaborative if config.allocator.recall > 0 => config.allocator.recall = 1,
            _ => {}
        }
        config
    }

    /// The method without its allocator or control: what a saving is measured against.
    pub fn base_name(&self) -> &'static str {
        self.base.name
    }
}

/// Every method, base by base.
pub fn all() -> impl Iterator<Item = Method> {
    BASES.iter().flat_map(|base| VARIANTS.iter().map(move |variant| Method { base, variant }))
}

/// The method of a name.
///
/// # Errors
/// An unknown name, with the nearest known one.
pub fn find(name: &str) -> Result<Method, ConfigError> {
    all().find(|m| m.name() == name).ok_or_else(|| {
        let names: Vec<String> = all().map(|m| m.name()).collect();
        ConfigError::UnknownMethod { name: name.into(), nearest: nearest(name, names.iter().map(String::as_str)) }
    })
}

pub(crate) fn config(name: &str) -> Result<Config, ConfigError> {
    Ok(find(name)?.config())
}
