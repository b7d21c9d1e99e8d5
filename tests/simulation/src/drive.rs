//! Drives flows one effect at a time. The effects of a step are performed in an order that the
//! seed decides, as a host that performs them concurrently may do.

use std::collections::VecDeque;

use memdir_core::error::{Error, ErrorCode};
use memdir_core::flow::{Effect, Failure, FailureCode, Flow, Outcome, Request, Response, Step};

use crate::{FaultKind, Random, SimHost, Traced};

/// One of several processes on a machine. It draws for itself, so that what it draws does not
/// depend on when the others do.
#[derive(Clone, Debug)]
pub struct Process {
    pid: Option<u32>,
    random: Random,
}

impl Process {
    /// A process with this number; none where there are no processes.
    #[must_use]
    pub fn new(pid: Option<u32>, seed: u64) -> Self {
        Self {
            pid,
            random: Random::new(seed),
        }
    }
}

/// A flow under way.
#[derive(Debug)]
pub struct Running<T> {
    /// Whose it is; none for the one process of the host.
    process: Option<Process>,
    /// None after a crash: the flow was dropped.
    flow: Option<Flow<T>>,
    waiting: VecDeque<Request>,
    answers: Vec<Response>,
    /// The flow was cancelled during this step.
    is_stopping: bool,
}

impl<T: Send + 'static> Running<T> {
    /// Cancels the flow, as a user does at any time.
    pub fn cancel(&mut self) {
        self.is_stopping = true;
        if let Some(flow) = &self.flow {
            flow.cancel();
        }
    }

    fn crash(&mut self) {
        self.flow = None;
        self.waiting.clear();
        self.answers.clear();
    }
}

/// How far a flow has come.
#[derive(Debug)]
pub enum Progress<T> {
    /// It goes on.
    Working,
    /// It ended.
    Ended(Result<T, Error>),
    /// Its process died.
    Crashed,
}

impl SimHost {
    /// Takes a flow in; nothing runs yet.
    pub fn start<T: Send + 'static>(&self, flow: Flow<T>) -> Running<T> {
        Running {
            process: None,
            flow: Some(flow),
            waiting: VecDeque::new(),
            answers: Vec::new(),
            is_stopping: false,
        }
    }

    /// The same in a process of its own.
    pub fn start_in<T: Send + 'static>(&mut self, process: Process, flow: Flow<T>) -> Running<T> {
        self.processes.extend(process.pid);
        Running {
            process: Some(process),
            ..self.start(flow)
        }
    }

    /// Performs one effect of a flow, or resumes it when all effects of its step are answered.
    pub fn step<T: Send + 'static>(&mut self, running: &mut Running<T>) -> Progress<T> {
        self.switch(running);
        let progress = self.step_in(running);
        self.switch(running);
        if matches!(progress, Progress::Crashed)
            && let Some(pid) = running.process.as_ref().and_then(|process| process.pid)
        {
            self.processes.remove(&pid);
        }
        progress
    }

    /// The process of a flow takes the place of the host's own, and back.
    fn switch<T>(&mut self, running: &mut Running<T>) {
        if let Some(process) = &mut running.process {
            std::mem::swap(&mut self.pid, &mut process.pid);
            std::mem::swap(&mut self.random, &mut process.random);
        }
    }

    fn step_in<T: Send + 'static>(&mut self, running: &mut Running<T>) -> Progress<T> {
        if let Some(request) = running.waiting.pop_front() {
            return self.perform_one(running, request);
        }
        let Some(flow) = &mut running.flow else {
            return Progress::Crashed;
        };
        match flow.resume(std::mem::take(&mut running.answers)) {
            Err(error) => Progress::Ended(Err(error)),
            Ok(Step::Done(value)) => Progress::Ended(Ok(value)),
            Ok(Step::Effects(mut requests)) => {
                self.random.shuffle(&mut requests);
                // Events keep their order, and no host lets them wait for an effect.
                requests.sort_by_key(|request| match request.effect {
                    Effect::Emit { .. } => request.id,
                    _ => u32::MAX,
                });
                running.waiting = requests.into();
                running.is_stopping = false;
                Progress::Working
            }
        }
    }

    fn perform_one<T: Send + 'static>(
        &mut self,
        running: &mut Running<T>,
        request: Request,
    ) -> Progress<T> {
        let Request { id, effect } = request;
        let number = self.trace.len();
        let faults: Vec<FaultKind> = self
            .faults
            .iter()
            .filter(|fault| fault.at == number)
            .map(|fault| fault.kind)
            .collect();
        if faults.contains(&FaultKind::Cancel) {
            running.cancel();
        }
        let failure = faults.iter().find_map(|kind| match kind {
            FaultKind::Fail(code) => Some(Failure::new(*code, "an injected failure")),
            FaultKind::Cancel | FaultKind::Crash | FaultKind::Tear => None,
        });
        if faults.contains(&FaultKind::Tear) {
            self.tear(&effect);
            running.crash();
            return Progress::Crashed;
        }
        let outcome = match failure {
            Some(failure) if effect.answered_by().is_some() => Some(Outcome::Failed(failure)),
            _ if running.is_stopping && effect.stoppable() => Some(Outcome::Failed(Failure::new(
                FailureCode::Aborted,
                "stopped",
            ))),
            _ => self.perform(&effect),
        };
        self.trace.push(Traced {
            effect,
            outcome: outcome.clone(),
        });
        if faults.contains(&FaultKind::Crash) {
            running.crash();
            return Progress::Crashed;
        }
        running
            .answers
            .extend(outcome.map(|outcome| Response { id, outcome }));
        Progress::Working
    }

    /// Runs a flow until it ends; none when its process died.
    pub fn run_to_end<T: Send + 'static>(&mut self, flow: Flow<T>) -> Option<Result<T, Error>> {
        self.finish(self.start(flow))
    }

    /// Runs a started flow until it ends; none when its process died.
    pub fn finish<T: Send + 'static>(
        &mut self,
        mut running: Running<T>,
    ) -> Option<Result<T, Error>> {
        loop {
            match self.step(&mut running) {
                Progress::Working => {}
                Progress::Ended(result) => return Some(result),
                Progress::Crashed => return None,
            }
        }
    }

    /// Runs a flow that is not meant to crash.
    ///
    /// # Errors
    /// What the flow fails with, `internal` after a crash.
    pub fn run<T: Send + 'static>(&mut self, flow: Flow<T>) -> Result<T, Error> {
        self.run_to_end(flow).unwrap_or_else(|| {
            Err(Error::new(
                ErrorCode::Internal,
                "the simulated process died",
            ))
        })
    }
}
