//! What happens beside a writer while it is at it.

use std::cell::Cell;
use std::rc::Rc;

use memdir_core::error::Error;
use memdir_core::flow::{Clock, Effect, Failure, FailureCode, Flow, Outcome};
use memdir_core::write::WriteResult;

use crate::tree::START_MS;
use crate::{Ended, Process, Progress, Running, SimHost, Tree};

/// Runs a flow on which another program meddles just before the effect with this number; none when
/// it has fewer. Without `links` files have one name only.
pub fn meddled(
    tree: &Tree,
    flow: Flow<WriteResult>,
    at: usize,
    links: bool,
    meddle: impl Fn(&mut Tree) + 'static,
) -> Option<(Ended, SimHost)> {
    meddled_often(tree, flow, links, vec![(at, Box::new(meddle))])
}

/// What another program does to a disk.
pub type Meddle = Box<dyn Fn(&mut Tree)>;

/// The same for a program that meddles more than once; none when the flow ends before it is done.
pub fn meddled_often(
    tree: &Tree,
    flow: Flow<WriteResult>,
    links: bool,
    meddles: Vec<(usize, Meddle)>,
) -> Option<(Ended, SimHost)> {
    let mut host = SimHost::with_tree(1, tree.clone());
    let done = Rc::new(Cell::new(0));
    let seen = Rc::clone(&done);
    let last = meddles.iter().map(|(at, _)| *at).max()?;
    host.script = Some(Box::new(move |effect, tree| {
        for (_, meddle) in meddles.iter().filter(|(at, _)| *at == seen.get()) {
            meddle(tree);
        }
        seen.set(seen.get() + 1);
        let refused = !links && matches!(effect, Effect::Link { .. });
        refused.then(|| {
            Outcome::Failed(Failure::new(
                FailureCode::Unsupported,
                "files have one name",
            ))
        })
    }));
    let result = host.run(flow);
    host.script = None;
    (done.get() > last).then_some((result, host))
}

/// The first flow stalls after so many effects until the second one, of another process, has taken
/// the lock over and is done. None when it has not so many.
pub fn stalled(
    tree: &Tree,
    first: Flow<WriteResult>,
    after: usize,
    second: Flow<WriteResult>,
) -> Option<(SimHost, [Ended; 2])> {
    let mut host = SimHost::with_tree(1, tree.clone());
    let mut first = host.start_in(Process::new(Some(11), 11), first);
    while host.trace.len() < after {
        if let Progress::Ended(_) = host.step(&mut first) {
            return None;
        }
    }
    let mut second = host.start_in(Process::new(Some(22), 22), second);
    let second = end(&mut host, &mut second)?;
    let first = end(&mut host, &mut first)?;
    Some((host, [first, second]))
}

/// Runs a flow that has begun to its end; none when its process died.
pub fn end<T: Send + 'static>(
    host: &mut SimHost,
    flow: &mut Running<T>,
) -> Option<Result<T, Error>> {
    loop {
        match host.step(flow) {
            Progress::Working => {}
            Progress::Ended(result) => return Some(result),
            Progress::Crashed => return None,
        }
    }
}

impl SimHost {
    /// The same machine with a clock that flows see standing still, so that what they write does not
    /// depend on how long they waited.
    #[must_use]
    pub fn timeless(mut self) -> Self {
        self.script = Some(Box::new(|effect, _| {
            matches!(effect, Effect::Now).then_some(Outcome::Now(Clock {
                ms: START_MS,
                offset_minutes: 0,
            }))
        }));
        self
    }
}
