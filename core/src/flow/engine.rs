//! Polls a flow by hand and turns its pending calls into steps.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::effect::{Effect, OutcomeKind, Request};
use super::host::Host;
use super::outcome::{Outcome, Response};
use crate::error::{Error, ErrorCode};

/// What a flow wants next.
#[derive(Debug)]
pub enum Step<T> {
    /// Perform all of these, then resume with an answer to each (none for `emit`). Never empty.
    Effects(Vec<Request>),
    /// The flow has ended with this value.
    Done(T),
}

/// State shared by a flow and the handles inside its future. Only ever locked for a moment.
#[derive(Debug, Default)]
pub(super) struct Shared {
    next_id: u32,
    queued: Vec<Request>,
    /// Handed out, by number, until the future that asked has fetched the answer.
    asked: Vec<Asked>,
    pub(super) cancelled: bool,
    /// What the clock said last, for handles whose time ends.
    pub(super) now_ms: Option<i64>,
    /// The effect that asks it, beside others of its step.
    clock: Option<u32>,
}

#[derive(Debug)]
struct Asked {
    id: u32,
    wants: OutcomeKind,
    answer: Option<Outcome>,
}

impl Shared {
    /// Queues an effect for the next step.
    pub(super) fn ask(&mut self, effect: Effect) -> u32 {
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        self.queued.push(Request { id, effect });
        id
    }

    /// Asks the clock in the next step, which then needs no step of its own.
    pub(super) fn ask_the_time(&mut self) {
        if self.clock.is_none() {
            self.clock = Some(self.ask(Effect::Now));
        }
    }

    pub(super) fn take_answer(&mut self, id: u32) -> Option<Outcome> {
        self.asked(id)?.answer.take()
    }

    fn asked(&mut self, id: u32) -> Option<&mut Asked> {
        let place = self.asked.binary_search_by_key(&id, |asked| asked.id);
        self.asked.get_mut(place.ok()?)
    }

    /// Takes the answers in; says what is wrong with them if they do not fit the step.
    fn accept(&mut self, responses: Vec<Response>) -> Result<(), String> {
        for Response { id, outcome } in responses {
            let Some(asked) = self.asked(id).filter(|asked| asked.answer.is_none()) else {
                return Err(format!("no effect {id} is waiting for an answer"));
            };
            let wants = asked.wants;
            if outcome.kind().is_some_and(|kind| kind != wants) {
                return Err(format!(
                    "effect {id} wants the outcome {wants:?}, not {:?}",
                    outcome.kind()
                ));
            }
            asked.answer = Some(outcome);
        }
        if let Some(Asked { id, .. }) = self.asked.iter().find(|asked| asked.answer.is_none()) {
            return Err(format!(
                "effect {id} was not answered before the next resume"
            ));
        }
        if let Some(id) = self.clock.take()
            && let Some(Outcome::Now(clock)) = self.take_answer(id)
        {
            self.now_ms = Some(clock.ms);
        }
        Ok(())
    }

    fn take_queued(&mut self) -> Vec<Request> {
        self.asked.retain(|asked| asked.answer.is_some());
        for request in &self.queued {
            if let Some(wants) = request.effect.answered_by() {
                self.asked.push(Asked {
                    id: request.id,
                    wants,
                    answer: None,
                });
            }
        }
        std::mem::take(&mut self.queued)
    }
}

pub(super) fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

type BoxedFuture<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

enum State<T> {
    Running(BoxedFuture<T>),
    /// The future is done; its last events go out before the value does.
    Finished(Result<T, Error>),
    Ended,
}

/// One running operation. Dropping it equals a crash: nothing more happens, nothing is cleaned up.
pub struct Flow<T> {
    shared: Arc<Mutex<Shared>>,
    // The mutex is never contended (`resume` takes `&mut self`); it makes the handle `Sync`.
    state: Mutex<State<T>>,
}

impl<T> fmt::Debug for Flow<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flow")
            .field("shared", &*lock(&self.shared))
            .finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Flow<T> {
    /// A flow that runs `body` over a fresh host handle. Nothing runs before the first resume.
    pub fn new<F, B>(body: B) -> Self
    where
        B: FnOnce(Host) -> F,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let shared = Arc::new(Mutex::new(Shared::default()));
        let future = Box::pin(body(Host::new(Arc::clone(&shared))));
        Self {
            shared,
            state: Mutex::new(State::Running(future)),
        }
    }

    /// The same flow with its value turned into something else.
    pub fn map<U: Send + 'static>(self, into: impl FnOnce(T) -> U + Send + 'static) -> Flow<U> {
        let state = match self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
        {
            State::Running(future) => {
                State::Running(Box::pin(async move { future.await.map(into) }) as BoxedFuture<U>)
            }
            State::Finished(result) => State::Finished(result.map(into)),
            State::Ended => State::Ended,
        };
        Flow {
            shared: self.shared,
            state: Mutex::new(state),
        }
    }

    /// Runs the flow up to its next effects or its end. The first call takes no responses.
    ///
    /// # Errors
    /// What the operation itself failed with; `protocol` when the responses do not answer
    /// exactly the effects of the last step, or when the flow has already ended; `aborted` when
    /// it was cancelled. After any error the flow has ended.
    pub fn resume(&mut self, responses: Vec<Response>) -> Result<Step<T>, Error> {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let accepted = lock(&self.shared).accept(responses);
        match std::mem::replace(state, State::Ended) {
            State::Ended => Err(Error::protocol("the flow has already ended")),
            _ if accepted.is_err() => Err(Error::protocol(accepted.err().unwrap_or_default())),
            State::Finished(_) if lock(&self.shared).cancelled => Err(aborted()),
            State::Finished(result) => result.map(Step::Done),
            State::Running(mut future) => {
                let polled = future
                    .as_mut()
                    .poll(&mut Context::from_waker(Waker::noop()));
                let mut shared = lock(&self.shared);
                let requests = shared.take_queued();
                match polled {
                    Poll::Ready(_) if shared.cancelled => Err(aborted()),
                    Poll::Ready(result) if requests.is_empty() => result.map(Step::Done),
                    Poll::Ready(result) => {
                        // Effects whose caller did not wait: in practice only events.
                        *state = State::Finished(result);
                        Ok(Step::Effects(requests))
                    }
                    Poll::Pending if requests.is_empty() => Err(Error::new(
                        ErrorCode::Internal,
                        "a flow waits for nothing; this is a defect of memdir, please report it",
                    )),
                    Poll::Pending => {
                        *state = State::Running(future);
                        Ok(Step::Effects(requests))
                    }
                }
            }
        }
    }

    /// Asks the flow to stop: from now on it gets `aborted` for every new effect but those of its
    /// clean-up, and it ends with `aborted`. The host then answers what is outstanding (stopping
    /// what [`Effect::stoppable`] allows) and resumes to the end, as always.
    pub fn cancel(&self) {
        lock(&self.shared).cancelled = true;
    }
}

fn aborted() -> Error {
    Error::new(
        ErrorCode::Aborted,
        "the operation was cancelled before it was done",
    )
}
