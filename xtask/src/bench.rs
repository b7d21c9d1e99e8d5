//! Decides what must be there before anything is measured: the packages, and the peers.

use crate::build::{self, Artefact};
use crate::layout::{self, Layout};
use crate::run::{self, Result};
use crate::{setup, stamp, wasm, wheel};

/// A peer that is a program of its own.
const RIPSECRETS: [&str; 5] = ["install", "ripsecrets", "--version", "0.1.11", "--locked"];

/// Builds and installs, then measures everything in one run.
pub fn bench(layout: &Layout) -> Result<()> {
    setup::everything(layout)?;
    for artefact in [Artefact::Npm, Artefact::Wheel, Artefact::Server] {
        build::build(layout, artefact)?;
    }
    wheel::install(layout)?;
    setup::node_modules(layout, "benches")?;
    let venv = layout.path(".venv");
    let peers = layout.path("benches/requirements.txt");
    stamp::unless_done(
        &venv.join("benches.stamp"),
        &[&layout::read(&peers)?],
        || {
            let mut pip = setup::pip_install(&venv);
            run::run(
                "install the Python peers",
                pip.arg("--requirement").arg(&peers),
            )
        },
    )?;
    ripsecrets(layout)?;
    // The benches themselves in wasm, with the profile of the npm package.
    let built = wasm::build(layout, "memdir-benches", wasm::WASI, &[])?;
    let program = "memdir-benches.wasm";
    let target = layout.folder(".cache/benches")?.join(program);
    layout::write(&target, layout::read(&built.join(program))?)?;
    let mut benches = layout.cargo(&["run", "--quiet", "--release", "-p", "memdir-benches"]);
    run::run("compile in release mode, and measure", &mut benches)
}

/// Installs ripsecrets. Where that fails the benches leave it out.
fn ripsecrets(layout: &Layout) -> Result<()> {
    let folder = layout.folder(".cache/ripsecrets")?;
    let version = RIPSECRETS.join(" ");
    let done = stamp::unless_done(&folder.join("stamp"), &[version.as_bytes()], || {
        let mut install = layout.cargo(&RIPSECRETS);
        install.arg("--quiet").arg("--root").arg(&folder);
        run::run("install ripsecrets", &mut install)
    });
    if let Err(error) = done {
        println!("    left out: {error}");
    }
    Ok(())
}
