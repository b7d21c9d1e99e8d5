//! Decides what `make demo` shows: one store, read by three packages, compared byte for byte.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use memdir_core::rules::project_slug;

use crate::build;
use crate::layout::{self, Layout};
use crate::run::{self, Printed, Result};
use crate::{setup, stamp};

/// 2026-11-02 09:00 UTC. The files of the sample store are a day apart from here, in the order of
/// their names, so that every run shows the same.
const FIRST_CHANGE: u64 = 1_793_610_000;
const DAY: u64 = 86_400;
/// How much of the prompt is shown.
const LINES: usize = 24;

/// Builds, installs, shows, compares.
pub fn demo(layout: &Layout) -> Result<()> {
    setup::everything(layout)?;
    for artefact in build::ALL {
        build::build(layout, artefact)?;
    }
    let ways = [node(layout)?, python(layout)?, wasi(layout)];
    let store = run::step("copy demo/store, with fixed times", || sample(layout))?;

    println!("\nThe sample store demo/store, read by {}:\n", names(&ways));
    let scan = same(&ways, &["scan"], &store)?;
    show("scan", "demo/store", &scan, usize::MAX);
    let prompt = same(&ways, &["prompt"], &store)?;
    show("prompt", "demo/store", &prompt, LINES);
    same(&ways, &["scan", "--json"], &store)?;
    same(&ways, &["prompt", "--json"], &store)?;
    let embedded = embedded(layout, &store)?;
    if let Some(difference) = difference(&scan.stdout, &embedded.stdout) {
        return Err(format!("the embedded memdir-core.wasm differs {difference}").into());
    }
    let mut compared = 4 * ways.len() + 1;

    if let Some(own) = own_store(layout) {
        println!("Claude Code's own store for this folder, only read:\n");
        let scan = same(&ways, &["scan"], &own)?;
        show("scan", &own.to_string_lossy(), &scan, usize::MAX);
        same(&ways, &["scan", "--json"], &own)?;
        compared += 2 * ways.len();
    } else {
        println!("Claude Code has no store for this folder, so only the sample was read.");
    }
    println!(
        "\n{compared} outputs compared, of {} and of the",
        names(&ways)
    );
    println!("component memdir-core.wasm embedded in Python: they are identical, byte for byte.");
    Ok(())
}

/// One package: its name, and its command line on a store.
struct Way {
    name: &'static str,
    program: Box<dyn Fn(&Path) -> Command>,
}

fn names(ways: &[Way]) -> String {
    let names: Vec<&str> = ways.iter().map(|way| way.name).collect();
    names.join(", ")
}

/// The npm package, installed from its tarball.
fn node(layout: &Layout) -> Result<Way> {
    let folder = layout.folder(".cache/demo/node")?;
    let tarball = layout::packed(layout, ".tgz")?;
    let bin = folder.join("node_modules/.bin/memdir");
    let stamp = folder.join("node_modules/.tarball.stamp");
    stamp::unless_done(&stamp, &[&layout::read(&tarball)?], || {
        layout::write(&folder.join("package.json"), "{ \"private\": true }\n")?;
        let mut npm = layout.command("npm", ".cache/demo/node");
        npm.args([
            "install",
            "--silent",
            "--no-save",
            "--no-audit",
            "--no-fund",
        ])
        .arg(&tarball);
        run::run("install the npm package", &mut npm)
    })?;
    Ok(Way {
        name: "the Node package",
        program: Box::new(move |_| Command::new(&bin)),
    })
}

/// The Python package, installed from its wheel.
fn python(layout: &Layout) -> Result<Way> {
    let venv = layout.path(".cache/demo/venv");
    let wheel = layout::packed(layout, ".whl")?;
    let bin = venv.join("bin/memdir");
    stamp::unless_done(&venv.join("wheel.stamp"), &[&layout::read(&wheel)?], || {
        setup::new_venv(layout, &venv)?;
        run::run(
            "install the Python package",
            setup::pip_install(&venv).arg(&wheel),
        )
    })?;
    Ok(Way {
        name: "the Python package",
        program: Box::new(move |_| Command::new(&bin)),
    })
}

/// The WASI command, under the wasmtime wheel.
fn wasi(layout: &Layout) -> Way {
    let python = layout.path(".venv/bin/python");
    let runner = layout.path("demo/run_wasi.py");
    let component = layout.path("dist/memdir.wasm");
    let program = move |store: &Path| {
        let mut command = Command::new(&python);
        // Reading needs no right to write, and one of the stores is the reader's own.
        command.arg(&runner).arg("--read-only").arg(&component);
        command.arg(store);
        command
    };
    Way {
        name: "memdir.wasm under wasmtime",
        program: Box::new(program),
    }
}

/// What a scan prints that a Python program makes with the component that imports nothing.
fn embedded(layout: &Layout, store: &Path) -> Result<Printed> {
    let mut command = layout.venv_tool("python", ".")?;
    command.args(["examples/embed-python/scan.py", "dist/memdir-core.wasm"]);
    run::output(command.arg(store))
}

/// What every package prints; fails where two differ.
fn same(ways: &[Way], words: &[&str], store: &Path) -> Result<Printed> {
    let (first, others) = ways.split_first().ok_or("there is no package to run")?;
    let print = |way: &Way| {
        let mut command = (way.program)(store);
        run::output(command.args(words).arg("--dir").arg(store))
    };
    let expected = print(first)?;
    for way in others {
        let printed = print(way)?;
        let difference = difference(&expected.stdout, &printed.stdout)
            .or_else(|| difference(&expected.stderr, &printed.stderr));
        if let Some(difference) = difference {
            let (line, one, other) = (words.join(" "), first.name, way.name);
            return Err(format!("`memdir {line}`: {one} and {other} differ {difference}").into());
        }
    }
    Ok(expected)
}

/// Where two texts part.
fn difference(one: &str, other: &str) -> Option<String> {
    if one == other {
        return None;
    }
    let shared = one
        .lines()
        .zip(other.lines())
        .take_while(|(a, b)| a == b)
        .count();
    let line = |text: &str| text.lines().nth(shared).unwrap_or("(the end)").to_owned();
    Some(format!(
        "from line {} on:\n  {}\n  {}",
        shared + 1,
        line(one),
        line(other)
    ))
}

/// Shows the first lines of what was printed, set off from ours.
fn show(word: &str, store: &str, printed: &Printed, lines: usize) {
    println!("$ memdir {word} --dir {store}");
    for line in printed.stdout.lines().take(lines) {
        println!("{}", format!("    {line}").trim_end());
    }
    let rest = printed.stdout.lines().count().saturating_sub(lines);
    if rest > 0 {
        println!("    ... and {rest} more lines");
    }
    for line in printed.stderr.lines() {
        println!("  ! {line}");
    }
    println!();
}

/// A fresh copy of the sample store.
fn sample(layout: &Layout) -> Result<PathBuf> {
    let copy = layout.path(".cache/demo/store");
    if copy.exists() {
        std::fs::remove_dir_all(&copy)?;
    }
    let mut files = Vec::new();
    copy_folder(&layout.path("demo/store"), &copy, &mut files)?;
    files.sort();
    let mut change = SystemTime::UNIX_EPOCH + Duration::from_secs(FIRST_CHANGE);
    for file in files {
        std::fs::File::options()
            .append(true)
            .open(file)?
            .set_modified(change)?;
        change += Duration::from_secs(DAY);
    }
    Ok(copy)
}

fn copy_folder(from: &Path, to: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target, files)?;
        } else {
            std::fs::copy(entry.path(), &target)?;
            files.push(target);
        }
    }
    Ok(())
}

/// The folder in which Claude Code keeps the memories of this repository, if there is one.
fn own_store(layout: &Layout) -> Option<PathBuf> {
    let home = match std::env::var_os("CLAUDE_CONFIG_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(&std::env::var_os("HOME")?).join(".claude"),
    };
    let root = layout
        .root
        .ancestors()
        .find(|folder| folder.join(".git").exists());
    let slug = project_slug(root.unwrap_or(&layout.root).to_str()?);
    let store = home.join("projects").join(slug).join("memory");
    store.is_dir().then_some(store)
}
