//! Times a scan of one generated store in every face, beside the raw floor and beside peers, and
//! prints the ratios. All figures of a table come from one run; nothing here is asserted.
#![expect(clippy::print_stdout, reason = "the tables are the result")]

mod raw;
mod samples;
mod store;

use std::error::Error;
use std::path::Path;
use std::process::Command;

use samples::{Samples, median_ms};

/// Name of one measured way and its median in milliseconds.
type Row = (String, f64);

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .ok_or("the benches have no parent folder")?;
    let folder = std::env::temp_dir().join(format!("memdir-bench-{}", std::process::id()));
    store::create(&folder)?;
    let measured = measure(root, &folder);
    std::fs::remove_dir_all(&folder)?;
    measured
}

fn measure(root: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    println!(
        "{} files of {} bytes, medians of one run\n",
        store::FILES,
        store::FILE_BYTES
    );
    // The floor and our own code alternate, so that a drifting machine moves both alike.
    let (mut floor, mut native) = (Samples::default(), Samples::default());
    for _ in 0..samples::ROUNDS {
        floor.time(|| raw::list_and_read_heads(folder))?;
        native.time(|| store::scan(folder))?;
    }
    let floor = floor.median_ms();
    let rust = vec![
        (
            "raw Rust loop: list, open, read 4 KB, fstat, close".to_owned(),
            floor,
        ),
        ("memdir in Rust".to_owned(), native.median_ms()),
    ];
    let python = face(
        Command::new(root.join(".venv/bin/python"))
            .arg(root.join("benches/scan.py"))
            .arg(folder),
    )?;
    let node = face(
        Command::new("node")
            .arg(root.join("benches/scan.mjs"))
            .arg(folder),
    )?;

    table(
        "Native and Python, against the raw Rust loop",
        floor,
        rust.into_iter().chain(python),
    );
    let node_floor = median_ms(&node, "raw Node loop, synchronous")?;
    table(
        "Node, against its own raw synchronous loop",
        node_floor,
        node.into_iter(),
    );

    let start = face(
        Command::new("node")
            .arg(root.join("benches/open.mjs"))
            .arg(folder),
    )?;
    let start_floor = median_ms(&start, "node, an empty program")?;
    table(
        "Opening a store in a new Node process",
        start_floor,
        start.into_iter(),
    );
    let wasm = std::fs::metadata(root.join("bindings-js/wasm/memdir_bg.wasm"))?.len();
    println!("The npm package's wasm file has {wasm} bytes.");
    Ok(())
}

/// Runs a script that prints `{"name": milliseconds, ...}`, in its order.
fn face(command: &mut Command) -> Result<Vec<Row>, Box<dyn Error>> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!(
            "{command:?} failed:\n{}",
            String::from_utf8_lossy(&output.stderr)
        )
        .into());
    }
    let rows: Vec<Row> = serde_json::from_slice(&output.stdout)?;
    Ok(rows)
}

fn table(title: &str, floor: f64, rows: impl Iterator<Item = Row>) {
    println!("### {title}\n\n| | median | ratio |\n| --- | ---: | ---: |");
    for (name, ms) in rows {
        println!("| {name} | {ms:.2} ms | {:.2} |", ms / floor);
    }
    println!();
}
