//! Looking for secrets: beside one bare pass of aho-corasick over the same keywords, in a clean text and
//! in one that is full of them. The benches compiled for wasm do the same inside wasm.

use std::error::Error;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use memdir_core::secrets::{scan_secrets, searched_keys};

use crate::Row;
use crate::samples::Samples;

/// Bytes of each text.
const BYTES: usize = 30_000_000;
const ROUNDS: usize = 9;
/// What asks this program, compiled for wasm, for its rows.
pub const INSIDE: &str = "rows-of-secrets";
/// This program, compiled for wasm with the profile of the npm package.
const WASM: &str = ".cache/benches/memdir-benches.wasm";

/// A text and its rows.
pub type Table = (String, Vec<Row>);

/// What the wasm ran in, and its tables.
pub type Place = (&'static str, Vec<Table>);

/// Rows of the bare pass and of the scan, for each text.
pub fn tables(root: &Path) -> Result<Vec<Table>, Box<dyn Error>> {
    rows(&pieces(root)?)
}

/// The same inside wasm: what makes the clean text comes from standard input, the rows go to standard
/// output.
pub fn inside(mut output: impl Write) -> Result<(), Box<dyn Error>> {
    let mut pieces = String::new();
    std::io::stdin().read_to_string(&mut pieces)?;
    serde_json::to_writer(&mut output, &rows(&pieces)?)?;
    Ok(())
}

/// The same rows, from the program compiled for wasm, under wasmtime and in Node; none when it was not
/// compiled.
pub fn tables_in_wasm(root: &Path) -> Result<Vec<Place>, Box<dyn Error>> {
    let program = root.join(WASM);
    if !program.exists() {
        return Ok(Vec::new());
    }
    let pieces = pieces(root)?;
    let mut wasmtime = Command::new(root.join(".venv/bin/python"));
    wasmtime
        .arg(root.join("benches/wasm.py"))
        .env("PYTHONPATH", root.join("tests/wasi"))
        .arg(&program)
        .arg(INSIDE);
    let mut node = Command::new(root.join("bindings-js/node_modules/.bin/jco"));
    node.arg("run").arg(&program).arg(INSIDE);
    Ok(vec![
        ("wasm under wasmtime", ask(&mut wasmtime, &pieces)?),
        ("wasm in Node", ask(&mut node, &pieces)?),
    ])
}

/// Gives a program its input, reads its rows.
fn ask(command: &mut Command, input: &str) -> Result<Vec<Table>, Box<dyn Error>> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    // Dropped, and so closed, before the end is waited for.
    let mut stdin = child.stdin.take().ok_or("there is a pipe")?;
    stdin.write_all(input.as_bytes())?;
    drop(stdin);
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("{command:?} ended with {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn rows(pieces: &str) -> Result<Vec<Table>, Box<dyn Error>> {
    let keys = searched_keys();
    // As the scan has it: the fastest kind, for the same case-sensitive keywords.
    let bare = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .build(&keys)
        .map_err(|error| error.to_string())?;
    let mut tables = Vec::new();
    for (name, text) in [
        ("clean Markdown", repeated(pieces)),
        ("full of keywords", full(&keys)),
    ] {
        let (mut floor, mut scan) = (Samples::default(), Samples::default());
        for _ in 0..ROUNDS {
            floor.time(|| Ok(bare.find_iter(&text).count()))?;
            scan.time(|| Ok(scan_secrets(&text).len()))?;
        }
        let rows = vec![
            ("bare aho-corasick pass".to_owned(), floor.median_ms()),
            ("scan_secrets".to_owned(), scan.median_ms()),
        ];
        tables.push((name.to_owned(), rows));
    }
    Ok(tables)
}

/// How much of a text is looked at in a second, in MB.
pub fn rate(ms: f64) -> f64 {
    BYTES as f64 / 1e3 / ms
}

/// The memories of the recall fixture and the README, again and again.
pub fn clean(root: &Path) -> Result<String, Box<dyn Error>> {
    Ok(repeated(&pieces(root)?))
}

fn pieces(root: &Path) -> Result<String, Box<dyn Error>> {
    let mut pieces = vec![std::fs::read_to_string(root.join("README.md"))?];
    for entry in std::fs::read_dir(root.join("tests/recall/memories"))? {
        let path = entry?.path();
        if path.is_file() {
            pieces.push(std::fs::read_to_string(path)?);
        }
    }
    Ok(pieces.concat())
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
