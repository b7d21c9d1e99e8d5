//! The team memory server: one program for this machine.

use crate::layout::Layout;
use crate::run::{self, Result};
use crate::wasm;

/// Builds `dist/memdir-team-server`.
pub fn program(layout: &Layout) -> Result<()> {
    let what = ["-p", "memdir-team-server", "--profile", "server"];
    let mut build = layout.cargo(&[["build", "--quiet"].as_slice(), &what].concat());
    run::run("build the team server", &mut build)?;
    let built = wasm::target_folder(layout).join("server/memdir-team-server");
    let program = layout.folder("dist")?.join("memdir-team-server");
    // A server that runs keeps its file; the new one comes under the same name.
    let fresh = program.with_extension("new");
    std::fs::copy(&built, &fresh)
        .map_err(|error| format!("cannot copy {}: {error}", built.display()))?;
    std::fs::rename(fresh, program)?;
    Ok(())
}
