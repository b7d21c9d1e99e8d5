//! Decides what `make demo` shows: one store, and the reader's own, read and asked by three packages
//! and compared byte for byte; what one package writes, the next one reads; and two folders share
//! memory through a team server. Nothing but copies of the sample is written.

mod team;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::build;
use crate::layout::{self, Layout};
use crate::run::{self, Printed, Result};
use crate::{setup, stamp};

/// 2026-11-02 09:00 UTC. The files of the sample store are a day apart from here, in the order of
/// their names, so that every run shows the same.
const FIRST_CHANGE: u64 = 1_793_610_000;
const DAY: u64 = 86_400;
/// What the sample store is asked; words decide, no model is asked.
const QUESTION: &str = "may I mock the database in this test?";
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
    let mut compared = 0;
    let mut look = |from: &Place, words: &[&str], lines: usize| -> Result<Printed> {
        let printed = same(&ways, from, words)?;
        same(&ways, from, &[words, &["--json"]].concat())?;
        compared += 2 * ways.len();
        show(words, from, &printed, lines);
        Ok(printed)
    };
    let sample = Place::store(&store)?;
    look(&sample, &["path"], usize::MAX)?;
    let scan = look(&sample, &["scan"], usize::MAX)?;
    look(&sample, &["prompt"], LINES)?;
    look(&sample, &["lint"], usize::MAX)?;
    look(&sample, &["recall", QUESTION], usize::MAX)?;
    let embedded = embedded(layout, &store)?;
    if let Some(difference) = difference(&scan.stdout, &embedded.stdout) {
        return Err(format!("the embedded memdir-core.wasm differs {difference}").into());
    }

    println!("What one package writes, the next one reads:\n");
    let relayed = relay(layout, &ways, &sample)?;

    println!("Two folders share memory through a team server of their own:\n");
    let shared = team::share(layout, &ways)?;

    println!("Claude Code's own store for this folder, only read:\n");
    let own = Place::project(&layout.root)?;
    let path = look(&own, &["path"], usize::MAX)?;
    // The first line is the folder.
    if path
        .stdout
        .lines()
        .next()
        .is_some_and(|folder| Path::new(folder).is_dir())
    {
        look(&own, &["scan"], usize::MAX)?;
    } else {
        println!("Claude Code has no store there yet, so only the sample was read.");
    }
    let compared = compared + relayed + shared;
    println!(
        "\n{compared} outputs compared, of {} and of the",
        names(&ways)
    );
    println!("component memdir-core.wasm embedded in Python: they are identical, byte for byte.");
    Ok(())
}

/// Every package saves a memory that the next one shows; the last one forgets the first memory. In the
/// end all see the same. Gives how many outputs were compared.
fn relay(layout: &Layout, ways: &[Way], place: &Place<'_>) -> Result<usize> {
    let body = layout.path(".cache/demo/body.md");
    let mut compared = 0;
    let mut first = None;
    for (way, reader) in ways.iter().zip(ways.iter().cycle().skip(1)) {
        let name = format!("Saved by {}", way.name);
        layout::write(&body, format!("A note that {} has written.\n", way.name))?;
        let words = ["save", "--type", "project", "--name", &name];
        let mut command = (way.program)(place);
        command
            .args(words)
            .args(place.option)
            .stdin(std::fs::File::open(&body)?);
        let saved = run::output(&mut command)?;
        show(&words, place, &saved, usize::MAX);
        let path = saved
            .stdout
            .trim_end()
            .rsplit(": ")
            .next()
            .unwrap_or_default()
            .to_owned();
        let words = ["show", path.as_str()];
        let ours = std::slice::from_ref(reader);
        let shown = same(ours, place, &words)?;
        println!("  and {} reads:\n", reader.name);
        show(&words, place, &shown, usize::MAX);
        if !shown
            .stdout
            .contains(&format!("that {} has written", way.name))
        {
            return Err(format!("{} does not read what {} wrote", reader.name, way.name).into());
        }
        first.get_or_insert(path);
        compared += 1;
    }
    if let (Some(path), Some(way)) = (first, ways.last()) {
        let words = ["forget", path.as_str()];
        let mut command = (way.program)(place);
        command.args(words).args(place.option);
        show(&words, place, &run::output(&mut command)?, usize::MAX);
    }
    for words in [
        ["scan"].as_slice(),
        &["scan", "--json"],
        &["show", "MEMORY.md"],
    ] {
        same(ways, place, words)?;
        compared += ways.len();
    }
    Ok(compared)
}

/// What a command line is about.
struct Place<'a> {
    /// The option that names it.
    option: [&'a str; 2],
    /// What it is called in what is shown.
    shown: &'static str,
    /// What a sandbox must let the command see.
    folder: &'a Path,
    /// Whether it is the reader's own: their variables count, and it is only read.
    own: bool,
}

impl<'a> Place<'a> {
    /// The copy of the sample, and nothing of the reader's.
    fn store(folder: &'a Path) -> Result<Self> {
        Ok(Self {
            option: ["--dir", text(folder)?],
            shown: "demo/store",
            folder,
            own: false,
        })
    }

    /// The project in `folder`. Its store may be anywhere.
    fn project(folder: &'a Path) -> Result<Self> {
        Ok(Self {
            option: ["--cwd", text(folder)?],
            shown: ".",
            folder: Path::new("/"),
            own: true,
        })
    }

    /// The variables that decide which store it is.
    fn variables(&self) -> Vec<(String, String)> {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| self.own && (name == "HOME" || name.starts_with("CLAUDE_")))
            .collect()
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str()
        .ok_or_else(|| format!("{} is not UTF-8: move the repository", path.display()).into())
}

/// One package: its name, and its command line on a place.
struct Way {
    name: &'static str,
    program: Box<dyn Fn(&Place<'_>) -> Command>,
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
        program: Box::new(move |place| native(&bin, place)),
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
        program: Box::new(move |place| native(&bin, place)),
    })
}

/// A program that sees the whole machine, with the variables that a sandbox would be given.
fn native(program: &Path, place: &Place<'_>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CLAUDE_") {
            command.env_remove(name);
        }
    }
    command.envs(place.variables());
    command
}

/// The WASI command, under the wasmtime wheel.
fn wasi(layout: &Layout) -> Way {
    let python = layout.path(".venv/bin/python");
    let runner = layout.path("demo/run_wasi.py");
    let component = layout.path("dist/memdir.wasm");
    let program = move |place: &Place<'_>| {
        let mut command = Command::new(&python);
        command.arg(&runner);
        if place.own {
            command.arg("--read-only");
        }
        command.arg("--dir").arg(place.folder);
        for (name, value) in place.variables() {
            command.arg("--env").arg(format!("{name}={value}"));
        }
        command.arg(&component);
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
fn same(ways: &[Way], place: &Place<'_>, words: &[&str]) -> Result<Printed> {
    let (first, others) = ways.split_first().ok_or("there is no package to run")?;
    let print = |way: &Way| {
        let mut command = (way.program)(place);
        command.args(words).args(place.option);
        // `lint` ends with 1 when something is wrong with the store.
        let codes: &[i32] = if words.first() == Some(&"lint") {
            &[0, 1]
        } else {
            &[0]
        };
        run::expect(run::printed(&mut command)?, codes, &command)
    };
    let expected = print(first)?;
    for way in others {
        let printed = print(way)?;
        let difference = difference(&expected.stdout, &printed.stdout)
            .or_else(|| difference(&expected.stderr, &printed.stderr))
            .or_else(|| (expected.code != printed.code).then(|| "in the exit code".to_owned()));
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
fn show(words: &[&str], place: &Place<'_>, printed: &Printed, lines: usize) {
    let [option, _] = place.option;
    println!("$ memdir {} {option} {}", words.join(" "), place.shown);
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
