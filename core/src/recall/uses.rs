//! How often which memory was recalled, as kept in a store's own folder. Counts are a help, not a
//! memory: what cannot be read or written is done without.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// By path: the uses of every memory that was recalled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Uses {
    uses: BTreeMap<String, Use>,
}

/// The uses of one memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Use {
    pub count: u32,
    /// When it was last recalled, milliseconds since the epoch.
    pub last_ms: i64,
}

impl Uses {
    /// The counts in a file; none when it holds something else.
    pub fn parse(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub fn get(&self, path: &str) -> Use {
        self.uses.get(path).copied().unwrap_or_default()
    }

    pub fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// Counts one use.
    pub fn count(&mut self, path: &str, now_ms: i64) {
        self.add(
            path,
            Use {
                count: 1,
                last_ms: now_ms,
            },
        );
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        for (path, used) in &other.uses {
            self.add(path, *used);
        }
    }

    /// Forgets memories that are gone.
    pub fn retain(&mut self, is_there: impl Fn(&str) -> bool) {
        self.uses.retain(|path, _| is_there(path));
    }

    fn add(&mut self, path: &str, more: Use) {
        let used = self.uses.entry(path.to_owned()).or_default();
        used.count = used.count.saturating_add(more.count);
        used.last_ms = used.last_ms.max(more.last_ms);
    }
}

#[cfg(test)]
mod tests {
    use super::Uses;

    #[test]
    fn counts_add_up_and_survive_a_file() {
        let mut uses = Uses::default();
        uses.count("a.md", 5);
        uses.count("a.md", 3);
        let mut other = Uses::parse(uses.to_json().as_bytes()).unwrap();
        other.merge(&uses);
        assert_eq!((other.get("a.md").count, other.get("a.md").last_ms), (4, 5));
        other.retain(|path| path != "a.md");
        assert!(other.is_empty());
        assert_eq!(Uses::parse(b"{\"uses\": 3}"), None);
    }
}
