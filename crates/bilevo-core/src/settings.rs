//! Settings: each is described once, next to the algorithm that uses it.
//!
//! `settings!` defines the settings of an algorithm as fields of a struct, each with its meaning, default, possible
//! values and, if it is not always in use, when it is. Everything else follows from that: checks and hints
//! ([`Config::set`], [`Config::check`]), `bilevo explain`, the settings page of the guide ([`page`]), completion, and
//! the hash of a config, which covers the settings in use.

mod page;
mod value;

pub use page::page;
pub use value::{Allowed, flag, number, whole, words};
pub(crate) use value::{OutOfRange, plain, range_hint};

use crate::config::{AllocatorKind, Config, LowerKind, SchemeKind, UpperKind};
use serde_json::Value;
use std::sync::LazyLock;

/// One setting.
#[derive(Clone, Copy)]
pub struct Setting {
    /// Its path, as in `allocator.window`.
    pub path: &'static str,
    pub(crate) doc: &'static [&'static str],
    /// The values it takes, which may depend on other settings.
    pub allowed: fn(&Config) -> Allowed,
    /// Whether it may be `null`, so that the problem or its size decides.
    pub optional: fn() -> bool,
    pub(crate) conditions: [Condition; 2],
    pub(crate) read: fn(&Config) -> Value,
    pub(crate) write: fn(&mut Config, Value) -> serde_json::Result<()>,
}

/// When a setting is in use.
#[derive(Clone, Copy)]
pub(crate) struct Condition {
    pub(crate) words: &'static str,
    pub(crate) holds: fn(&Config) -> bool,
}

impl Setting {
    /// What it means, in a sentence or two.
    pub fn meaning(&self) -> String {
        self.doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }

    /// The part of the method it belongs to, as in `allocator`.
    pub fn section(&self) -> &'static str {
        self.path.split_once('.').map_or(self.path, |(section, _)| section)
    }

    /// Whether `config` uses it.
    pub fn is_used_by(&self, config: &Config) -> bool {
        self.conditions.iter().all(|condition| (condition.holds)(config))
    }

    /// When it is used, in words; empty if always.
    pub fn used_by(&self) -> String {
        let words: Vec<&str> = self.conditions.iter().map(|c| c.words).filter(|words| !words.is_empty()).collect();
        words.join(", ")
    }

    /// Its value.
    pub fn value(&self, config: &Config) -> Value {
        (self.read)(config)
    }

    /// Its value as text for [`Config::set`].
    pub fn text(&self, config: &Config) -> String {
        match self.value(config) {
            Value::String(word) => word,
            value => value.to_string(),
        }
    }

    /// Changes the value; fails if the type is wrong.
    pub(crate) fn write(&self, config: &mut Config, value: Value) -> serde_json::Result<()> {
        (self.write)(config, value)
    }

    /// The possible values, in words.
    pub fn takes(&self, config: &Config) -> String {
        let or_null = if (self.optional)() { ", or null for the default" } else { "" };
        format!("{}{or_null}", (self.allowed)(config))
    }
}

impl std::fmt::Debug for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.path)
    }
}

/// Every setting, part by part.
pub fn all() -> &'static [Setting] {
    static ALL: LazyLock<Vec<Setting>> = LazyLock::new(|| Config::SETTINGS.concat());
    &ALL
}

/// The settings that a config uses.
pub fn of(config: &Config) -> impl Iterator<Item = &'static Setting> {
    all().iter().filter(move |setting| setting.is_used_by(config))
}

/// The setting at a path.
pub fn find(path: &str) -> Option<&'static Setting> {
    all().iter().find(|setting| setting.path == path)
}

/// An algorithm that a method can consist of.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Part {
    /// The setting that chooses it, as in `lower.kind`.
    pub setting: &'static str,
    /// Its name there.
    pub name: String,
    /// What it is, in a sentence.
    pub about: &'static str,
}

/// Every scheme, upper strategy, lower search and allocator.
pub fn parts() -> Vec<Part> {
    let families = [
        ("scheme.kind", SchemeKind::described()),
        ("upper.kind", UpperKind::described()),
        ("lower.kind", LowerKind::described()),
        ("allocator.kind", AllocatorKind::described()),
    ];
    let part = |setting, (name, about)| Part { setting, name, about };
    families.into_iter().flat_map(|(setting, members)| members.into_iter().map(move |m| part(setting, m))).collect()
}

/// Whether a value of this type may be absent.
pub(crate) fn is_optional<T: serde::de::DeserializeOwned>() -> bool {
    serde_json::from_value::<T>(Value::Null).is_ok()
}

/// Defines a struct of settings.
///
/// ```text
/// settings! {
///     /// What the struct is about.
///     pub struct RandomConfig in random as "allocator", if "allocator.kind = random" |c| c.allocator.kind == Random;
///
///     /// What the setting means.
///     keep: f64 = 0.5, |_| number(0.01, 1.0), if "when it is used" |c| true;
/// }
/// ```
///
/// `in` names the field of [`Config`], `as` the first part of the path that users write. Both conditions may be left
/// out.
macro_rules! settings {
    (
        $(#[$about:meta])*
        pub struct $Name:ident in $field:ident as $section:literal $(, if $family_words:literal $family:expr)?;
        $(
            $(#[doc = $meaning:literal])+
            $setting:ident: $Type:ty = $default:expr, $allowed:expr $(, if $words:literal $when:expr)?;
        )+
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, ::serde::Serialize, ::serde::Deserialize)]
        pub struct $Name {
            $( $(#[doc = $meaning])+ pub $setting: $Type, )+
        }

        impl Default for $Name {
            fn default() -> Self {
                $Name { $( $setting: $default, )+ }
            }
        }

        impl $Name {
            const USED: $crate::settings::Condition = $crate::settings::settings!(@when $($family_words $family)?);

            pub(crate) const SETTINGS: &'static [$crate::settings::Setting] = &[$(
                $crate::settings::Setting {
                    path: concat!($section, ".", stringify!($setting)),
                    doc: &[$($meaning),+],
                    allowed: $allowed,
                    optional: $crate::settings::is_optional::<$Type>,
                    conditions: [$Name::USED, $crate::settings::settings!(@when $($words $when)?)],
                    read: |config| ::serde_json::to_value(&config.$field.$setting).unwrap_or_default(),
                    write: |config, value| {
                        config.$field.$setting = ::serde_json::from_value(value)?;
                        Ok(())
                    },
                },
            )+];
        }
    };
    (@when) => { $crate::settings::Condition { words: "", holds: |_| true } };
    (@when $words:literal $holds:expr) => { $crate::settings::Condition { words: $words, holds: $holds } };
}

/// Defines a choice between words as an enum; the first word is the default.
macro_rules! choice {
    (
        $(#[$about:meta])*
        pub enum $Name:ident { $( #[$first_about:meta] )+ $First:ident, $( $( #[$word_about:meta] )+ $Word:ident, )* }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $Name {
            #[default]
            $( #[$first_about] )+ $First,
            $( $( #[$word_about] )+ $Word, )*
        }

        impl $Name {
            /// Every word of the choice.
            pub const ALL: &'static [$Name] = &[$Name::$First, $( $Name::$Word, )*];
        }
    };
}

pub(crate) use {choice, settings};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_setting_is_described_and_takes_its_default() {
        let config = Config::default();
        let mut paths = BTreeSet::new();
        for setting in all() {
            assert!(paths.insert(setting.path), "{setting:?} twice");
            assert!(setting.meaning().ends_with('.'), "{setting:?}: {}", setting.meaning());
            let value = setting.value(&config);
            assert!((setting.allowed)(&config).refusal(&value).is_none(), "{setting:?} does not take {value}");
            assert_eq!(value.is_null(), value.is_null() && (setting.optional)());
            let mut same = config.clone();
            setting.write(&mut same, value).unwrap();
            assert_eq!(same, config);
        }
        assert!(paths.len() > 35);
    }
}
