//! What somebody at the other end does with one attempt to ask: a server, or the caller's model.

use std::collections::VecDeque;

use memdir_core::flow::{Bytes, FailureCode, Header, HttpAnswer};

use crate::failures::{Answer, fail};

/// One attempt, and how long it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt<T> {
    /// Until the answer is there, or the line breaks.
    pub delay_ms: u64,
    /// What comes of it.
    pub reply: Reply<T>,
}

/// What comes of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<T> {
    /// An answer.
    Answer(T),
    /// None: the host says so with this code.
    Fail(FailureCode),
    /// Nothing, until the time is up.
    Hang,
}

impl<T> Attempt<T> {
    /// An answer at once.
    pub fn answer(answer: T) -> Self {
        Self::of(Reply::Answer(answer))
    }

    /// A failure at once: a refused connection, a body that breaks off.
    #[must_use]
    pub fn fail(code: FailureCode) -> Self {
        Self::of(Reply::Fail(code))
    }

    /// Silence.
    #[must_use]
    pub fn hang() -> Self {
        Self::of(Reply::Hang)
    }

    /// The same, so much later.
    #[must_use]
    pub fn after(mut self, delay_ms: u64) -> Self {
        self.delay_ms = delay_ms;
        self
    }

    fn of(reply: Reply<T>) -> Self {
        Self { delay_ms: 0, reply }
    }

    /// What a host sees that waits no longer than this, and how long it waited.
    pub(crate) fn within(self, timeout_ms: u64) -> (Answer<T>, u64) {
        if self.delay_ms > timeout_ms || matches!(self.reply, Reply::Hang) {
            return (fail(FailureCode::Timeout), timeout_ms);
        }
        let answer = match self.reply {
            Reply::Answer(answer) => Ok(answer),
            Reply::Fail(code) => fail(code),
            Reply::Hang => fail(FailureCode::Timeout),
        };
        (answer, self.delay_ms)
    }
}

impl Attempt<HttpAnswer> {
    /// An HTTP answer at once; headers as a host gives them, lower case and sorted by name.
    #[must_use]
    pub fn http(status: u16, headers: &[(&str, &str)], body: &str) -> Self {
        let headers = headers.iter().map(|(name, value)| Header {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        });
        Self::answer(HttpAnswer {
            status,
            headers: headers.collect(),
            body: Bytes(body.as_bytes().to_vec()),
        })
    }

    /// The same with a body that ends after so many bytes, as behind a proxy that gives up and
    /// says nothing.
    #[must_use]
    pub fn cut(mut self, bytes: usize) -> Self {
        if let Reply::Answer(answer) = &mut self.reply {
            answer.body.0.truncate(bytes);
        }
        self
    }
}

/// One attempt after the other; whoever asks more often than was foreseen finds nobody there.
pub fn script<T, A: ?Sized>(
    attempts: impl IntoIterator<Item = Attempt<T>>,
) -> impl FnMut(&A) -> Attempt<T> {
    let mut attempts: VecDeque<Attempt<T>> = attempts.into_iter().collect();
    move |_| {
        attempts
            .pop_front()
            .unwrap_or_else(|| Attempt::fail(FailureCode::Network))
    }
}
