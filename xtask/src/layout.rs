//! Where things are in the repository, and how its tools are started.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::Result;
use crate::wasm;

/// The repository; every path of the tool starts here.
#[derive(Debug)]
pub struct Layout {
    pub root: PathBuf,
}

impl Layout {
    /// The folder above this crate.
    pub fn find() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .ok_or("the build tool must live one folder below the root of the repository")?;
        Ok(Self {
            root: root.to_path_buf(),
        })
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// A folder of the repository, created when it is missing.
    pub fn folder(&self, relative: &str) -> Result<PathBuf> {
        let folder = self.path(relative);
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
        Ok(folder)
    }

    /// Copies the licences into the folder of a package, where its packer looks for them.
    pub fn licences(&self, folder: &str) -> Result<()> {
        for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
            write(&self.path(folder).join(name), read(&self.path(name))?)?;
        }
        Ok(())
    }

    /// A program, started in a folder of the repository.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>, folder: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path(folder));
        command
    }

    /// Everything that calls cargo has the same settings, so that no step makes another compile
    /// anew: the Python to build against, and what a module says of this machine.
    fn pin(&self, command: &mut Command) {
        command.env("PYO3_PYTHON", self.path(".venv/bin/python"));
        wasm::set_rustflags(self, command);
    }

    /// The cargo that started this tool.
    pub fn cargo(&self, arguments: &[&str]) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = self.command(cargo, ".");
        command.args(arguments);
        self.pin(&mut command);
        command
    }

    /// npm, in the folder of the Node package.
    pub fn npm(&self, arguments: &[&str]) -> Command {
        let mut command = self.command("npm", "bindings-js");
        command.args(arguments);
        command
    }

    /// A tool that the Node package's development dependencies brought.
    pub fn node_tool(&self, name: &str) -> Result<Command> {
        let tool = self.path("bindings-js/node_modules/.bin").join(name);
        if tool.exists() {
            Ok(self.command(tool, "."))
        } else {
            Err(format!("bindings-js/node_modules has no `{name}`: run `xtask setup`").into())
        }
    }

    /// A tool of the Python environment of the repository, which finds the others by their names.
    pub fn venv_tool(&self, name: &str, folder: &str) -> Result<Command> {
        let programs = self.path(".venv/bin");
        let mut command = self.command(programs.join(name), folder);
        let outer = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(programs.clone()).chain(std::env::split_paths(&outer));
        command.env("PATH", std::env::join_paths(path)?);
        self.pin(&mut command);
        Ok(command)
    }
}

/// The one package in `dist/` that has this ending.
pub fn packed(layout: &Layout, ending: &str) -> Result<PathBuf> {
    let mut found = every_packed(layout, &[ending])?;
    match (found.pop(), found.is_empty()) {
        (Some(path), true) => Ok(path),
        _ => Err(format!("dist/ must have one memdir-*{ending}: run `make build`").into()),
    }
}

/// Removes what an earlier version left.
pub fn remove_packed(layout: &Layout, endings: &[&str]) -> Result<()> {
    for path in every_packed(layout, endings)? {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

fn every_packed(layout: &Layout, endings: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(layout.folder("dist")?)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("memdir-") && endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
    Ok(found)
}

/// Reads a file; the message names it.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()).into())
}

/// Writes a file; the message names it.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    std::fs::write(path, bytes)
        .map_err(|error| format!("cannot write {}: {error}", path.display()).into())
}
