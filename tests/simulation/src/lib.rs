//! The simulated host: a machine in memory on which every flow runs exactly as its seed says.
//!
//! [`Tree`] is the disk, [`Network`] the wire, the clock stands still unless something takes
//! time, and every draw comes from one seed. [`SimHost::run`] drives a flow to its end,
//! [`SimHost::start`] and [`SimHost::step`] drive several side by side, one effect at a time.
//! A [`Fault`] fails, cancels or crashes at one numbered effect.

mod act;
mod attempt;
mod beside;
mod dreaming;
mod drive;
mod explore;
mod extracting;
mod failures;
mod folder;
mod network;
mod noting;
mod perform;
mod random;
mod serial;
mod session;
mod team;
mod tree;
mod writing;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use memdir_core::flow::{Effect, Event, FailureCode, Outcome};

pub use act::Act;
pub use attempt::{Attempt, Reply, script};
pub use beside::{Meddle, end, meddled, meddled_often, stalled};
pub use dreaming::{
    DREAM_LOCK, at_once, dream_lock, dream_store, dream_store_options, dream_tree, dreamt_memory,
    merging,
};
pub use drive::{Process, Progress, Running};
pub use explore::{Explored, Explorer};
pub use extracting::{
    Asked, answering, call, extract_options, extract_tree, results, said, say, text_of, turn,
};
pub use failures::FAILURES;
pub use folder::{Folder, Kept};
pub use network::{Exchange, Network};
pub use noting::{NOTES_FILE, edit_notes, note, notes_options, talk};
pub use random::Random;
pub use serial::{Ended, Serial};
pub use session::{OLD_MS, Session, codes, memory, paths};
pub use team::{TeamServer, team_files, team_options};
pub use tree::{Body, Node, NodeMut, Tree};
pub use writing::{B, INDEX, OLD, STORE, hash_of, new_modes, renames_to, torn, written_tree};

/// What goes wrong at one effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The effect is not performed and fails with this code.
    Fail(FailureCode),
    /// The flow is cancelled just before the effect.
    Cancel,
    /// The process dies just after the effect.
    Crash,
    /// The process dies in the middle of the effect: of what was to be written only half is there,
    /// and nothing is renamed. An effect that writes no content is not performed.
    Tear,
}

/// A fault at the effect with this number, counted from 0 over the life of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The number of the effect, in the order in which they are performed.
    pub at: usize,
    /// What happens.
    pub kind: FaultKind,
}

/// One effect that was performed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// What was asked.
    pub effect: Effect,
    /// What was answered; none for `emit`.
    pub outcome: Option<Outcome>,
}

/// Sees every effect first. It may change the disk, as another program would, and may answer in
/// place of the host.
pub type Script = Box<dyn FnMut(&Effect, &mut Tree) -> Option<Outcome>>;

/// The caller's model: the request as JSON, and what it does with it.
pub type Model = Box<dyn FnMut(&str) -> Attempt<String>>;

/// The caller's function that gives a token.
pub type Token = Box<dyn FnMut() -> Attempt<String>>;

/// The caller's function that approves imports: the file, and the one that imports it.
pub type Approve = Box<dyn FnMut(&str, &str) -> Attempt<bool>>;

/// A simulated machine with one process.
pub struct SimHost {
    /// The disk.
    pub tree: Tree,
    /// The wall clock, milliseconds since the epoch.
    pub clock_ms: i64,
    /// Minutes that its zone is ahead of UTC.
    pub offset_minutes: i32,
    /// How much longer than asked a sleep takes, in milliseconds.
    pub oversleep_ms: u64,
    /// The number of the process; none where there are no processes.
    pub pid: Option<u32>,
    /// The wire; without one every exchange is `unsupported`.
    pub network: Option<Network>,
    /// The model; without one every call is `unsupported`.
    pub model: Option<Model>,
    /// The caller's function that gives a token; without one every call is `unsupported`.
    pub token: Option<Token>,
    /// The caller's function that approves imports; without one every call is `unsupported`.
    pub approve: Option<Approve>,
    /// Answers what the host itself does not have, and meddles.
    pub script: Option<Script>,
    /// What the process reads from its standard input.
    pub stdin: Vec<u8>,
    /// What it printed.
    pub stdout: String,
    /// What it printed beside its results.
    pub stderr: String,
    /// What the event listener heard.
    pub events: Vec<Event>,
    /// The processes that run.
    pub processes: BTreeSet<u32>,
    /// How far each file was read, in bytes.
    pub reads: BTreeMap<String, u64>,
    /// Everything that was performed.
    pub trace: Vec<Traced>,
    /// What goes wrong.
    pub faults: Vec<Fault>,
    random: Random,
}

/// What every simulated host calls its machine.
pub const HOST_ID: &str = "51751751751751751751751751751751";

/// The number of the simulated process.
pub const PID: u32 = 1;

impl SimHost {
    /// A machine with an empty disk. Equal seeds give equal runs.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::with_tree(seed, Tree::new())
    }

    /// A machine with this disk.
    #[must_use]
    pub fn with_tree(seed: u64, tree: Tree) -> Self {
        Self {
            tree,
            clock_ms: tree::START_MS,
            offset_minutes: 60,
            oversleep_ms: 0,
            pid: Some(PID),
            network: None,
            model: None,
            token: None,
            approve: None,
            script: None,
            stdin: Vec::new(),
            stdout: String::new(),
            stderr: String::new(),
            events: Vec::new(),
            processes: BTreeSet::from([PID]),
            reads: BTreeMap::new(),
            trace: Vec::new(),
            faults: Vec::new(),
            random: Random::new(seed),
        }
    }

    /// The same machine with one fault more.
    #[must_use]
    pub fn with_fault(mut self, at: usize, kind: FaultKind) -> Self {
        self.faults.push(Fault { at, kind });
        self
    }
}

impl fmt::Debug for SimHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimHost")
            .field("clock_ms", &self.clock_ms)
            .field("performed", &self.trace.len())
            .field("faults", &self.faults)
            .finish_non_exhaustive()
    }
}
