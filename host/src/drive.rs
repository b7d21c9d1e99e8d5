//! The blocking loop around a flow, for programs that have nothing else to do meanwhile.

use memdir_core::Error;
use memdir_core::flow::{Flow, Outcome, Request, Response, Step};

use crate::{perform, performs};

/// Runs a flow to its end. What [`performs`] excludes goes to `other`, whose answer to an `emit`
/// is dropped; a face that has nothing to add passes `|request| memdir_host::perform(&request.effect)`.
///
/// # Errors
/// What the flow ended with.
pub fn drive<T: Send + 'static>(
    flow: &mut Flow<T>,
    mut other: impl FnMut(Request) -> Outcome,
) -> Result<T, Error> {
    let mut responses = Vec::new();
    loop {
        match flow.resume(std::mem::take(&mut responses))? {
            Step::Done(value) => return Ok(value),
            Step::Effects(requests) => {
                for request in requests {
                    let id = request.id;
                    let answered = request.effect.answered_by().is_some();
                    let outcome = if performs(&request.effect) {
                        perform(&request.effect)
                    } else {
                        other(request)
                    };
                    if answered {
                        responses.push(Response { id, outcome });
                    }
                }
            }
        }
    }
}
