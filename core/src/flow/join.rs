//! Runs several futures of one flow side by side, so that their effects share a step.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Waits for all of `futures`; the results come in their order.
pub fn join_all<F: Future>(
    futures: impl IntoIterator<Item = F>,
) -> impl Future<Output = Vec<F::Output>>
where
    F::Output: Unpin,
{
    JoinAll {
        parts: futures
            .into_iter()
            .map(|future| Part::Waiting(Box::pin(future)))
            .collect(),
    }
}

enum Part<F: Future> {
    Waiting(Pin<Box<F>>),
    Ready(Option<F::Output>),
}

struct JoinAll<F: Future> {
    parts: Vec<Part<F>>,
}

impl<F: Future> Future for JoinAll<F>
where
    F::Output: Unpin,
{
    type Output = Vec<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut pending = false;
        for part in &mut self.parts {
            if let Part::Waiting(future) = part {
                match future.as_mut().poll(context) {
                    Poll::Ready(output) => *part = Part::Ready(Some(output)),
                    Poll::Pending => pending = true,
                }
            }
        }
        if pending {
            return Poll::Pending;
        }
        let parts = std::mem::take(&mut self.parts);
        Poll::Ready(
            parts
                .into_iter()
                .filter_map(|part| match part {
                    Part::Ready(output) => output,
                    Part::Waiting(_) => None,
                })
                .collect(),
        )
    }
}
