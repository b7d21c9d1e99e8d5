//! How a delta is split into uploads that a gateway lets through (facts 11.3, 11.4).

use std::collections::{BTreeMap, VecDeque};

/// What an upload has beside its entries.
const ENVELOPE: usize = r#"{"entries":{}}"#.len();

/// Splits entries into batches of at most `max_bytes` bytes of compact JSON each, the envelope
/// `{"entries":{}}` counted: keys in byte order, greedily. An entry that alone is larger stands
/// alone. Nothing is lost and nothing is reordered.
#[must_use]
pub fn batch_entries(
    entries: BTreeMap<String, String>,
    max_bytes: usize,
) -> Vec<BTreeMap<String, String>> {
    let mut batches: Vec<BTreeMap<String, String>> = Vec::new();
    let mut size: usize = 0;
    for (key, content) in entries {
        let entry = entry_length(&key, &content);
        // From the second entry on a comma.
        let grown = size.saturating_add(1).saturating_add(entry);
        match batches.last_mut() {
            Some(batch) if grown <= max_bytes => {
                batch.insert(key, content);
                size = grown;
            }
            _ => {
                let mut batch = BTreeMap::new();
                batch.insert(key, content);
                batches.push(batch);
                size = ENVELOPE.saturating_add(entry);
            }
        }
    }
    batches
}

/// Bytes of an upload of these entries.
pub(super) fn upload_length(entries: &BTreeMap<String, String>) -> usize {
    let lengths = entries.iter();
    let lengths = lengths.map(|(key, content)| entry_length(key, content).saturating_add(1));
    // The first has no comma.
    let all: usize = lengths.sum();
    ENVELOPE.saturating_add(all).saturating_sub(1)
}

/// Puts the smallest entry of all batches before them, alone.
pub(super) fn smallest_first(batches: &mut VecDeque<BTreeMap<String, String>>) {
    let entries = batches.iter().enumerate().flat_map(|(at, batch)| {
        let entries = batch.iter();
        entries.map(move |(key, content)| (entry_length(key, content), at, key))
    });
    let Some((_, at, key)) = entries.min() else {
        return;
    };
    let key = key.clone();
    let entry = batches
        .get_mut(at)
        .and_then(|batch| batch.remove_entry(&key));
    batches.retain(|batch| !batch.is_empty());
    batches.push_front(entry.into_iter().collect());
}

/// Bytes of key, colon and content.
fn entry_length(key: &str, content: &str) -> usize {
    json_length(key)
        .saturating_add(1)
        .saturating_add(json_length(content))
}

/// Bytes of a text as a JSON string, quotes included.
fn json_length(text: &str) -> usize {
    let escaped: usize = text
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' | 0x08 | b'\t' | b'\n' | 0x0C | b'\r' => 2,
            0..=0x1F => 6,
            _ => 1,
        })
        .sum();
    escaped.saturating_add(2)
}
