//! A turn of a conversation in a world that answers by a list.

use super::{
    Key, Model, ModelOptions, ToolAnswer, ToolDefinition, ToolRequest, ToolResult, ToolTurn, Usage,
    converse,
};
use crate::error::{Error, ErrorCode as Code};
use crate::flow::{
    Bytes, Clock, Content, Effect, Failure, FailureCode, Flow, Header, HttpAnswer, Outcome,
    Response, Step,
};
use crate::paths::Environment;

const KEY: &str = "sk-0451";
const DONE: &str = r#"{"content":[{"type":"text","text":"Done."}],"usage":{"output_tokens":5}}"#;
const PREFIX: &str = r#"{"model":"own","messages":[{"role":"user","content":"Hi"}]}"#;

fn request() -> ToolRequest {
    ToolRequest {
        purpose: "extract-memories".to_owned(),
        prefix: Some(PREFIX.to_owned()),
        system: "Be brief.".to_owned(),
        tools: Vec::new(),
        prompt: "Go.".to_owned(),
        turns: Vec::new(),
        max_tokens: 256,
    }
}

fn flow(model: &str, request: ToolRequest, limit_ms: u64) -> Flow<ToolAnswer> {
    let options = ModelOptions {
        name: model.to_owned(),
        api_key: Some(Key(KEY.to_owned())),
        base_url: None,
    };
    let model = Model::new(&options, &Environment::new()).unwrap();
    Flow::new(move |host| async move { converse(&host, &model, &request, limit_ms).await })
}

/// A world with a clock: a sleep takes as long as it says, a question a second, and is answered by the
/// next of these.
struct World {
    now_ms: i64,
    answers: Vec<Outcome>,
    asked: Vec<Effect>,
    slept: Vec<u64>,
}

impl World {
    fn new(answers: Vec<Outcome>) -> Self {
        Self {
            now_ms: 1_780_000_000_000,
            answers,
            asked: Vec::new(),
            slept: Vec::new(),
        }
    }

    fn perform(&mut self, effect: Effect) -> Outcome {
        match effect {
            Effect::Now => Outcome::Now(Clock {
                ms: self.now_ms,
                offset_minutes: 0,
            }),
            Effect::Random { .. } => Outcome::Content(Bytes(vec![0])),
            Effect::Sleep { ms } => {
                self.slept.push(ms);
                self.now_ms += i64::try_from(ms).unwrap();
                Outcome::Done
            }
            effect => {
                self.asked.push(effect);
                self.now_ms += 1_000;
                self.answers.remove(0)
            }
        }
    }

    fn run(&mut self, mut flow: Flow<ToolAnswer>) -> Result<ToolAnswer, Error> {
        let mut responses = Vec::new();
        loop {
            match flow.resume(responses)? {
                Step::Done(answer) => return Ok(answer),
                Step::Effects(requests) => {
                    let answered = requests.into_iter().map(|request| Response {
                        id: request.id,
                        outcome: self.perform(request.effect),
                    });
                    responses = answered.collect();
                }
            }
        }
    }

    /// The limits of time, and the bodies, that were sent.
    fn sent(&self) -> (Vec<u64>, Vec<&Content>) {
        let sent = self.asked.iter().map(|effect| match effect {
            Effect::Http {
                body: Some(body),
                timeout_ms,
                ..
            } => (*timeout_ms, body),
            other => panic!("{other:?}"),
        });
        sent.unzip()
    }
}

fn http(status: u16, body: &str) -> Outcome {
    Outcome::Http(HttpAnswer {
        status,
        headers: Vec::new(),
        body: Bytes(body.as_bytes().to_vec()),
    })
}

fn failed(code: FailureCode) -> Outcome {
    Outcome::Failed(Failure::new(code, "no"))
}

#[test]
fn what_is_busy_is_asked_again_with_the_same_bytes() {
    let broken = failed(FailureCode::Network);
    let mut world = World::new(vec![http(429, "{}"), broken, http(200, DONE)]);
    let answer = world.run(flow("anthropic/x", request(), 60_000)).unwrap();
    assert_eq!((&*answer.text, answer.usage.output), ("Done.", 5));
    assert_eq!(world.slept, [500, 1_000]);
    let (limits, bodies) = world.sent();
    assert_eq!(limits, [60_000, 58_500, 56_500]);
    assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]));
    let Content::Text(body) = bodies[0] else {
        panic!("{bodies:?}")
    };
    assert!(body.starts_with(r#"{"model":"own","messages":[{"role":"user","content":"Hi"},"#));
}

#[test]
fn a_pause_that_the_server_asks_for_is_made() {
    let busy = Outcome::Http(HttpAnswer {
        status: 529,
        headers: vec![Header {
            name: "retry-after".to_owned(),
            value: "7".to_owned(),
        }],
        body: Bytes(Vec::new()),
    });
    let mut world = World::new(vec![busy, http(200, DONE)]);
    assert!(world.run(flow("anthropic/x", request(), 60_000)).is_ok());
    assert_eq!(world.slept, [7_000]);
}

#[test]
fn three_more_tries_are_all() {
    let mut world = World::new(vec![http(503, "{}"); 9]);
    let error = world.run(flow("anthropic/x", request(), 60_000));
    assert_eq!(error.unwrap_err().code, Code::ModelBusy);
    assert_eq!((world.asked.len(), world.slept.len()), (4, 3));
}

#[test]
fn there_is_no_try_without_time_for_it() {
    for outcome in [http(503, "{}"), failed(FailureCode::Timeout)] {
        let code = match &outcome {
            Outcome::Http(_) => Code::ModelBusy,
            _ => Code::Timeout,
        };
        // A second for each question, half a second and a second for the pauses: 2,500 are gone before
        // the second pause, which would end at 3,500.
        for (limit_ms, tries) in [(1_500, 1), (1_501, 2), (3_500, 2), (3_501, 3)] {
            let mut world = World::new(vec![outcome.clone(); 9]);
            let error = world.run(flow("anthropic/x", request(), limit_ms));
            assert_eq!(error.unwrap_err().code, code);
            assert_eq!(world.asked.len(), tries, "{limit_ms}");
        }
    }
}

#[test]
fn what_stays_wrong_is_asked_once_and_says_no_key() {
    for (outcome, code) in [
        (http(400, "{}"), Code::ModelRefused),
        (http(422, "{}"), Code::ModelRefused),
        (
            http(401, &format!(r#"{{"error":{{"message":"bad {KEY}"}}}}"#)),
            Code::ModelAuth,
        ),
        (http(404, "{}"), Code::ModelNotFound),
        (http(200, KEY), Code::ModelAnswer),
        (http(200, r#"{"content":null}"#), Code::ModelAnswer),
        (failed(FailureCode::TooLarge), Code::TooLarge),
        (failed(FailureCode::Unsupported), Code::Unsupported),
        (
            Outcome::Failed(Failure::new(FailureCode::Other, format!("header {KEY}"))),
            Code::Other,
        ),
    ] {
        let mut world = World::new(vec![outcome, http(200, DONE)]);
        let error = world
            .run(flow("anthropic/x", request(), 60_000))
            .unwrap_err();
        assert_eq!((error.code, world.asked.len()), (code, 1));
        assert!(!error.message.contains(KEY), "{error}");
    }
    let mut prefix = request();
    prefix.prefix = Some("{}".to_owned());
    for model in ["anthropic/x", "openai/x", "function"] {
        let mut world = World::new(Vec::new());
        let error = world.run(flow(model, prefix.clone(), 60_000)).unwrap_err();
        assert_eq!((error.code, world.asked.len()), (Code::InvalidArgument, 0));
    }
}

#[test]
fn a_cancellation_ends_it_wherever_it_is() {
    for model in ["anthropic/x", "function"] {
        for at in 0..7 {
            let answers = match model {
                "function" => vec![Outcome::Text("Done.".to_owned())],
                _ => vec![http(429, "{}"), http(200, DONE)],
            };
            let mut world = World::new(answers);
            let mut flow = flow(model, request(), 60_000);
            let mut responses = Vec::new();
            let ended = (0..).find_map(|step| {
                if step == at {
                    flow.cancel();
                }
                match flow.resume(std::mem::take(&mut responses)) {
                    Ok(Step::Done(_)) => Some((step, None)),
                    Err(error) => Some((step, Some(error.code))),
                    Ok(Step::Effects(requests)) => {
                        let answered = requests.into_iter().map(|request| Response {
                            id: request.id,
                            outcome: world.perform(request.effect),
                        });
                        responses = answered.collect();
                        None
                    }
                }
            });
            let (step, code) = ended.unwrap();
            let is_cancelled = step >= at;
            assert_eq!(code, is_cancelled.then_some(Code::Aborted), "{model} {at}");
            assert!(!is_cancelled || step == at, "{model} {at}: went on");
        }
    }
}

/// What the caller's function is asked, and what becomes of its answer.
fn asked_function(request: ToolRequest, said: &str) -> (serde_json::Value, ToolAnswer) {
    let mut world = World::new(vec![Outcome::Text(said.to_owned())]);
    let answer = world.run(flow("function", request, 60_000)).unwrap();
    match &*world.asked {
        [
            Effect::Model {
                request,
                timeout_ms: 60_000,
            },
        ] => (serde_json::from_str(request).unwrap(), answer),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_function_gets_a_conversation_in_anthropics_form() {
    let mut request = request();
    request.turns.push(ToolTurn {
        answer: r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Read","input":{}}]}"#.to_owned(),
        results: vec![ToolResult {
            id: "a".to_owned(),
            name: "Read".to_owned(),
            content: "no such file".to_owned(),
            is_error: true,
        }],
    });
    request.tools.push(ToolDefinition {
        name: "Read".to_owned(),
        description: "Reads.".to_owned(),
        input_schema: serde_json::json!({"type": "object"}),
    });
    let wanted = serde_json::json!({
        "purpose": "extract-memories",
        "system": "Be brief.",
        "prefix": {"model": "own", "messages": [{"role": "user", "content": "Hi"}]},
        "tools": [{"name": "Read", "description": "Reads.", "inputSchema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Go."}]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "a", "name": "Read", "input": {}},
            ]},
            {"role": "user", "content": [{
                "type": "tool_result",
                "tool_use_id": "a",
                "content": "no such file",
                "is_error": true,
            }]},
        ],
        "maxTokens": 256,
    });
    assert_eq!(asked_function(request.clone(), "Done.").0, wanted);
    request.prefix = None;
    let asked = asked_function(request, "Done.").0;
    assert_eq!(asked.get("prefix"), Some(&serde_json::Value::Null));
}

#[test]
fn a_function_answers_with_text_or_with_blocks() {
    let texts = [
        "Done.",
        "",
        "{",
        "[]",
        r#"{"content":"x"}"#,
        r#"{"contents":[]}"#,
        r#"{"content":[]} and more"#,
    ];
    for text in texts {
        let answer = asked_function(request(), text).1;
        assert_eq!((&*answer.text, answer.calls.len()), (text, 0));
        assert_eq!(answer.usage, Usage::default());
        // It can be sent back.
        let mut next = request();
        next.turns.push(ToolTurn {
            answer: answer.answer,
            results: Vec::new(),
        });
        let asked = asked_function(next, "Done.").0;
        assert_eq!(
            asked["messages"][1],
            serde_json::json!({"role": "assistant", "content": text})
        );
    }
    let answer = asked_function(
        request(),
        r#" {"content":[{"type":"text","text":"Look."},{"type":"tool_use","name":"Read","input":{"a": 1}}],
            "usage":{"input_tokens":7,"output_tokens":5},"stop_reason":"max_tokens"}"#,
    )
    .1;
    assert_eq!(&*answer.text, "Look.");
    let [call] = &*answer.calls else {
        panic!("{answer:?}")
    };
    assert_eq!(
        (&*call.id, &*call.name, &*call.input),
        ("call_0", "Read", r#"{"a": 1}"#)
    );
    assert_eq!((answer.usage.total(), answer.is_cut), (12, true));
}
