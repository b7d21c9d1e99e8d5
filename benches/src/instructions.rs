//! Loads chains of instructions, beside the raw calls that find and read the same files.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Row;
use crate::samples::{ROUNDS, Samples};
use crate::store::run;
use memdir_core::instructions::InstructionsOptions;
use memdir_core::store::{OpenOptions, Store};

/// Folders from the top of the chain to the working directory.
const DEPTH: usize = 12;
/// Files of the chain.
const FILES: usize = 30;
/// After that a file counts as unchanged.
const SETTLING: Duration = Duration::from_millis(2_100);
/// Rules of the large repository.
pub const RULES: usize = 5_000;

/// Makes a chain of 30 files in a tree of depth 12; gives the working directory.
pub fn create_chain(folder: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let text = "Use the words of the domain, and keep functions short.\n".repeat(40);
    fs::create_dir_all(folder.join(".git"))?;
    let mut at = folder.to_owned();
    for depth in 0..DEPTH {
        at = at.join(format!("part{depth}"));
        fs::create_dir_all(&at)?;
        fs::write(at.join("CLAUDE.md"), &text)?;
        if depth % 2 == 1 {
            fs::write(at.join("CLAUDE.local.md"), &text)?;
        }
    }
    let top = folder.join("part0");
    let rules = top.join(".claude/rules");
    fs::create_dir_all(&rules)?;
    let mut imports = String::new();
    for number in 0..6 {
        fs::write(rules.join(format!("rule{number}.md")), &text)?;
        fs::write(top.join(format!("import{number}.md")), &text)?;
        imports.push_str(&format!("See @import{number}.md\n"));
    }
    fs::write(top.join("CLAUDE.md"), text + &imports)?;
    Ok(at)
}

/// Makes a repository with very many rules, half of them about certain files.
pub fn create_rules(folder: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder.join(".git"))?;
    for number in 0..RULES {
        let rules = folder.join(format!(".claude/rules/area{}", number % 50));
        fs::create_dir_all(&rules)?;
        let about = match number % 2 {
            0 => format!("---\npaths: \"src/area{number}/**/*.{{ts,tsx}}\"\n---\n"),
            _ => String::new(),
        };
        let text = format!(
            "{about}# Rule {number}\n\n{}",
            "Prefer what is there already.\n".repeat(10)
        );
        fs::write(rules.join(format!("rule{number}.md")), text)?;
    }
    Ok(())
}

/// The chain beside a loop that knows where to look.
pub fn chain(cwd: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    let files = files_of(cwd)?;
    if files.len() != FILES {
        return Err(format!("there are {} files", files.len()).into());
    }
    let (mut reads, mut floor, mut first, mut later) = (
        Samples::default(),
        Samples::default(),
        Samples::default(),
        Samples::default(),
    );
    // What has just changed may change again, and is read again.
    std::thread::sleep(SETTLING);
    let warm = store(cwd);
    load(&warm)?;
    for _ in 0..ROUNDS {
        reads.time(|| {
            Ok(files
                .iter()
                .filter_map(|file| fs::read(file).ok())
                .map(|bytes| bytes.len())
                .sum::<usize>())
        })?;
        floor.time(|| files_of(cwd))?;
        // Opened before, so that only the chain counts.
        let cold = store(cwd);
        run(&mut cold.open())?;
        first.time(|| load(&cold))?;
        later.time(|| load(&warm))?;
    }
    Ok(vec![
        (
            "raw Rust loop: read the 30 files".to_owned(),
            reads.median_ms(),
        ),
        (
            "raw Rust loop: look in all places and read".to_owned(),
            floor.median_ms(),
        ),
        ("memdir in Rust, first load".to_owned(), first.median_ms()),
        (
            "memdir in Rust, later load: nothing is read".to_owned(),
            later.median_ms(),
        ),
    ])
}

/// Very many rules.
pub fn rules(folder: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    std::thread::sleep(SETTLING);
    let (mut first, mut later) = (Samples::default(), Samples::default());
    for _ in 0..5 {
        let store = store(folder);
        first.time(|| load(&store))?;
        later.time(|| load(&store))?;
    }
    Ok(vec![
        ("memdir in Rust, first load".to_owned(), first.median_ms()),
        ("memdir in Rust, later load".to_owned(), later.median_ms()),
    ])
}

fn store(cwd: &Path) -> Store {
    Store::new(OpenOptions {
        cwd: Some(cwd.to_string_lossy().into_owned()),
        home: Some("/nonexistent".to_owned()),
        ..OpenOptions::default()
    })
}

fn load(store: &Store) -> Result<usize, Box<dyn Error>> {
    Ok(
        run(&mut store.instructions(InstructionsOptions::default()))?
            .files
            .len(),
    )
}

/// Every file of a chain with its content read, by somebody who knows the places.
fn files_of(cwd: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();
    let mut take = |path: PathBuf| {
        if let Ok(text) = fs::read_to_string(&path) {
            files.push(path);
            return text;
        }
        String::new()
    };
    for folder in cwd.ancestors() {
        let text = take(folder.join("CLAUDE.md"));
        take(folder.join(".claude/CLAUDE.md"));
        take(folder.join("CLAUDE.local.md"));
        for word in text
            .split_whitespace()
            .filter_map(|word| word.strip_prefix('@'))
        {
            take(folder.join(word));
        }
        if let Ok(rules) = fs::read_dir(folder.join(".claude/rules")) {
            for rule in rules {
                take(rule?.path());
            }
        }
    }
    Ok(files)
}
