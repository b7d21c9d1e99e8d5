//! Decides what must be there before anything is measured: the packages, and the peers.

use crate::build::{self, Artefact};
use crate::layout::{self, Layout};
use crate::run::{self, Result};
use crate::{setup, stamp, wheel};

/// Builds and installs, then measures everything in one run.
pub fn bench(layout: &Layout) -> Result<()> {
    setup::everything(layout)?;
    for artefact in [Artefact::Npm, Artefact::Wheel] {
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
    let mut benches = layout.cargo(&["run", "--quiet", "--release", "-p", "memdir-benches"]);
    run::run("compile in release mode, and measure", &mut benches)
}
