//! The simulated host owes what every host owes: `tests/conformance`.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../../../conformance/runner.rs"]
mod runner;

use std::path::Path;

use memdir_core::flow::{Effect, Outcome, probe};
use memdir_simulation::{Body, PID, SimHost};
use runner::{Machine, SetUp};

const ROOT: &str = "/tmp/root";

impl Machine for SimHost {
    fn root(&self) -> String {
        ROOT.to_owned()
    }

    fn pid(&self) -> u32 {
        PID
    }

    fn has(&self, need: &str) -> bool {
        need != "run"
    }

    fn set_up(&mut self, action: SetUp) {
        let tree = &mut self.tree;
        match action {
            SetUp::Folder(path) => _ = tree.put(path, Body::Folder),
            SetUp::File(path, text) => _ = tree.file(path, text),
            SetUp::Link(path, target) => _ = tree.link(path, target),
            SetUp::Fifo(path) => _ = tree.put(path, Body::Other),
            SetUp::Chmod(path, mode) => _ = tree.node(path).unwrap().mode(mode),
            SetUp::Rename(from, to) => tree.shift(from, &to),
            SetUp::Mtime(path, ms) => _ = tree.node(path).unwrap().at(ms),
        }
    }

    fn perform(&mut self, effects: Vec<Effect>) -> Vec<Outcome> {
        self.run(probe(effects)).unwrap()
    }
}

#[test]
fn the_simulated_host_conforms() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance");
    for seed in 0..4 {
        runner::run_folder(&folder, || {
            let mut host = SimHost::new(seed);
            host.tree.put(ROOT, Body::Folder);
            host
        });
    }
}
