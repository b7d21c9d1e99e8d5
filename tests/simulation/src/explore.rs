//! Two writers under every schedule.
//!
//! A flow cannot be copied, but its answers can: to go on from a state a second time, a new flow is
//! fed the answers that the first one had. Two states are equal when disk and answers are, so most
//! schedules meet again soon.
//!
//! Every effect is a place to switch, but for those that touch nothing shared. A writer that waits
//! for the lock asks whether its holder lives. "It does" lets it sleep until the lock has changed:
//! looking again before would show the same. "It does not" is the takeover, which the host may say
//! of a writer that goes on later: that is one that was held up for as long as the waiter's sleeps
//! take, without the sleeps. Each writer takes over once at most, and so many times in all a writer
//! is interrupted that could have gone on; to wait or to end is no interruption.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use memdir_core::flow::{Clock, Effect, Flow, Outcome, Request, Response, Step};
use memdir_core::write::WriteResult;

use crate::tree::START_MS;
use crate::{Act, Body, Ended, Random, SimHost, Tree};

/// One writer in some state.
#[derive(Clone)]
struct Writer {
    random: Random,
    /// The answers to the steps that are over.
    steps: Vec<Rc<Vec<Response>>>,
    answers: Vec<Response>,
    waiting: VecDeque<Request>,
    ended: Option<Ended>,
    takeovers: u32,
    /// The lock that it sleeps on, until there is another.
    sleeps_on: Option<Option<Vec<u8>>>,
    /// Of all its answers.
    digest: u64,
}

struct State {
    tree: Tree,
    writers: [Writer; 2],
    /// Those that have come as far as their answers; others are made when they are needed.
    flows: [Option<Flow<WriteResult>>; 2],
    /// Who was at it last.
    last: usize,
    preemptions: u32,
}

#[derive(Clone, Copy)]
struct Choice {
    who: usize,
    alive: bool,
    /// Whether another could have gone on.
    preempts: bool,
}

/// What an exploration has seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Explored {
    /// Different states.
    pub states: usize,
    /// Different ends.
    pub ends: usize,
    /// Schedules in which somebody took over.
    pub takeovers: usize,
}

/// Two writers on one disk.
pub struct Explorer<'a> {
    directory: &'a str,
    acts: [&'a Act; 2],
    preemptions: u32,
    host: SimHost,
}

impl std::fmt::Debug for Explorer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Explorer")
            .field("acts", &self.acts)
            .finish_non_exhaustive()
    }
}

impl<'a> Explorer<'a> {
    /// The writers, where they write, and how often at most one of them is interrupted.
    #[must_use]
    pub fn new(directory: &'a str, acts: [&'a Act; 2], preemptions: u32) -> Self {
        Self {
            directory,
            acts,
            preemptions,
            host: SimHost::new(1),
        }
    }

    /// Goes through all states. `state` sees every disk, `end` every disk after both have ended.
    pub fn explore(
        &mut self,
        tree: &Tree,
        mut state: impl FnMut(&Tree),
        mut end: impl FnMut(&Tree, &Ended, &Ended),
    ) -> Explored {
        let mut explored = Explored::default();
        // With how few interruptions each state was reached.
        let mut seen: HashMap<u64, u32> = HashMap::new();
        let mut todo = vec![self.begin(tree)];
        while let Some(mut current) = todo.pop() {
            loop {
                let reached = seen.entry(digest(&current)).or_insert(u32::MAX);
                if *reached <= current.preemptions {
                    break;
                }
                explored.states += usize::from(*reached == u32::MAX);
                *reached = current.preemptions;
                state(&current.tree);
                let mut choices = choices(&mut current, self.directory);
                if current.preemptions >= self.preemptions {
                    choices.retain(|choice| !choice.preempts);
                }
                let Some((first, others)) = choices.split_first() else {
                    let [a, b] = &current.writers;
                    if let (Some(a), Some(b)) = (&a.ended, &b.ended) {
                        end(&current.tree, a, b);
                    }
                    explored.ends += 1;
                    let taken = current.writers.iter().any(|writer| writer.takeovers > 0);
                    explored.takeovers += usize::from(taken);
                    break;
                };
                for choice in others {
                    let mut other = State {
                        tree: current.tree.clone(),
                        writers: current.writers.clone(),
                        flows: [None, None],
                        ..current
                    };
                    self.go(&mut other, *choice);
                    todo.push(other);
                }
                self.go(&mut current, *first);
            }
        }
        explored
    }

    fn begin(&mut self, tree: &Tree) -> State {
        let writer = |seed| Writer {
            random: Random::new(seed),
            steps: Vec::new(),
            answers: Vec::new(),
            waiting: VecDeque::new(),
            ended: None,
            takeovers: 0,
            sleeps_on: None,
            digest: seed,
        };
        let mut state = State {
            tree: tree.clone(),
            writers: [writer(11), writer(22)],
            flows: [None, None],
            last: 0,
            preemptions: 0,
        };
        for who in 0..2 {
            self.resume(&mut state, who);
            self.run_alone(&mut state, who);
        }
        state
    }

    /// Performs one effect that others can see, and what follows that they cannot.
    fn go(&mut self, state: &mut State, choice: Choice) {
        state.last = choice.who;
        state.preemptions += u32::from(choice.preempts);
        self.perform(state, choice);
        self.run_alone(state, choice.who);
    }

    fn run_alone(&mut self, state: &mut State, who: usize) {
        while next(state, who).is_some_and(|effect| is_private(effect, self.directory)) {
            self.perform(
                state,
                Choice {
                    who,
                    alive: true,
                    preempts: false,
                },
            );
        }
    }

    fn perform(&mut self, state: &mut State, Choice { who, alive, .. }: Choice) {
        let lock = lock(&state.tree, self.directory);
        let Some(writer) = state.writers.get_mut(who) else {
            return;
        };
        let Some(Request { id, effect }) = writer.waiting.pop_front() else {
            return;
        };
        writer.sleeps_on = None;
        let outcome = match &effect {
            // Time stands still: what is written does not depend on the schedule.
            Effect::Now => Some(Outcome::Now(Clock {
                ms: START_MS,
                offset_minutes: 0,
            })),
            Effect::Sleep { .. } => Some(Outcome::Done),
            Effect::ProcessAlive { .. } => {
                if alive {
                    writer.sleeps_on = Some(lock);
                } else {
                    writer.takeovers += 1;
                }
                Some(Outcome::Alive(alive))
            }
            effect => {
                let host = &mut self.host;
                host.pid = u32::try_from(who).ok().map(|who| who + 11);
                std::mem::swap(&mut host.tree, &mut state.tree);
                std::mem::swap(&mut host.random, &mut writer.random);
                let outcome = host.perform(effect);
                std::mem::swap(&mut host.tree, &mut state.tree);
                std::mem::swap(&mut host.random, &mut writer.random);
                outcome
            }
        };
        if let Some(outcome) = outcome {
            let mut hasher = DefaultHasher::new();
            (writer.digest, format!("{:?}", timeless(&outcome))).hash(&mut hasher);
            writer.digest = hasher.finish();
            writer.answers.push(Response { id, outcome });
        }
        if writer.waiting.is_empty() {
            self.resume(state, who);
        }
    }

    /// Gives a flow the answers to its step.
    fn resume(&self, state: &mut State, who: usize) {
        let (Some(writer), Some(flow), Some(act)) = (
            state.writers.get_mut(who),
            state.flows.get_mut(who),
            self.acts.get(who),
        ) else {
            return;
        };
        let directory = self.directory;
        let flow = flow.get_or_insert_with(|| {
            let mut flow = act.flow(directory);
            for answers in &writer.steps {
                // The end of an earlier step can be no error: there were steps after it.
                let _ = flow.resume(answers.to_vec());
            }
            flow
        });
        let answers = std::mem::take(&mut writer.answers);
        writer.steps.push(Rc::new(answers.clone()));
        match flow.resume(answers) {
            Ok(Step::Effects(mut requests)) => {
                writer.random.shuffle(&mut requests);
                writer.waiting = requests.into();
            }
            Ok(Step::Done(result)) => writer.ended = Some(Ok(result)),
            Err(error) => writer.ended = Some(Err(error)),
        }
    }
}

fn next(state: &State, who: usize) -> Option<&Effect> {
    let request = state.writers.get(who)?.waiting.front()?;
    Some(&request.effect)
}

fn is_private(effect: &Effect, directory: &str) -> bool {
    match effect {
        Effect::Now | Effect::Random { .. } | Effect::HostInfo | Effect::Emit { .. } => true,
        Effect::RealPath { path } => !path.starts_with(directory),
        _ => false,
    }
}

/// What can come next.
fn choices(state: &mut State, directory: &str) -> Vec<Choice> {
    let mut choices = Vec::new();
    let lock = lock(&state.tree, directory);
    for who in 0..2 {
        let Some(writer) = state.writers.get(who) else {
            continue;
        };
        let alive = Choice {
            who,
            alive: true,
            preempts: false,
        };
        match next(state, who) {
            None => {}
            Some(Effect::ProcessAlive { .. }) => {
                choices.push(alive);
                if writer.takeovers == 0 {
                    choices.push(Choice {
                        alive: false,
                        ..alive
                    });
                }
            }
            // It wakes up when there is something new to see.
            Some(Effect::Sleep { .. }) if writer.sleeps_on == Some(lock.clone()) => {}
            Some(_) => choices.push(alive),
        }
    }
    if choices.is_empty() {
        // A lock that stayed behind: all that is left is to sleep until it may be taken over.
        for (who, writer) in state.writers.iter_mut().enumerate() {
            if writer.ended.is_none() {
                writer.takeovers = 0;
                writer.sleeps_on = None;
                choices.push(Choice {
                    who,
                    alive: true,
                    preempts: false,
                });
            }
        }
    }
    let goes_on = choices.iter().any(|choice| choice.who == state.last);
    for choice in &mut choices {
        choice.preempts = goes_on && choice.who != state.last;
    }
    choices
}

fn lock(tree: &Tree, directory: &str) -> Option<Vec<u8>> {
    let path = format!("{directory}/.memdir/lock");
    match &tree.nodes().get(path.as_bytes())?.body {
        Body::File(bytes) => Some(bytes.clone()),
        other => Some(format!("{other:?}").into_bytes()),
    }
}

/// An answer without what depends on the order in which others made files.
fn timeless(outcome: &Outcome) -> Outcome {
    let mut outcome = outcome.clone();
    let forget = |stat: &mut memdir_core::flow::Stat| stat.inode = None;
    match &mut outcome {
        Outcome::Stat(stat) => forget(stat),
        Outcome::Listing(listing) => listing
            .entries
            .iter_mut()
            .filter_map(|entry| entry.stat.as_mut())
            .for_each(forget),
        Outcome::Content(bytes) => {
            // The debugging form of bytes says only how many there are.
            return Outcome::Text(String::from_utf8_lossy(&bytes.0).into_owned());
        }
        _ => {}
    }
    outcome
}

fn digest(state: &State) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.last.hash(&mut hasher);
    let mut firsts: BTreeMap<u64, &[u8]> = BTreeMap::new();
    for (path, node) in state.tree.nodes() {
        // Which names are one file counts, not its number.
        let first = *firsts.entry(node.inode).or_insert(path);
        (path, first, node.mode).hash(&mut hasher);
        match &node.body {
            Body::File(bytes) | Body::Link(bytes) => bytes.hash(&mut hasher),
            other => format!("{other:?}").hash(&mut hasher),
        }
    }
    for writer in &state.writers {
        (writer.digest, writer.waiting.len(), writer.takeovers).hash(&mut hasher);
        writer.sleeps_on.hash(&mut hasher);
    }
    hasher.finish()
}
