//! A config as text (a tree of the settings in use) and as binary data (all of them).

use super::{Binary, Config};
use crate::settings;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

impl Config {
    /// The settings in use as `{"section": {"setting": value}}`.
    pub fn tree(&self) -> Value {
        let mut tree = Map::new();
        for setting in settings::of(self) {
            let Some((section, name)) = setting.path.split_once('.') else { continue };
            let section = tree.entry(section).or_insert_with(|| Map::new().into());
            if let Some(fields) = section.as_object_mut() {
                fields.insert(name.into(), setting.value(self));
            }
        }
        tree.into()
    }
}

impl Serialize for Config {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            self.tree().serialize(serializer)
        } else {
            Binary::from(self).serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Binary::deserialize(deserializer).map(Config::from);
        }
        let tree = Map::<String, Value>::deserialize(deserializer)?;
        let mut leaves = Vec::new();
        for (section, fields) in &tree {
            let Some(fields) = fields.as_object() else {
                return Err(D::Error::custom(format!("`{section}` must hold settings")));
            };
            leaves.extend(fields.iter().map(|(name, value)| (format!("{section}.{name}"), value.clone())));
        }
        let changes: Vec<(&str, Value)> = leaves.iter().map(|(path, value)| (path.as_str(), value.clone())).collect();
        let mut config = Config::default();
        config.change(&changes).map_err(D::Error::custom)?;
        Ok(config)
    }
}
