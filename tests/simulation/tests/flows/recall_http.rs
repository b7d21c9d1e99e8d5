//! A recall that asks a provider over HTTP: what goes over the wire, what is tried again, how long
//! it takes (the recall rules; facts 11.3 for the pauses).
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use memdir_core::flow::{Content, Effect, FailureCode, HttpAnswer};
use memdir_core::report::ReportCode as Code;
use memdir_core::store::{Recall, RecallReason};
use memdir_simulation::{Attempt, OLD_MS, Session, Tree, codes, memory, paths};

const QUERY: &str = "harbour pipeline";
const ANTHROPIC: &str = "anthropic/claude-x";
const OPENAI: &str = "openai/qwen";

fn tree() -> Tree {
    let mut tree = Tree::new();
    for (name, description) in [
        ("a.md", "how the shop is deployed"),
        ("b.md", "numbering of invoices"),
        ("f.md", "the harbour pipeline"),
    ] {
        tree.file(format!("/mem/{name}"), memory(description, "Text."))
            .at(OLD_MS);
    }
    tree
}

fn session(name: &str, attempts: Vec<Attempt<HttpAnswer>>) -> Session {
    Session::new(tree(), "/mem").provider(name, "sk-0451", attempts)
}

/// What Anthropic answers when its model says this.
fn anthropic(text: &str) -> String {
    serde_json::json!({"type": "message", "content": [
        {"type": "thinking", "thinking": "[\"a.md\"]"},
        {"type": "text", "text": text},
    ]})
    .to_string()
}

fn openai(text: &str) -> String {
    serde_json::json!({"choices": [
        {"message": {"role": "assistant", "content": text, "reasoning_content": "[\"a.md\"]"}},
        {"message": {"content": "[\"a.md\"]"}},
    ]})
    .to_string()
}

fn good() -> Attempt<HttpAnswer> {
    Attempt::http(200, &[], &anthropic(r#"{"selected_memories": ["b.md"]}"#))
}

fn status(status: u16) -> Attempt<HttpAnswer> {
    Attempt::http(status, &[], r#"{"error": {"message": "no"}}"#)
}

fn is_chosen(recall: &Recall) -> bool {
    let chosen = recall
        .memories
        .iter()
        .all(|one| one.reason == RecallReason::Model);
    chosen && paths(recall) == ["b.md"] && recall.report.is_empty()
}

fn is_lexical(recall: &Recall) -> bool {
    let lexical = recall
        .memories
        .iter()
        .all(|one| one.reason == RecallReason::Lexical);
    lexical && paths(recall) == ["f.md"] && codes(recall) == [("", Code::ModelFailed)]
}

/// Address, headers, body, limit of time and of bytes of every request.
type Sent = (String, Vec<(String, String)>, serde_json::Value, u64, u64);

fn sent(session: &Session) -> Vec<Sent> {
    let effects = session.performed().iter().map(|traced| &traced.effect);
    effects
        .filter_map(|effect| match effect {
            Effect::Http {
                method,
                url,
                headers,
                body: Some(Content::Text(body)),
                timeout_ms,
                max_bytes,
            } => {
                assert_eq!(method, "POST");
                let headers = headers
                    .iter()
                    .map(|header| (header.name.clone(), header.value.clone()));
                let body = serde_json::from_str(body).unwrap();
                Some((
                    url.clone(),
                    headers.collect(),
                    body,
                    *timeout_ms,
                    *max_bytes,
                ))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn both_providers_are_asked_in_their_own_way() {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut session = session(ANTHROPIC, vec![good()]);
    assert!(is_chosen(&session.recall(QUERY).unwrap()));
    let [(url, headers, body, timeout_ms, max_bytes)] = sent(&session).try_into().unwrap();
    assert_eq!(url, "https://api.anthropic.com/v1/messages");
    let wanted = [
        header("anthropic-version", "2023-06-01"),
        header("content-type", "application/json"),
        header("x-api-key", "sk-0451"),
    ];
    assert_eq!(headers, wanted);
    assert_eq!((timeout_ms, max_bytes), (10_000, 1_048_576));
    assert_eq!(body["model"], "claude-x");
    assert_eq!(body["output_config"]["format"]["type"], "json_schema");
    let wanted = serde_json::json!(["selected_memories"]);
    assert_eq!(
        body["output_config"]["format"]["schema"]["required"],
        wanted
    );
    assert_eq!(body["messages"][0]["role"], "user");

    let answer = Attempt::http(200, &[], &openai(r#"["b.md"]"#));
    let mut session = self::session(OPENAI, vec![answer]);
    assert!(is_chosen(&session.recall(QUERY).unwrap()));
    let [(url, headers, body, ..)] = sent(&session).try_into().unwrap();
    assert_eq!(url, "https://api.openai.com/v1/chat/completions");
    let wanted = [
        header("content-type", "application/json"),
        header("authorization", "Bearer sk-0451"),
    ];
    assert_eq!(headers, wanted);
    assert_eq!(body["model"], "qwen");
    assert_eq!(body["response_format"]["json_schema"]["strict"], true);
    assert_eq!(body["messages"][0]["role"], "system");
    assert!(body["max_completion_tokens"].is_u64() && body["max_tokens"].is_null());
}

#[test]
fn what_cannot_get_better_is_not_tried_again() {
    let whole = anthropic(r#"["b.md"]"#);
    let thinking = r#"{"content": [{"type": "thinking", "thinking": "[\"b.md\"]"}]}"#;
    let attempts = [
        status(401),
        status(403),
        status(404),
        status(402),
        status(413),
        status(301),
        Attempt::http(404, &[("retry-after", "1")], ""),
        Attempt::http(200, &[], ""),
        Attempt::http(200, &[], "<html>b.md</html>"),
        Attempt::http(200, &[], r#"["b.md"]"#),
        Attempt::http(200, &[], r#"{"content": []}"#),
        Attempt::http(200, &[], &anthropic(" \n")),
        Attempt::http(200, &[], &anthropic("b.md, I would say")),
        Attempt::http(200, &[], thinking),
        Attempt::http(200, &[], &openai(r#"["b.md"]"#)),
        Attempt::http(200, &[], &whole).cut(whole.len() - 1),
        Attempt::http(200, &[], &whole).cut(whole.len() / 2),
        Attempt::http(200, &[], &anthropic(&" ".repeat(1_048_576))),
        Attempt::fail(FailureCode::Unsupported),
        Attempt::fail(FailureCode::TooLarge),
        Attempt::fail(FailureCode::Other),
    ];
    for attempt in attempts {
        let mut session = session(ANTHROPIC, vec![attempt.clone(), good()]);
        let began = session.host.clock_ms;
        let recall = session.recall(QUERY).unwrap();
        assert!(is_lexical(&recall), "{attempt:?}: {recall:?}");
        assert_eq!(session.asked_model(), 1, "{attempt:?}");
        assert_eq!(
            (session.pauses(), session.host.clock_ms),
            (vec![], began),
            "{attempt:?}"
        );
    }
    // Reasoning alone is no answer of OpenAI's either.
    for content in ["null", "\"\"", "[]", r#"[{"type": "reasoning"}]"#] {
        let body = format!(
            r#"{{"choices": [{{"message": {{"content": {content}, "reasoning": "[\"b.md\"]"}}}}]}}"#
        );
        let mut session = session(OPENAI, vec![Attempt::http(200, &[], &body)]);
        assert!(is_lexical(&session.recall(QUERY).unwrap()), "{body}");
        assert_eq!(session.asked_model(), 1, "{body}");
    }
}

/// Everything that may be better the next time.
fn passing() -> Vec<Attempt<HttpAnswer>> {
    let mut attempts: Vec<_> = [408, 409, 429, 500, 502, 503, 529, 599]
        .map(status)
        .to_vec();
    attempts.push(Attempt::fail(FailureCode::Network));
    attempts.push(Attempt::fail(FailureCode::Timeout).after(100));
    attempts.push(Attempt::http(
        429,
        &[("retry-after", "Mon, 01 Jun 2026 12:00:00 GMT")],
        "",
    ));
    attempts.push(Attempt::http(503, &[("retry-after", "soon")], ""));
    attempts
}

#[test]
fn what_may_pass_is_tried_three_times_more_with_growing_pauses() {
    for attempt in passing() {
        for failures in 0..5 {
            let mut attempts = vec![attempt.clone(); failures];
            attempts.push(good());
            let mut session = session(ANTHROPIC, attempts);
            let recall = session.recall(QUERY).unwrap();
            assert_eq!(is_chosen(&recall), failures < 4, "{failures} x {attempt:?}");
            assert_eq!(
                is_lexical(&recall),
                failures == 4,
                "{failures} x {attempt:?}"
            );
            assert_eq!(session.asked_model(), (failures + 1).min(4));
            let pauses = session.pauses();
            assert_eq!(pauses.len(), failures.min(3), "{attempt:?}");
            for (pause, least) in pauses.iter().zip([500, 1_000, 2_000]) {
                assert!((least..=least + least / 4).contains(pause), "{pauses:?}");
            }
        }
    }
}

#[test]
fn pauses_differ_so_that_many_do_not_come_back_at_once() {
    let mut first = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let mut session = session(ANTHROPIC, vec![status(503), good()]);
        let mut host = memdir_simulation::SimHost::with_tree(seed, session.host.tree.clone());
        host.network = session.host.network.take();
        session.host = host;
        assert!(is_chosen(&session.recall(QUERY).unwrap()));
        first.extend(session.pauses());
    }
    assert!(first.len() > 10, "{first:?}");
    assert!(
        first.iter().all(|pause| (500..=625).contains(pause)),
        "{first:?}"
    );
}

#[test]
fn a_retry_after_is_honoured_as_long_as_there_is_time() {
    for (seconds, took) in [
        ("0", Some(0)),
        ("1", Some(1_000)),
        (" 3 ", Some(3_000)),
        ("9", Some(9_000)),
        ("10", None),
        ("11", None),
        ("3600", None),
        ("18446744073709551615", None),
    ] {
        for code in [429, 503] {
            let busy = Attempt::http(code, &[("date", "x"), ("retry-after", seconds)], "");
            let mut session = session(ANTHROPIC, vec![busy, good()]);
            let began = session.host.clock_ms;
            let recall = session.recall(QUERY).unwrap();
            assert_eq!(
                session.host.clock_ms - began,
                took.unwrap_or(0),
                "{seconds}"
            );
            assert_eq!(is_chosen(&recall), took.is_some(), "{seconds}");
            assert_eq!(is_lexical(&recall), took.is_none(), "{seconds}");
            assert_eq!(session.asked_model(), if took.is_some() { 2 } else { 1 });
        }
    }
    // The second time there is less left.
    let busy = Attempt::http(429, &[("retry-after", "5")], "");
    let mut session = session(ANTHROPIC, vec![busy.clone(), busy, good()]);
    let began = session.host.clock_ms;
    assert!(is_lexical(&session.recall(QUERY).unwrap()));
    assert_eq!(
        (session.asked_model(), session.host.clock_ms - began),
        (2, 5_000)
    );
}

#[test]
fn all_tries_together_take_ten_seconds_at_most() {
    for delay_ms in [
        0, 100, 900, 1_700, 2_500, 3_000, 4_000, 5_000, 9_499, 9_500, 9_999, 10_000, 60_000,
    ] {
        for attempt in [
            status(503),
            Attempt::fail(FailureCode::Network),
            Attempt::hang(),
        ] {
            let mut session = session(ANTHROPIC, vec![attempt.after(delay_ms); 8]);
            let began = session.host.clock_ms;
            assert!(is_lexical(&session.recall(QUERY).unwrap()));
            assert!(session.host.clock_ms - began <= 10_000, "{delay_ms}");
            // Each try gets what is left and no more.
            let mut gone = 0;
            let mut pauses = session.pauses().into_iter();
            let sent = sent(&session);
            assert!((1..=4).contains(&sent.len()));
            for (_, _, _, timeout_ms, _) in sent {
                assert_eq!(timeout_ms, 10_000 - gone, "{delay_ms}");
                gone += delay_ms + pauses.next().unwrap_or(0);
            }
        }
    }
    let mut session = session(ANTHROPIC, vec![Attempt::hang(), good()]);
    let began = session.host.clock_ms;
    assert!(is_lexical(&session.recall(QUERY).unwrap()));
    assert_eq!(
        (session.asked_model(), session.host.clock_ms - began),
        (1, 10_000)
    );
}

#[test]
fn a_pause_that_takes_too_long_is_the_last_thing_that_happens() {
    let mut session = session(ANTHROPIC, vec![status(503), good()]);
    session.host.oversleep_ms = 20_000;
    assert!(is_lexical(&session.recall(QUERY).unwrap()));
    assert_eq!(
        session.asked_model(),
        1,
        "no request without time for an answer"
    );
}

#[test]
fn a_server_without_schemas_is_asked_once_more_without_one() {
    let has_schema = |session: &Session| -> Vec<bool> {
        let sent = sent(session);
        sent.iter()
            .map(|(_, _, body, ..)| !body["output_config"].is_null())
            .collect()
    };
    for code in [400, 422] {
        let mut session = session(ANTHROPIC, vec![status(code), good()]);
        assert!(is_chosen(&session.recall(QUERY).unwrap()), "{code}");
        assert_eq!(has_schema(&session), [true, false]);
        assert_eq!(session.pauses(), [0; 0]);

        let mut session = self::session(ANTHROPIC, vec![status(code), status(code), good()]);
        assert!(is_lexical(&session.recall(QUERY).unwrap()), "{code}");
        assert_eq!(has_schema(&session), [true, false]);

        // What is busy then is tried again, still without.
        let attempts = vec![status(code), status(503), good()];
        let mut session = self::session(ANTHROPIC, attempts);
        assert!(is_chosen(&session.recall(QUERY).unwrap()), "{code}");
        assert_eq!(has_schema(&session), [true, false, false]);
    }
    let mut session = session(ANTHROPIC, vec![status(503), status(400), good()]);
    assert!(is_chosen(&session.recall(QUERY).unwrap()));
    assert_eq!(has_schema(&session), [true, true, false]);
    // The next recall begins with one.
    session.host.network = Some(memdir_simulation::Network::scripted(vec![good()]));
    assert!(is_chosen(&session.recall(QUERY).unwrap()));
    assert_eq!(has_schema(&session), [true]);
}
