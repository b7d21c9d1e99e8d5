//! This host owes what every host owes: `tests/conformance`.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;
#[path = "../../tests/conformance/runner.rs"]
mod runner;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use common::Temporary;
use memdir_core::flow::{Effect, Outcome, probe};
use memdir_host::{drive, perform};
use runner::{Machine, SetUp};

/// The machine that the test runs on.
impl Machine for Temporary {
    fn root(&self) -> String {
        self.path().to_owned()
    }

    fn pid(&self) -> u32 {
        std::process::id()
    }

    fn has(&self, need: &str) -> bool {
        match need {
            "not-root" => !rustix::process::geteuid().is_root(),
            // Other file systems refuse such names.
            "raw-names" => cfg!(target_os = "linux"),
            _ => true,
        }
    }

    fn set_up(&mut self, action: SetUp) {
        match action {
            SetUp::Folder(path) => std::fs::create_dir(path),
            SetUp::File(path, text) => std::fs::write(OsString::from_vec(path), text),
            SetUp::Link(path, target) => symlink(OsString::from_vec(target), path),
            SetUp::Fifo(path) => Command::new("mkfifo").arg(path).status().map(|_| ()),
            SetUp::Chmod(path, mode) => {
                std::fs::set_permissions(path, PermissionsExt::from_mode(mode))
            }
            SetUp::Rename(from, to) => std::fs::rename(from, to),
            SetUp::Mtime(path, ms) => {
                let after = Duration::from_millis(ms.try_into().unwrap());
                std::fs::File::open(path)
                    .and_then(|file| file.set_modified(std::time::UNIX_EPOCH + after))
            }
        }
        .unwrap();
    }

    fn perform(&mut self, effects: Vec<Effect>) -> Vec<Outcome> {
        drive(&mut probe(effects), |request| perform(&request.effect)).unwrap()
    }
}

#[test]
fn this_host_conforms() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance");
    runner::run_folder(&folder, Temporary::new);
}
