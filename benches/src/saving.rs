//! Saving memories: by one writer beside the bare calls that put the same two files on disk, and by
//! four processes at once.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use memdir_core::memory::MemoryType;
use memdir_core::store::Store;
use memdir_core::write::{SaveOptions, WriteOutcome};

use crate::samples::Samples;
use crate::{Row, store, text};

/// The word that makes this program one of the four.
pub const WRITER: &str = "writer";
const ROUNDS: usize = 200;
const WRITERS: usize = 4;
const SAVES: usize = 250;

/// Medians of the floor and of a save, in one process.
pub fn alone(folder: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    let (bare, ours) = (folder.join("bare"), folder.join("ours"));
    std::fs::create_dir_all(&bare)?;
    let store = store::at(&ours)?;
    let (mut floor, mut saved) = (Samples::default(), Samples::default());
    let mut index = String::new();
    for number in 0..ROUNDS {
        let name = format!("alone {number}");
        saved.time(|| save(&store, &name))?;
        let file = format!("project_alone_{number}.md");
        let memory = std::fs::read_to_string(ours.join(&file))?;
        index.push_str(&format!("- [{name}]({file}) — What to know about {name}\n"));
        floor.time(|| {
            replace(&bare.join(&file), &memory)?;
            replace(&bare.join("MEMORY.md"), &index)
        })?;
    }
    Ok(vec![
        (
            "raw Rust calls: write, fsync, rename of the memory and the index".to_owned(),
            floor.median_ms(),
        ),
        ("memdir in Rust".to_owned(), saved.median_ms()),
    ])
}

/// How long a save takes on average while four processes make 250 each, in milliseconds.
pub fn at_once(folder: &Path) -> Result<f64, Box<dyn Error>> {
    let folder = folder.join("at-once");
    // The store is there when they begin.
    save(&store::at(&folder)?, "first")?;
    let program = std::env::current_exe()?;
    let start = Instant::now();
    let mut running = Vec::new();
    for number in 0..WRITERS {
        let child = Command::new(&program)
            .args([WRITER, &text(&folder)?, &number.to_string()])
            .stdout(Stdio::null())
            .spawn()?;
        running.push(child);
    }
    for child in &mut running {
        if !child.wait()?.success() {
            return Err("a writer failed".into());
        }
    }
    let took = start.elapsed().as_secs_f64() * 1000.0;
    let index = std::fs::read_to_string(folder.join("MEMORY.md"))?;
    if index.lines().count() != WRITERS * SAVES + 1 {
        return Err("saves were lost".into());
    }
    Ok(took / (WRITERS * SAVES) as f64)
}

/// One of the four.
pub fn write(folder: &str, writer: &str) -> Result<(), Box<dyn Error>> {
    let store = store::at(Path::new(folder))?;
    for number in 0..SAVES {
        save(&store, &format!("writer {writer} {number}"))?;
    }
    Ok(())
}

fn save(store: &Store, name: &str) -> Result<(), Box<dyn Error>> {
    let options = SaveOptions {
        kind: Some(MemoryType::Project),
        name: Some(name.to_owned()),
        description: Some(format!("What to know about {name}")),
        body: Some("The rule is to run the whole suite first.\n".repeat(60)),
        ..SaveOptions::default()
    };
    let result = store::run(&mut store.save(options))?;
    if result.outcome == WriteOutcome::Written {
        Ok(())
    } else {
        Err(format!("{name} was not written: {result:?}").into())
    }
}

/// What any program does that replaces a file safely.
fn replace(path: &Path, content: &str) -> Result<(), Box<dyn Error>> {
    let temporary = path.with_extension("tmp");
    let mut file = std::fs::File::create_new(&temporary)?;
    file.write_all(content.as_bytes())?;
    file.sync_all()?;
    drop(file);
    Ok(std::fs::rename(&temporary, path)?)
}
