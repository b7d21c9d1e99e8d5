//! Decides what must be installed before the build: the wasm targets, the Python environment, the
//! Node modules. Each is skipped when its stamp shows that it is done.

use std::path::Path;
use std::process::Command;

use crate::layout::{self, Layout};
use crate::run::{self, Result};
use crate::{stamp, wasm};

/// The oldest Python that the package supports, and the names that it may go by.
const PYTHON_AT_LEAST: &str = "import sys; sys.exit(sys.version_info < (3, 11))";
const PYTHONS: [&str; 5] = [
    "python3",
    "python3.14",
    "python3.13",
    "python3.12",
    "python3.11",
];
const NODE_AT_LEAST: &str = "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)";

/// Everything that the build and the tests need.
pub fn everything(layout: &Layout) -> Result<()> {
    targets(layout)?;
    python(layout)?;
    node(layout)
}

/// The standard library for the wasm targets. Under rustup, rust-toolchain.toml brought it when
/// cargo started this tool.
fn targets(layout: &Layout) -> Result<()> {
    for target in [wasm::BARE, wasm::WASI] {
        let mut rustc = layout.command("rustc", ".");
        let printed = run::output(rustc.args(["--print", "target-libdir", "--target", target]))?;
        if !Path::new(printed.stdout.trim()).is_dir() {
            let all = format!("{} {}", wasm::BARE, wasm::WASI);
            return Err(format!(
                "this Rust cannot compile for {target}: run `rustup target add {all}`, or install \
                 Rust with rustup, which reads rust-toolchain.toml"
            )
            .into());
        }
    }
    Ok(())
}

/// `.venv`, with exactly what requirements-dev.txt lists.
pub fn python(layout: &Layout) -> Result<()> {
    let requirements = layout.path("requirements-dev.txt");
    let list = layout::read(&requirements)?;
    let venv = layout.path(".venv");
    stamp::unless_done(&venv.join("requirements.stamp"), &[&list], || {
        new_venv(layout, &venv)?;
        let mut pip = pip_install(&venv);
        pip.arg("--requirement").arg(&requirements);
        run::run("install the Python tools into .venv", &mut pip)
    })
}

/// A new, empty Python environment.
pub fn new_venv(layout: &Layout, folder: &Path) -> Result<()> {
    let python = PYTHONS
        .into_iter()
        .find(|name| says_yes(Command::new(name).args(["-c", PYTHON_AT_LEAST])))
        .ok_or("Python 3.11 or newer is needed: install it and put it on the PATH as `python3`")?;
    let shown = folder
        .strip_prefix(&layout.root)
        .unwrap_or(folder)
        .display();
    let mut venv = Command::new(python);
    run::run(
        &format!("create the Python environment {shown}"),
        venv.args(["-m", "venv", "--clear"]).arg(folder),
    )
}

/// `pip install`, of an environment; the caller adds what.
pub fn pip_install(venv: &Path) -> Command {
    let mut pip = Command::new(venv.join("bin/python"));
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    pip
}

/// What the Node package is built and tested with.
pub fn node(layout: &Layout) -> Result<()> {
    node_modules(layout, "bindings-js")
}

/// `node_modules` of a folder, from its lock file.
pub fn node_modules(layout: &Layout, folder: &str) -> Result<()> {
    let folder_path = layout.path(folder);
    let lock = layout::read(&folder_path.join("package-lock.json"))?;
    stamp::unless_done(
        &folder_path.join("node_modules/.lock.stamp"),
        &[&lock],
        || {
            if !says_yes(Command::new("node").args(["-e", NODE_AT_LEAST])) {
                return Err("Node 20 or newer is needed: install it and put it on the PATH".into());
            }
            let mut npm = layout.command("npm", folder);
            npm.args(["ci", "--silent", "--no-audit", "--no-fund"]);
            run::run(&format!("install the Node modules of {folder}"), &mut npm)
        },
    )
}

/// Whether a program starts and ends with 0.
fn says_yes(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}
