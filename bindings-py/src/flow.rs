//! A running operation as Python drives it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};

use memdir_core::cli::CommandOptions;
use memdir_core::flow::{self as core, Effect, Request, Response};
use memdir_core::{Error, ErrorCode};
use memdir_host::{perform, perform_unless, performs};
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::{guarded, raise};
use crate::from_python::{Entries, Text, structured, text};
use crate::to_python::{Shape, to_python};

/// Makes the Python value of what a flow ended with.
type Answer = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;

/// A running operation. `resume` does files, clock and random bytes itself, with the GIL released,
/// and returns when something is left that only Python can do, or at the end.
#[pyclass(frozen, module = "memdir._core")]
#[derive(Debug)]
pub(crate) struct Flow {
    state: Mutex<State>,
    cancelled: AtomicBool,
    ended: Mutex<Option<Py<PyAny>>>,
}

#[derive(Debug)]
struct State {
    flow: core::Flow<Answer>,
    /// Answers of this step that were found here, kept until Python has given the others.
    answered: Vec<Response>,
    /// What Python has to perform.
    pending: Vec<Request>,
}

/// How far a flow has come.
#[pyclass(frozen, module = "memdir._core")]
#[derive(Debug)]
pub(crate) struct Step {
    /// Whether the flow has ended.
    #[pyo3(get)]
    done: bool,
    /// What the flow ended with; None before.
    #[pyo3(get)]
    value: Py<PyAny>,
    /// What to perform before the next resume, each `{"id": int, "effect": {"kind": str, ...}}`
    /// with the keys of the core's JSON; empty at the end.
    #[pyo3(get)]
    effects: Py<PyAny>,
}

impl Flow {
    /// A flow that ends with dataclasses.
    pub(crate) fn new<T: Serialize + Send + 'static>(flow: core::Flow<T>) -> Self {
        Self::with_shape(flow, Shape::Classes)
    }

    fn with_shape<T: Serialize + Send + 'static>(flow: core::Flow<T>, shape: Shape) -> Self {
        let flow = flow.map(move |value| -> Answer {
            Box::new(move |py| to_python(py, &value, shape).map(Bound::unbind))
        });
        Self {
            state: Mutex::new(State {
                flow,
                answered: Vec::new(),
                pending: Vec::new(),
            }),
            cancelled: AtomicBool::new(false),
            ended: Mutex::default(),
        }
    }

    /// Runs until Python is needed. Called without the GIL.
    fn advance(&self, mut responses: Vec<Response>) -> Result<core::Step<Answer>, Error> {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(Error::protocol("the flow is already being resumed"));
            }
        };
        let State {
            flow,
            answered,
            pending,
        } = &mut *state;
        pending.clear();
        answered.append(&mut responses);
        loop {
            if self.cancelled.load(Ordering::Acquire) {
                flow.cancel();
            }
            let requests = match flow.resume(std::mem::take(answered))? {
                core::Step::Effects(requests) => requests,
                done @ core::Step::Done(_) => return Ok(done),
            };
            for request in requests {
                if is_done_here(&request.effect) {
                    answered.push(Response {
                        id: request.id,
                        outcome: perform(&request.effect),
                    });
                } else {
                    pending.push(request);
                }
            }
            if !pending.is_empty() {
                return Ok(core::Step::Effects(pending.clone()));
            }
        }
    }
}

/// What takes milliseconds at most and needs nothing of Python. The terminal is Python's, which may
/// have replaced its streams; waiting and programs must be stoppable.
fn is_done_here(effect: &Effect) -> bool {
    performs(effect)
        && !matches!(
            effect,
            Effect::Print { .. }
                | Effect::ReadStdin { .. }
                | Effect::Run { .. }
                | Effect::Sleep { .. }
        )
}

#[pymethods]
impl Flow {
    /// Answers all effects of the last step, each `{"id": int, "outcome": ...}`, and runs on; the
    /// first call takes an empty list. Raises what the operation failed with, or `protocol` when the
    /// answers do not fit the step or the flow has ended.
    #[pyo3(signature = (responses: "list[dict[str, Any]]", /) -> "Step[_T]")]
    fn resume(&self, py: Python<'_>, responses: &Bound<'_, PyAny>) -> PyResult<Step> {
        let responses: Vec<Response> = structured(responses, ErrorCode::Protocol)?;
        let step = py.detach(|| guarded(|| self.advance(responses)));
        match step.map_err(|error| raise(py, &error))? {
            core::Step::Done(answer) => {
                let value = answer(py)?;
                *self.ended.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(value.clone_ref(py));
                Ok(Step {
                    done: true,
                    value,
                    effects: to_python(py, &[(); 0], Shape::Dicts)?.unbind(),
                })
            }
            core::Step::Effects(requests) => {
                let effects = to_python(py, &requests, Shape::Dicts)?.unbind();
                Ok(Step {
                    done: false,
                    value: py.None(),
                    effects,
                })
            }
        }
    }

    /// What the flow ended with, for a driver that was interrupted before it got hold of it; None
    /// when it has not ended, or with an error.
    #[pyo3(signature = () -> "_T | None")]
    fn ended(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.as_ref().map(|value| value.clone_ref(py))
    }

    /// What Python still has to answer, in the form of `Step.effects`: for a driver that was
    /// interrupted before it got hold of the step.
    #[pyo3(signature = () -> "list[dict[str, Any]]")]
    fn pending(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let pending = py.detach(|| {
            self.state
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .pending
                .clone()
        });
        Ok(to_python(py, &pending, Shape::Dicts)?.unbind())
    }

    /// Asks the flow to stop, from any thread. What it has asked for must still be answered
    /// (`aborted` will do), and it must be resumed to its end, which is the error `aborted`.
    #[pyo3(signature = () -> "None")]
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
    }
}

/// One effect that takes its time, such as a program, for a thread of its own.
#[pyclass(frozen, module = "memdir._core")]
#[derive(Debug)]
pub(crate) struct Stoppable {
    effect: Effect,
    stopped: AtomicBool,
}

#[pymethods]
impl Stoppable {
    #[new]
    #[pyo3(signature = (effect: "dict[str, Any]", /))]
    fn new(effect: &Bound<'_, PyAny>) -> PyResult<Self> {
        let effect = structured(effect, ErrorCode::InvalidArgument)?;
        Ok(Self {
            effect,
            stopped: AtomicBool::new(false),
        })
    }

    /// Performs it and gives the outcome.
    #[pyo3(signature = () -> "Any")]
    fn perform(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let outcome =
            py.detach(|| perform_unless(&self.effect, &|| self.stopped.load(Ordering::Acquire)));
        Ok(to_python(py, &outcome, Shape::Dicts)?.unbind())
    }

    /// Makes `perform` end with `aborted`, from any thread.
    #[pyo3(signature = () -> "None")]
    fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }
}

/// A flow that performs `effects` side by side and ends with their outcomes, as plain dicts: how
/// hosts are tested.
#[pyfunction]
#[pyo3(signature = (effects: "list[dict[str, Any]]", /) -> "Flow[list[Any]]")]
pub(crate) fn probe(effects: &Bound<'_, PyAny>) -> PyResult<Flow> {
    let effects: Vec<Effect> = structured(effects, ErrorCode::InvalidArgument)?;
    Ok(Flow::with_shape(core::probe(effects), Shape::Dicts))
}

/// The command line; ends with the exit code.
#[pyfunction]
#[pyo3(signature = (
    args: "collections.abc.Sequence[str]",
    *,
    cwd: "str | None",
    home: "str | None",
    env: "collections.abc.Mapping[str, str]"
) -> "Flow[int]")]
pub(crate) fn command(
    args: Vec<Text>,
    cwd: Option<Text>,
    home: Option<Text>,
    env: Entries,
) -> Flow {
    Flow::new(memdir_core::cli::command(CommandOptions {
        args: args.into_iter().map(|Text(arg)| arg).collect(),
        cwd: text(cwd),
        home: text(home),
        env: env.0,
    }))
}

/// The code of a failed effect for an error number of the operating system.
#[pyfunction]
#[pyo3(signature = (errno: "int", /) -> "str")]
pub(crate) fn failure_code(py: Python<'_>, errno: i32) -> PyResult<Py<PyAny>> {
    let code = memdir_host::failure_code(&std::io::Error::from_raw_os_error(errno));
    Ok(to_python(py, &code, Shape::Dicts)?.unbind())
}
