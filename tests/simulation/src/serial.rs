//! What writers may have done to a store: what they do one after the other, in some order.

use std::collections::BTreeMap;

use memdir_core::error::Error;
use memdir_core::flow::Effect;
use memdir_core::report::ReportCode;
use memdir_core::write::{WriteOutcome, WriteResult};

use crate::{Act, FaultKind, Folder, Process, SimHost, Tree};

/// How a writer ended.
pub type Ended = Result<WriteResult, Error>;

/// How much of an operation is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Nothing,
    /// Its first file, and not the next: a memory without its index line.
    Half,
    Whole,
}

/// What somebody who looks at a store sees. The lines of an index are in no order: an undoing that
/// was overtaken finds the place of its line taken.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sight {
    files: BTreeMap<String, String>,
    tombstones: Option<String>,
}

/// What is there in the end, and how each ended; none for what was not done to its end.
type Run = (Sight, Vec<Option<WriteOutcome>>);

impl Sight {
    fn of(tree: &Tree, directory: &str) -> Self {
        let folder = Folder::new(tree, directory);
        let mut files = folder.files();
        for (path, content) in &mut files {
            if path.ends_with("MEMORY.md") {
                let mut lines: Vec<&str> = content.split_inclusive('\n').collect();
                lines.sort_unstable();
                *content = lines.concat();
            }
        }
        Self {
            files,
            tombstones: folder.everything().remove(".memdir/tombstones.json"),
        }
    }
}

/// What comes of operations on one store, one after the other.
#[derive(Debug)]
pub struct Serial<'a> {
    directory: &'a str,
    tree: &'a Tree,
    acts: &'a [Act],
    known: BTreeMap<Vec<(usize, Part)>, Run>,
}

impl<'a> Serial<'a> {
    /// The store, and the operations that come up.
    #[must_use]
    pub fn new(directory: &'a str, tree: &'a Tree, acts: &'a [Act]) -> Self {
        Self {
            directory,
            tree,
            acts,
            known: BTreeMap::new(),
        }
    }

    /// Whether some order gives what is there, when each of these operations, by its number, ended
    /// so; none of one whose process died. What an author was told to be done must be done.
    pub fn explains(&mut self, ends: &[(usize, Option<&Ended>)], tree: &Tree) -> bool {
        let seen = Sight::of(tree, self.directory);
        let all: Vec<usize> = ends.iter().map(|(act, _)| *act).collect();
        orders(ends.len()).into_iter().any(|order| {
            let order: Vec<_> = order
                .into_iter()
                .filter_map(|at| ends.get(at).copied())
                .collect();
            self.fits(&seen, &all, &order, &mut Vec::new())
        })
    }

    fn fits(
        &mut self,
        seen: &Sight,
        all: &[usize],
        left: &[(usize, Option<&Ended>)],
        begun: &mut Vec<(usize, Part)>,
    ) -> bool {
        let Some(((act, ended), left)) = left.split_first() else {
            return self.run(begun).0 == *seen;
        };
        let mut parts = parts(*ended).to_vec();
        // A forgetting that was overtaken by its undoing goes on after it.
        if self.is_forgotten_too(*act, all) {
            parts.push(Part::Nothing);
        }
        parts.iter().any(|part| {
            begun.push((*act, *part));
            let as_told = match (part, ended) {
                // One that ends what another has begun does not know that it is the second, nor the one
                // that has begun that it did not end it.
                (Part::Whole, Some(Ok(result)))
                    if self.is_shared(*act) && result.outcome == WriteOutcome::Written =>
                {
                    true
                }
                (Part::Whole, Some(Ok(result))) => {
                    let alone = self.run(begun).1.last().copied().flatten();
                    alone.is_some_and(|alone| alike(alone, result.outcome))
                }
                _ => true,
            };
            let fits = as_told && self.fits(seen, all, left, begun);
            begun.pop();
            fits
        })
    }

    /// Whether two can do it together, each a part.
    fn is_shared(&self, act: usize) -> bool {
        matches!(self.acts.get(act), Some(Act::Forget(..) | Act::Undo(_)))
    }

    /// Whether it is an undoing beside a forgetting of the same memory.
    fn is_forgotten_too(&self, act: usize, all: &[usize]) -> bool {
        let Some(Act::Undo(Some(undone))) = self.acts.get(act) else {
            return false;
        };
        let mut all = all.iter().filter_map(|act| self.acts.get(*act));
        all.any(|act| matches!(act, Act::Forget(path, _) if path == undone))
    }

    fn run(&mut self, acts: &[(usize, Part)]) -> &Run {
        if !self.known.contains_key(acts) {
            let result = self.run_anew(acts);
            self.known.insert(acts.to_vec(), result);
        }
        self.known.entry(acts.to_vec()).or_insert_with(|| {
            let nothing = Sight::of(&Tree::new(), self.directory);
            (nothing, Vec::new())
        })
    }

    fn run_anew(&self, acts: &[(usize, Part)]) -> Run {
        let mut host = SimHost::with_tree(7, self.tree.clone());
        let mut outcomes = Vec::new();
        for (number, (act, part)) in acts.iter().enumerate() {
            let (Some(act), true) = (self.acts.get(*act), *part > Part::Nothing) else {
                outcomes.push(None);
                continue;
            };
            if *part == Part::Half
                && let Some(at) = self.first_rename(&host.tree, act)
            {
                let at = host.trace.len().saturating_add(at);
                host = host.with_fault(at, FaultKind::Crash);
            }
            let pid = u32::try_from(number).ok().map(|number| number + 100);
            let process = Process::new(pid, 100 + number as u64);
            let flow = host.start_in(process, act.flow(self.directory));
            let result = host.finish(flow).and_then(Result::ok);
            outcomes.push(result.map(|result| result.outcome));
        }
        (Sight::of(&host.tree, self.directory), outcomes)
    }

    /// The number of the effect that brings the first change to the store itself, if there are two.
    fn first_rename(&self, tree: &Tree, act: &Act) -> Option<usize> {
        let mut host = SimHost::with_tree(7, tree.clone());
        // What died before holds the lock.
        host.processes.clear();
        host.run(act.flow(self.directory)).ok()?;
        let mut renames = host.trace.iter().enumerate().filter_map(|(at, traced)| {
            let Effect::Rename { from, to, .. } = &traced.effect else {
                return None;
            };
            let is_own = |path: &str| path.contains("/.memdir/");
            (!is_own(from) || !is_own(to)).then_some(at)
        });
        let first = renames.next()?;
        renames.next().map(|_| first)
    }
}

/// Whether two ends say the same. What is unchanged after one writer can be written by two that do the
/// same at once, half each.
fn alike(one: WriteOutcome, other: WriteOutcome) -> bool {
    let is_done = |outcome| matches!(outcome, WriteOutcome::Written | WriteOutcome::Unchanged);
    one == other || (is_done(one) && is_done(other))
}

/// How much of an operation may be done that ended so.
fn parts(ended: Option<&Ended>) -> &'static [Part] {
    match ended {
        Some(Ok(result)) => match result.outcome {
            WriteOutcome::Conflict | WriteOutcome::Refused => &[Part::Whole, Part::Nothing],
            WriteOutcome::Written | WriteOutcome::Unchanged => {
                let codes = result.report.iter().map(|entry| entry.code);
                if codes.into_iter().any(|code| code == ReportCode::NotIndexed) {
                    &[Part::Whole, Part::Half, Part::Nothing]
                } else {
                    &[Part::Whole]
                }
            }
        },
        Some(Err(_)) | None => &[Part::Whole, Part::Half, Part::Nothing],
    }
}

/// Every order of so many things.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for next in 0..count {
        let longer = orders.iter().flat_map(|order: &Vec<usize>| {
            (0..=order.len()).map(move |at| {
                let mut order = order.clone();
                order.insert(at, next);
                order
            })
        });
        orders = longer.collect();
    }
    orders
}
