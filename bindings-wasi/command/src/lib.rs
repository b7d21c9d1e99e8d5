//! What the WASI programs have beyond the file host: HTTP in one of the two builds.

#[cfg(feature = "http")]
mod http;
#[cfg(not(feature = "http"))]
mod http {
    //! The build that has no way to the network.

    use memdir_core::flow::{Effect, Failure, FailureCode, Outcome};

    pub fn exchange(_: Effect) -> Outcome {
        Outcome::Failed(Failure::new(
            FailureCode::Unsupported,
            "this build cannot make HTTP requests; use memdir-http.wasm",
        ))
    }
}

use memdir_core::flow::{Effect, Outcome, Request};

/// Performs what the file host leaves over; `unsupported` for what WASI does not have.
#[must_use]
pub fn perform(request: Request) -> Outcome {
    match request.effect {
        effect @ Effect::Http { .. } => http::exchange(effect),
        effect => memdir_host::perform(&effect),
    }
}
