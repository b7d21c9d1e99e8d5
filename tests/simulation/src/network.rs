//! The simulated wire: a server that is a closure or a script, and a line that loses and delays.

use std::fmt;

use memdir_core::flow::FailureCode as Code;
use memdir_core::flow::{Content, Header, HttpAnswer};

use crate::attempt::script;
use crate::failures::{Answer, fail};
use crate::{Attempt, Random};

/// A request as the server sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Upper case.
    pub method: String,
    /// The whole URL.
    pub url: String,
    /// As sent.
    pub headers: Vec<Header>,
    /// As sent.
    pub body: Option<Content>,
}

type Server = Box<dyn FnMut(&Exchange) -> Attempt<HttpAnswer>>;

/// A server and the line to it.
pub struct Network {
    server: Server,
    /// How many requests in a hundred never arrive.
    pub lose_requests: u64,
    /// How many answers in a hundred never arrive, though the server has acted.
    pub lose_answers: u64,
    /// How many requests in a hundred arrive twice.
    pub repeat_requests: u64,
    /// The most that an exchange takes beyond the server's own time.
    pub delay_ms: u64,
}

impl Network {
    /// A perfect line to this server.
    pub fn new(mut server: impl FnMut(&Exchange) -> HttpAnswer + 'static) -> Self {
        Self::serving(move |request| Attempt::answer(server(request)))
    }

    /// A perfect line to a server that does this with each attempt, one after the other.
    #[must_use]
    pub fn scripted(attempts: Vec<Attempt<HttpAnswer>>) -> Self {
        Self::serving(script(attempts))
    }

    /// A perfect line to a server that takes its time, or does not answer.
    pub fn serving(server: impl FnMut(&Exchange) -> Attempt<HttpAnswer> + 'static) -> Self {
        Self {
            server: Box::new(server),
            lose_requests: 0,
            lose_answers: 0,
            repeat_requests: 0,
            delay_ms: 0,
        }
    }

    /// One exchange, and the time that it took.
    pub(crate) fn exchange(
        &mut self,
        request: &Exchange,
        timeout_ms: u64,
        max_bytes: u64,
        random: &mut Random,
    ) -> (Answer<HttpAnswer>, u64) {
        if random.percent(self.lose_requests) {
            return (fail(Code::Network), 0);
        }
        if random.percent(self.repeat_requests) {
            let _ = (self.server)(request);
        }
        let attempt = (self.server)(request);
        let delay_ms = random.below(self.delay_ms.saturating_add(1));
        let delay_ms = attempt.delay_ms.saturating_add(delay_ms);
        let (answer, took) = attempt.after(delay_ms).within(timeout_ms);
        let answer = match answer {
            Ok(answer) => answer,
            Err(failure) => return (Err(failure), took),
        };
        if random.percent(self.lose_answers) {
            return (fail(Code::Network), took);
        }
        if answer.body.0.len() as u64 > max_bytes {
            return (fail(Code::TooLarge), took);
        }
        (Ok(answer), took)
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("lose_requests", &self.lose_requests)
            .field("lose_answers", &self.lose_answers)
            .field("delay_ms", &self.delay_ms)
            .finish_non_exhaustive()
    }
}
