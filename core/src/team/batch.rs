//! How a delta is split into uploads that a gateway lets through (facts 11.3, 11.4).

use std::collections::BTreeMap;

/// Splits entries into batches of at most `max_bytes` bytes of compact JSON each, the envelope
/// `{"entries":{}}` counted: keys in byte order, greedily. An entry that alone is larger stands
/// alone. Nothing is lost and nothing is reordered.
#[must_use]
pub fn batch_entries(
    entries: BTreeMap<String, String>,
    max_bytes: usize,
) -> Vec<BTreeMap<String, String>> {
    const ENVELOPE: usize = r#"{"entries":{}}"#.len();
    let mut batches: Vec<BTreeMap<String, String>> = Vec::new();
    let mut size: usize = 0;
    for (key, content) in entries {
        // Key, colon, content; from the second entry on a comma.
        let entry = json_length(&key)
            .saturating_add(1)
            .saturating_add(json_length(&content));
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
