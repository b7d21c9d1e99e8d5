//! Looking for secrets in a folder of files, as whole commands: memdir, and the tools that people use.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use memdir_core::secrets::scan_secrets;

use crate::Row;
use crate::samples::Samples;
use crate::secrets;

/// What makes this program look through a folder.
pub const SCANNER: &str = "secrets-in-folder";
/// The tools that may be missing.
pub const INSTALLED: [&str; 2] = ["ripsecrets", "detect-secrets"];
/// Sizes of the files that the 30 MB are cut into.
const FILES: [(&str, usize); 2] = [
    ("3,000 files of 10 kB", 10_000),
    ("100 files of 300 kB", 300_000),
];
/// What takes longer than that is timed once.
const LONG_MS: f64 = 20_000.0;
const ROUNDS: usize = 5;

/// Reads all files of a folder and looks for secrets in each; returns how many there are.
pub fn look_through(folder: &str) -> Result<usize, Box<dyn Error>> {
    let mut found = 0;
    for entry in std::fs::read_dir(folder)? {
        found += scan_secrets(&std::fs::read_to_string(entry?.path())?).len();
    }
    Ok(found)
}

/// Rows of every tool, for each way to cut the same text into files. memdir comes first. A tool that is
/// not installed has no row.
pub fn tables(root: &Path, folder: &Path) -> Result<Vec<secrets::Table>, Box<dyn Error>> {
    let text = secrets::clean(root)?;
    let mut tables = Vec::new();
    for (name, bytes) in FILES {
        let folder = folder.join(bytes.to_string());
        write(&text, bytes, &folder)?;
        tables.push((name.to_owned(), rows(root, &folder)?));
    }
    Ok(tables)
}

fn rows(root: &Path, folder: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut ways = ways(root, folder)?;
    for _ in 0..ROUNDS {
        for way in &mut ways {
            if !way.samples.any_above(LONG_MS) {
                let command = &mut way.command;
                way.samples.time(|| run(command))?;
            }
        }
    }
    let row = |way: Way| (way.name.to_owned(), way.samples.median_ms());
    Ok(ways.into_iter().map(row).collect())
}

/// One tool.
struct Way {
    name: &'static str,
    command: Command,
    samples: Samples,
}

fn ways(root: &Path, folder: &Path) -> Result<Vec<Way>, Box<dyn Error>> {
    let benches = root.join("benches");
    let mut ways = Vec::new();
    let mut add = |name, program: PathBuf, words: &[&str]| {
        let mut command = Command::new(program);
        command.args(words).current_dir(folder);
        ways.push(Way {
            name,
            command,
            samples: Samples::default(),
        });
    };
    let script = crate::text(&benches.join("secrets.mjs"))?;
    let settings = crate::text(&benches.join("secretlint.json"))?;
    add("memdir in Rust", std::env::current_exe()?, &[SCANNER, "."]);
    add("memdir in Node", PathBuf::from("node"), &[&script, "."]);
    let ripsecrets = root.join(".cache/ripsecrets/bin/ripsecrets");
    if ripsecrets.exists() {
        add("ripsecrets", ripsecrets, &["."]);
    }
    add(
        "secretlint",
        benches.join("node_modules/.bin/secretlint"),
        &["--secretlintrc", &settings, "**/*.md"],
    );
    let detect = root.join(".venv/bin/detect-secrets");
    if detect.exists() {
        add("detect-secrets", detect, &["scan", "--all-files", "."]);
    }
    Ok(ways)
}

/// The text is clean, so every tool has to end with 0.
fn run(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let status = command.stdout(Stdio::null()).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{command:?} ended with {status}").into())
    }
}

/// Cuts a text into files at the first line end after so many bytes.
fn write(text: &str, bytes: usize, folder: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let mut file = String::new();
    let mut number = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        file.push_str(line);
        if file.len() >= bytes || lines.peek().is_none() {
            std::fs::write(folder.join(format!("{number:05}.md")), &file)?;
            file.clear();
            number += 1;
        }
    }
    Ok(())
}
