//! Runs several futures of one flow side by side, so that their effects share a step.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
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

/// Waits for both.
pub async fn join<A: Future, B: Future>(a: A, b: B) -> (A::Output, B::Output) {
    let (mut a, mut b) = (pin!(a), pin!(b));
    let (mut a_done, mut b_done) = (None, None);
    poll_fn(|context| {
        if a_done.is_none()
            && let Poll::Ready(output) = a.as_mut().poll(context)
        {
            a_done = Some(output);
        }
        if b_done.is_none()
            && let Poll::Ready(output) = b.as_mut().poll(context)
        {
            b_done = Some(output);
        }
        match (a_done.take(), b_done.take()) {
            (Some(a), Some(b)) => Poll::Ready((a, b)),
            (a, b) => {
                (a_done, b_done) = (a, b);
                Poll::Pending
            }
        }
    })
    .await
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
