//! A flow that does nothing but what it is told: how hosts are held against each other.

use super::{Effect, Flow, Outcome, join_all};

/// Performs `effects` side by side and gives their outcomes in the same order, `done` for `emit`.
/// The conformance tests drive every host through this one flow.
#[must_use]
pub fn probe(effects: Vec<Effect>) -> Flow<Vec<Outcome>> {
    Flow::new(move |host| async move {
        let calls = effects.into_iter().map(|effect| host.perform(effect));
        Ok(join_all(calls).await)
    })
}
