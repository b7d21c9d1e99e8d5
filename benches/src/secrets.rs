//! Looking for secrets: beside one bare pass of aho-corasick over the same keywords, in a clean text and
//! in one that is full of them.

use std::error::Error;
use std::path::Path;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use memdir_core::secrets::{scan_secrets, searched_keys};

use crate::Row;
use crate::samples::Samples;

/// Bytes of each text.
const BYTES: usize = 30_000_000;
const ROUNDS: usize = 9;

/// A text and its rows.
type Table = (&'static str, Vec<Row>);

/// Rows of the bare pass and of the scan, for each text.
pub fn tables(root: &Path) -> Result<Vec<Table>, Box<dyn Error>> {
    let keys = searched_keys();
    // As the scan has it: the fastest kind, for the same case-sensitive keywords.
    let bare = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .build(&keys)
        .map_err(|error| error.to_string())?;
    let mut tables = Vec::new();
    for (name, text) in [
        ("clean Markdown", clean(root)?),
        ("full of keywords", full(&keys)),
    ] {
        let (mut floor, mut scan) = (Samples::default(), Samples::default());
        for _ in 0..ROUNDS {
            floor.time(|| Ok(bare.find_iter(&text).count()))?;
            scan.time(|| Ok(scan_secrets(&text).len()))?;
        }
        let rows = vec![
            ("bare aho-corasick pass".to_owned(), floor.median_ms()),
            ("scan_secrets in Rust".to_owned(), scan.median_ms()),
        ];
        tables.push((name, rows));
    }
    Ok(tables)
}

/// How much of a text is looked at in a second, in MB.
pub fn rate(ms: f64) -> f64 {
    BYTES as f64 / 1e3 / ms
}

/// The memories of the recall fixture and the README, again and again.
fn clean(root: &Path) -> Result<String, Box<dyn Error>> {
    let mut pieces = vec![std::fs::read_to_string(root.join("README.md"))?];
    for entry in std::fs::read_dir(root.join("tests/recall/memories"))? {
        let path = entry?.path();
        if path.is_file() {
            pieces.push(std::fs::read_to_string(path)?);
        }
    }
    Ok(repeated(&pieces.concat()))
}

fn full(keys: &[Vec<u8>]) -> String {
    let keys = keys.iter().map(|key| String::from_utf8_lossy(key));
    let words: Vec<String> = keys.map(|key| format!("{key} and more. ")).collect();
    repeated(&words.concat())
}

fn repeated(text: &str) -> String {
    let mut long = String::with_capacity(BYTES + text.len());
    while long.len() < BYTES {
        long.push_str(text);
    }
    long.truncate(long.floor_char_boundary(BYTES));
    long
}
