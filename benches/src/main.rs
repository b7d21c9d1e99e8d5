//! Times scans of generated stores in every face, beside the raw floor and beside peers, and
//! prints the ratios. All figures of a table come from one run; nothing here is asserted.
#![expect(clippy::print_stdout, reason = "the tables are the result")]

mod dreaming;
mod filler;
mod instructions;
mod memory;
mod peers;
mod quality;
mod raw;
mod samples;
mod saving;
mod secrets;
#[cfg(unix)]
mod serving;
mod store;
mod team;
mod tokens;
mod transcript;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use samples::{Samples, median_ms};
use store::Scripts;

/// What the recalls ask: words that stand in many memories.
const QUESTION: &str = "how long are failed webhooks retried before somebody is called";

/// Name of one measured way and its median in milliseconds.
type Row = (String, f64);

/// Small enough for a project, and large enough that listing is what counts.
const SIZES: [usize; 2] = [200, 10_000];

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .ok_or("the benches have no parent folder")?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        [] => {}
        [saving::WRITER, folder, name] => return saving::write(folder, name),
        [secrets::INSIDE] => return secrets::inside(std::io::stdout()),
        [peers::SCANNER, folder] => {
            println!("{}", peers::look_through(folder)?);
            return Ok(());
        }
        [transcript::READER, path] => {
            println!("{}", transcript::read(path)?);
            return Ok(());
        }
        [dreaming::DREAMER, folder] => {
            println!("{}", dreaming::once(folder)?);
            return Ok(());
        }
        // One part by itself is what is looked at while it is changed.
        ["recall"] => return in_folder(|folder| recalls(root, folder)),
        ["secrets"] => return in_folder(|folder| secrets(root, folder)),
        ["team"] => return in_folder(team),
        #[cfg(unix)]
        ["server"] => return in_folder(|folder| serving::measure(root, folder)),
        ["dream"] => return in_folder(|folder| dream(root, folder)),
        ["extract"] => return in_folder(|folder| extract(root, folder)),
        ["transcript"] => return in_folder(transcript),
        ["instructions"] => return in_folder(|folder| instructions(root, folder)),
        ["tokens", paths @ ..] => return tokens::pieces(paths),
        ["saving"] => return in_folder(|folder| saving(root, folder)),
        [split] => return quality::compare(root, split, 0),
        [split, filler, ..] => return quality::compare(root, split, filler.parse()?),
    }
    in_folder(|folder| measure(root, folder))
}

fn in_folder(
    measure: impl FnOnce(&Path) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("memdir-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured = measure(&folder);
    std::fs::remove_dir_all(&folder)?;
    measured
}

fn measure(root: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    println!(
        "Medians of one run; memories of {} bytes.\n",
        store::FILE_BYTES
    );
    let mut folders = Vec::new();
    for size in SIZES {
        let folder = folder.join(size.to_string());
        store::create(&folder, size)?;
        folders.push((size, folder));
    }
    let [(_, small), _] = folders.as_slice() else {
        return Err("there are two stores".into());
    };
    cold(root, small)?;
    for (size, folder) in &folders {
        warm(root, *size, folder)?;
    }
    recalls(root, folder)?;
    open(root, &folder.join("project"), small)?;
    saving(root, &folder.join("saving"))?;
    instructions(root, &folder.join("instructions"))?;
    extract(root, &folder.join("extract"))?;
    dream(root, &folder.join("dream"))?;
    secrets(root, &folder.join("secrets"))?;
    team(&folder.join("team"))?;
    transcript(&folder.join("transcript"))?;
    #[cfg(unix)]
    serving::measure(root, &folder.join("server"))?;
    for (split, filler) in [("tune", 0), ("test", 0), ("test", 2_000)] {
        quality::compare(root, split, filler)?;
    }
    let bytes = memory::of_headers(10_000);
    println!(
        "10,000 headers take {:.1} MB in the core.",
        bytes as f64 / 1e6
    );
    let wasm = std::fs::metadata(root.join("bindings-js/wasm/memdir_bg.wasm"))?.len();
    println!("The npm package's wasm file has {wasm} bytes.");
    Ok(())
}

/// A first scan: every head is read.
fn cold(root: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    // The floor and our own code alternate, so that a drifting machine moves both alike.
    let (mut floor, mut native) = (Samples::default(), Samples::default());
    for _ in 0..samples::ROUNDS {
        floor.time(|| raw::list_and_read_heads(folder))?;
        native.time(|| store::scan(&store::at(folder)?))?;
    }
    let floor = floor.median_ms();
    let mut rows = vec![
        (
            "raw Rust loop: list, open, read 4 KB, fstat, close".to_owned(),
            floor,
        ),
        ("memdir in Rust".to_owned(), native.median_ms()),
    ];
    rows.extend(python(root, "scan.py", folder)?);
    table(
        "First scan of 200 memories, native and Python",
        floor,
        &rows,
    );
    node_table(
        root,
        "scan.mjs",
        folder,
        "First scan of 200 memories in Node",
    )
}

/// A second scan: nothing has changed, so nothing is read.
fn warm(root: &Path, size: usize, folder: &Path) -> Result<(), Box<dyn Error>> {
    let (mut floor, mut native) = (Samples::default(), Samples::default());
    let store = store::at(folder)?;
    store::scan(&store)?;
    for _ in 0..samples::ROUNDS / 3 {
        floor.time(|| raw::list_and_stat(folder))?;
        native.time(|| store::scan(&store))?;
    }
    let floor = floor.median_ms();
    let rows = [
        ("raw Rust loop: list, lstat".to_owned(), floor),
        ("memdir in Rust".to_owned(), native.median_ms()),
    ];
    table(
        &format!("Second scan of {size} unchanged memories, native"),
        floor,
        &rows,
    );
    node_table(
        root,
        "warm.mjs",
        folder,
        &format!("Second scan of {size} unchanged memories in Node"),
    )
}

/// Recalls among memories in English, and in many scripts.
fn recalls(root: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    [Scripts::Latin, Scripts::All]
        .into_iter()
        .try_for_each(|scripts| recall(root, &folder.join(scripts.name()), scripts))
}

/// A recall by words among many memories: the first one reads all of them, a later one none.
fn recall(root: &Path, folder: &Path, scripts: Scripts) -> Result<(), Box<dyn Error>> {
    store::create_varied(&root.join("tests/recall/memories"), folder, 10_000, scripts)?;
    let (mut floor, mut first) = (Samples::default(), Samples::default());
    let mut grown = 0;
    for _ in 0..9 {
        floor.time(|| raw::list_and_read(folder))?;
        let store = store::at(folder)?;
        let before = memory::resident();
        first.time(|| store::recall(&store, QUESTION))?;
        grown = grown.max(memory::resident().saturating_sub(before));
    }
    let floor = floor.median_ms();
    let rows = [
        (
            "raw Rust loop: list, open, read all, close".to_owned(),
            floor,
        ),
        ("memdir in Rust".to_owned(), first.median_ms()),
    ];
    let of = scripts.name();
    table(
        &format!("First recall among 10000 memories {of}, native"),
        floor,
        &rows,
    );
    println!("What is kept of them takes {:.0} MB.\n", grown as f64 / 1e6);
    let title = format!("First recall among 10000 memories {of} in Node");
    recall_in_node(root, folder, "first", &title)?;

    let (mut floor, mut later) = (Samples::default(), Samples::default());
    let store = store::at(folder)?;
    store::recall(&store, QUESTION)?;
    for _ in 0..samples::ROUNDS / 3 {
        floor.time(|| raw::list_and_stat(folder))?;
        later.time(|| store::recall(&store, QUESTION))?;
    }
    let floor = floor.median_ms();
    let rows = [
        ("raw Rust loop: list, lstat".to_owned(), floor),
        ("memdir in Rust".to_owned(), later.median_ms()),
    ];
    table(
        &format!("Later recall among 10000 memories {of}, native"),
        floor,
        &rows,
    );
    let title = format!("Later recall among 10000 memories {of} in Node");
    recall_in_node(root, folder, "later", &title)
}

fn recall_in_node(
    root: &Path,
    folder: &Path,
    which: &str,
    title: &str,
) -> Result<(), Box<dyn Error>> {
    let script = root.join("benches/recall.mjs");
    let rows = face(
        Command::new("node")
            .arg(script)
            .arg(folder)
            .args([QUESTION, which]),
    )?;
    let (first, _) = rows.first().ok_or("the script measured nothing")?;
    table(title, median_ms(&rows, first)?, &rows);
    Ok(())
}

/// Saving new memories, alone and four processes at once.
fn saving(root: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let rows = saving::alone(folder)?;
    let [(_, floor), (_, alone)] = rows.as_slice() else {
        return Err("there are two ways".into());
    };
    table("Saving a new memory, native", *floor, &rows);
    let at_once = saving::at_once(folder)?;
    let rows = [
        ("one process".to_owned(), *alone),
        ("four processes, 1,000 saves".to_owned(), at_once),
    ];
    table("A save into one store, native", *alone, &rows);
    node_table(
        root,
        "save.mjs",
        &folder.join("node"),
        "Saving a new memory in Node",
    )
}

/// The time of the loop that looks in the same places, where it is among the rows.
fn looking(rows: &[Row]) -> f64 {
    let mut raw = rows
        .iter()
        .filter(|(name, _)| name.contains("look in all places"));
    raw.next().or(rows.first()).map_or(f64::NAN, |(_, ms)| *ms)
}

/// Loading what people have written for an agent.
fn instructions(root: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let cwd = instructions::create_chain(&folder.join("chain"))?;
    let repository = folder.join("rules");
    instructions::create_rules(&repository)?;
    for (title, folder, which, rows) in [
        (
            "A chain of 30 files in a tree of depth 12",
            &cwd,
            "chain",
            instructions::chain(&cwd)?,
        ),
        (
            "A repository with 5,000 rules",
            &repository,
            "rules",
            instructions::rules(&repository)?,
        ),
    ] {
        let floor = looking(&rows);
        table(&format!("{title}, native"), floor, &rows);
        let script = root.join("benches/instructions.mjs");
        let rows = face(Command::new("node").arg(script).arg(folder).arg(which))?;
        let floor = looking(&rows);
        table(&format!("{title}, in Node"), floor, &rows);
    }
    Ok(())
}

/// What a turn of an agent pays for extraction when nothing is to be extracted.
fn extract(root: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    node_table(
        root,
        "extract.mjs",
        folder,
        "1,000 calls of extract in Node, throttled, 4 of 1,000 messages new",
    )
}

/// What dreaming over much holds in memory, and what a turn pays for it when it is not time.
fn dream(root: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    for (face, ms) in dreaming::closed(root, &folder.join("closed"))? {
        println!("A turn on which it is too soon to dream, {face}: {ms:.3} ms.\n");
    }
    for (face, dreamt) in dreaming::measure(root, &folder.join("open"))? {
        let dreaming::Dreamt { ms, peak, improved } = dreamt;
        println!(
            "A dream {face} that looks for four words in {} memories and {:.0} MB of transcripts and improves {improved} \
             takes {ms:.0} ms without its model, in a process of at most {:.1} MB.\n",
            dreaming::MEMORIES,
            dreaming::BYTES as f64 / 1e6,
            peak as f64 / 1e6,
        );
    }
    Ok(())
}

/// Sharing 1,000 memories with a server in this process, and hashing.
fn team(folder: &Path) -> Result<(), Box<dyn Error>> {
    let team::Syncs {
        quiet,
        busy,
        edited,
        rows,
    } = team::sync(&folder.join("sync"))?;
    println!(
        "A sync of 1,000 unchanged team memories: {}; {} bytes uploaded.",
        quiet.requests.join(", "),
        quiet.uploaded
    );
    println!(
        "With 3 of them edited, {edited} bytes: {}; {} bytes uploaded, {:.2} times.\n",
        busy.requests.join(", "),
        busy.uploaded,
        busy.uploaded as f64 / edited as f64
    );
    for (title, rows) in [
        ("Sync of 1,000 unchanged team memories, native", rows),
        (
            "Hashing 256 MB, native",
            team::hashing(&folder.join("hash"))?,
        ),
    ] {
        let floor = rows.first().map_or(f64::NAN, |(_, ms)| *ms);
        table(title, floor, &rows);
    }
    Ok(())
}

/// Reading a session of 500 MB.
fn transcript(folder: &Path) -> Result<(), Box<dyn Error>> {
    let transcript::Reading {
        ms,
        peak,
        messages,
        left_out,
    } = transcript::measure(folder)?;
    println!(
        "A transcript of {:.0} MB is read in {ms:.0} ms, {:.0} MB a second, in a process of at most {:.1} MB; \
         {messages} messages are kept, {left_out} left out.\n",
        transcript::BYTES as f64 / 1e6,
        transcript::BYTES as f64 / 1e3 / ms,
        peak as f64 / 1e6,
    );
    Ok(())
}

/// Looking for secrets in 30 MB: in one text, native and in wasm, and in files beside other tools.
fn secrets(root: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut places = vec![("native", secrets::tables(root)?)];
    let in_wasm = secrets::tables_in_wasm(root)?;
    if in_wasm.is_empty() {
        println!("Left out: secrets in wasm, which `make bench` compiles.\n");
    }
    places.extend(in_wasm);
    for (place, tables) in places {
        for (name, rows) in tables {
            let [(_, floor), (_, scan)] = rows.as_slice() else {
                return Err("there are two ways".into());
            };
            table(&format!("Secrets in 30 MB, {name}, {place}"), *floor, &rows);
            println!(
                "The scan goes through {:.0} MB a second.\n",
                secrets::rate(*scan)
            );
        }
    }
    for (name, rows) in peers::tables(root, folder)? {
        let (_, memdir) = rows.first().ok_or("memdir itself is there")?;
        table(
            &format!("Secrets in 30 MB of clean Markdown, {name}, whole commands"),
            *memdir,
            &rows,
        );
        for tool in peers::INSTALLED {
            if !rows.iter().any(|(name, _)| name == tool) {
                println!("Left out: {tool}, which is not installed.\n");
            }
        }
    }
    Ok(())
}

/// Finding the store of a project, with settings files and a git root; and in a new process.
fn open(root: &Path, project: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let config = store::create_project(project)?;
    let (mut floor, mut native) = (Samples::default(), Samples::default());
    for _ in 0..samples::ROUNDS {
        floor.time(|| raw::look_for_settings(project, &config))?;
        native.time(|| store::open(project, &config))?;
    }
    let floor = floor.median_ms();
    let rows = [
        (
            "raw Rust calls: .git, five settings files".to_owned(),
            floor,
        ),
        ("memdir in Rust".to_owned(), native.median_ms()),
    ];
    table("Finding the store of a project, native", floor, &rows);
    node_table(
        root,
        "find.mjs",
        project,
        "Finding the store of a project in Node",
    )?;
    node_table(
        root,
        "open.mjs",
        folder,
        "Opening a store in a new Node process",
    )
}

fn python(root: &Path, script: &str, folder: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    face(
        Command::new(root.join(".venv/bin/python"))
            .arg(root.join("benches").join(script))
            .arg(folder),
    )
}

/// Prints the rows of a Node script; its first is the floor.
fn node_table(root: &Path, script: &str, folder: &Path, title: &str) -> Result<(), Box<dyn Error>> {
    let rows = face(
        Command::new("node")
            .arg(root.join("benches").join(script))
            .arg(folder),
    )?;
    let (first, _) = rows.first().ok_or("the script measured nothing")?;
    table(title, median_ms(&rows, first)?, &rows);
    Ok(())
}

/// Runs a script that prints `[[name, milliseconds], …]`.
fn face(command: &mut Command) -> Result<Vec<Row>, Box<dyn Error>> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!(
            "{command:?} failed:\n{}",
            String::from_utf8_lossy(&output.stderr)
        )
        .into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn table(title: &str, floor: f64, rows: &[Row]) {
    println!("### {title}\n\n| | median | ratio |\n| --- | ---: | ---: |");
    for (name, ms) in rows {
        println!("| {name} | {ms:.2} ms | {:.2} |", ms / floor);
    }
    println!();
}

/// A path as text, which is how the core takes it.
fn text(path: &Path) -> Result<String, Box<dyn Error>> {
    let path: PathBuf = path.to_owned();
    path.into_os_string()
        .into_string()
        .map_err(|_| "the temporary folder is not UTF-8".into())
}
