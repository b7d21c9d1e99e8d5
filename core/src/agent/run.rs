//! The loop of a background agent: the model answers, its calls are carried out, and so on, within turns and
//! tokens.

use super::desk::ToolReply;
use crate::error::Error;
use crate::extract::RunEnd;
use crate::flow::{Event, Host};
use crate::limits::{RUN_ANSWER_MS, RUN_ANSWER_TOKENS, RUN_TURN_BYTES, TURN_TOLD_CHARS};
use crate::model::{
    Model, ToolAnswer, ToolDefinition, ToolRequest, ToolResult, ToolTurn, Usage, converse,
};
use crate::progress::tell;
use crate::secrets::redact_secrets;
use crate::text::{self, one_line};

/// What a model is to do.
#[derive(Debug)]
pub(crate) struct Plan {
    pub purpose: &'static str,
    /// The conversation that this one goes on behind.
    pub prefix: Option<String>,
    pub system: String,
    pub prompt: String,
    pub tools: Vec<ToolDefinition>,
    pub max_turns: u32,
    pub max_tokens: u64,
    /// Whether whoever watches is told what the model says (facts 7.4).
    pub tells: bool,
}

/// How far a run came.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    pub turns: u32,
    pub usage: Usage,
    pub ended: Option<RunEnd>,
    /// Whether a call was refused in the last turn that made any: what the model wanted is not done.
    pub was_refused: bool,
    /// What it failed of; what was done before stays done.
    pub error: Option<Error>,
}

/// Who answers the calls of a run.
pub(crate) trait Hands: Sync {
    /// Whether nothing more is to be done.
    fn is_stopped(&self) -> bool;

    /// Answers a call of a tool; `input` is its arguments as JSON. Only a cancelled flow is no answer.
    fn call(
        &self,
        host: &Host,
        name: &str,
        input: &str,
    ) -> impl Future<Output = Result<ToolReply, Error>> + Send;
}

/// Runs a plan to its end; each turn is told before it begins.
///
/// # Errors
/// `aborted`.
pub(crate) async fn run(
    host: &Host,
    model: &Model,
    hands: &impl Hands,
    plan: Plan,
    on_terminal: bool,
) -> Result<Ran, Error> {
    let mut budget = Budget::new(&plan);
    let mut request = ToolRequest {
        purpose: plan.purpose.to_owned(),
        prefix: plan.prefix,
        system: plan.system,
        tools: plan.tools,
        prompt: plan.prompt,
        turns: Vec::new(),
        max_tokens: RUN_ANSWER_TOKENS,
    };
    let mut ran = Ran::default();
    while ran.turns < plan.max_turns {
        if hands.is_stopped() {
            ran.ended = Some(RunEnd::Stopped);
            return Ok(ran);
        }
        if !budget.has_room(&request, ran.usage) {
            ran.ended = Some(RunEnd::Tokens);
            return Ok(ran);
        }
        ran.turns = ran.turns.saturating_add(1);
        let message = format!("{}: turn {} of {}", plan.purpose, ran.turns, plan.max_turns);
        tell(host, on_terminal, Event::new(plan.purpose, message)).await?;
        let answer = converse(host, model, &request, RUN_ANSWER_MS).await;
        host.stop_if_cancelled()?;
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                ran.error = Some(error);
                return Ok(ran);
            }
        };
        ran.usage.add(answer.usage);
        if plan.tells
            && let Some(said) = said(plan.purpose, model, &answer)
        {
            host.emit(said);
        }
        if answer.calls.is_empty() {
            ran.ended = Some(RunEnd::Answered);
            return Ok(ran);
        }
        let mut results = Vec::new();
        let mut room = RUN_TURN_BYTES;
        let last = answer.calls.len();
        for (number, call) in (1..).zip(&answer.calls) {
            let refused = if answer.is_cut && number == last {
                Some(
                    "the answer ended before this call was complete, so it was not carried out; make it again, shorter",
                )
            } else if room == 0 {
                Some(
                    "the answers of this turn are as long as they may be; make this call in the next one",
                )
            } else {
                None
            };
            let (content, is_error) = match refused {
                Some(why) => (why.to_owned(), true),
                None => {
                    let reply = hands.call(host, &call.name, &call.input).await?;
                    (reply.content, reply.is_error)
                }
            };
            room = room.saturating_sub(content.len());
            results.push(ToolResult {
                id: call.id.clone(),
                name: call.name.clone(),
                content,
                is_error,
            });
        }
        ran.was_refused = results.iter().any(|result| result.is_error);
        request.turns.push(ToolTurn {
            answer: answer.answer,
            results,
        });
    }
    ran.ended = Some(RunEnd::Turns);
    Ok(ran)
}

/// What the model said in a turn, and how many tools it calls; none when it only calls tools.
fn said(purpose: &str, model: &Model, answer: &ToolAnswer) -> Option<Event> {
    let line = one_line(&model.hide(&answer.text));
    let text = redact_secrets(text::trim(&line));
    if text.is_empty() {
        return None;
    }
    let shown: String = text.chars().take(TURN_TOLD_CHARS).collect();
    let tools = match answer.calls.len() {
        0 => String::new(),
        1 => " (1 tool)".to_owned(),
        count => format!(" ({count} tools)"),
    };
    Some(Event {
        code: Some("said".to_owned()),
        ..Event::new(purpose, format!("{purpose}: {shown}{tools}"))
    })
}

/// The tokens that a run may take. What a provider has in its cache counts a tenth, as it costs; and since not
/// every provider counts, or counts right, the texts are measured, too.
struct Budget {
    max: u64,
    guessed: u64,
    /// The tokens of the last request, which are in the cache when the next one is sent.
    sent: u64,
}

impl Budget {
    fn new(plan: &Plan) -> Self {
        Self {
            max: plan.max_tokens,
            guessed: 0,
            sent: tokens(plan.prefix.as_ref().map_or(0, String::len)),
        }
    }

    /// Whether the next request may be sent.
    fn has_room(&mut self, request: &ToolRequest, usage: Usage) -> bool {
        let size = size(request);
        let added = size.saturating_sub(self.sent);
        self.guessed = self
            .guessed
            .saturating_add(added.saturating_add(self.sent / 10));
        self.sent = size;
        let counted = usage
            .total()
            .saturating_sub(usage.cached)
            .saturating_add(usage.cached / 10);
        self.guessed.max(counted.saturating_add(added)) <= self.max
    }
}

/// About how many tokens a request is.
fn size(request: &ToolRequest) -> u64 {
    let turns = request.turns.iter().map(|turn| {
        let results = turn.results.iter().map(|result| result.content.len());
        turn.answer.len().saturating_add(results.sum())
    });
    let own = [&request.system, &request.prompt].map(String::len);
    let prefix = request.prefix.as_ref().map_or(0, String::len);
    tokens(turns.chain(own).chain([prefix]).sum())
}

/// Four bytes are about a token.
fn tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}
