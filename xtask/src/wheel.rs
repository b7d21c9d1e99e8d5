//! Builds the Python packages: the wheel and the sdist.

use std::process::Command;

use crate::layout::{self, Layout};
use crate::run::{self, Result};
use crate::{setup, stamp};

/// Leaves one `dist/memdir-*.whl` and one `dist/memdir-*.tar.gz`.
pub fn package(layout: &Layout) -> Result<()> {
    setup::python(layout)?;
    let dist = layout.folder("dist")?;
    layout::remove_packed(layout, &[".whl", ".tar.gz"])?;
    layout.licences("bindings-py")?;
    let maturin = |verb: &[&str]| -> Result<Command> {
        let mut maturin = layout.venv_tool("maturin", "bindings-py")?;
        maturin.args(verb).arg("--out").arg(&dist);
        Ok(maturin)
    };
    let build = ["build", "--quiet", "--release", "--strip"];
    run::run_silently("build the Python wheel", &mut maturin(&build)?)?;
    run::run_silently("pack the Python sdist", &mut maturin(&["sdist"])?)
}

/// Puts the wheel, as a user would have it, into the environment of the tests.
pub fn install(layout: &Layout) -> Result<()> {
    let wheel = layout::packed(layout, ".whl")?;
    let venv = layout.path(".venv");
    stamp::unless_done(&venv.join("wheel.stamp"), &[&layout::read(&wheel)?], || {
        let mut pip = setup::pip_install(&venv);
        pip.args(["--no-deps", "--force-reinstall"]).arg(&wheel);
        run::run("install the wheel into .venv", &mut pip)
    })
}
