//! A key reaches the header that it is for, and nothing that anybody reads.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fmt::Write;

use memdir_core::flow::{Effect, Flow, HttpAnswer, Step};
use memdir_core::model::{Key, ModelOptions, ModelRequest};
use memdir_core::rules::encode_model_request;
use memdir_core::store::{OpenOptions, RecallOptions, Store};
use memdir_simulation::{Attempt, OLD_MS, Session, SimHost, Tree, memory};

const KEY: &str = "sk-ant-0451-deadbeef";

fn tree() -> Tree {
    let mut tree = Tree::new();
    tree.file("/mem/a.md", memory("the harbour pipeline", "Text."))
        .at(OLD_MS);
    tree.file("/mem/b.md", memory("numbering of invoices", "Text."))
        .at(OLD_MS);
    tree
}

/// Every answer in which a server may say the key back.
fn telling(key: &str) -> Vec<Attempt<HttpAnswer>> {
    let mut attempts = Vec::new();
    for status in [400, 401, 403, 404, 418, 429, 500] {
        for said in [
            key.to_owned(),
            format!("Bearer {key}"),
            format!("bad key \"{key}\"!"),
            key.repeat(3),
        ] {
            let body = serde_json::json!({"error": {"message": said}}).to_string();
            attempts.push(Attempt::http(status, &[("x-your-key", key)], &body));
        }
        attempts.push(Attempt::http(status, &[], key));
    }
    attempts.push(Attempt::http(200, &[], key));
    attempts.push(Attempt::http(
        200,
        &[],
        &format!("{{\"content\": \"{key}\"}}"),
    ));
    attempts
}

/// Everything that a caller or a log can see of one recall.
fn visible(session: &mut Session) -> String {
    let mut seen = String::new();
    let recall = session.recall("harbour pipeline");
    write!(
        seen,
        "{recall:?} {:?} {:?}",
        session.store, session.host.events
    )
    .unwrap();
    if let Ok(recall) = &recall {
        write!(
            seen,
            "{} {}",
            serde_json::to_string(recall).unwrap(),
            recall.render()
        )
        .unwrap();
    }
    for traced in session.performed() {
        write!(seen, "{:?}", traced.effect).unwrap();
    }
    session.close().unwrap();
    write!(seen, "{} {}", session.host.stdout, session.host.stderr).unwrap();
    for path in session.host.tree.nodes().keys() {
        let path = String::from_utf8_lossy(path).into_owned();
        write!(seen, "{path} {:?}", session.file(&path)).unwrap();
    }
    seen
}

#[test]
fn a_key_that_a_server_says_back_is_seen_nowhere() {
    for name in ["anthropic/claude-x", "openai/qwen"] {
        for attempt in telling(KEY) {
            let mut session =
                Session::new(tree(), "/mem").provider(name, KEY, vec![attempt.clone(); 4]);
            let seen = visible(&mut session);
            assert!(
                !seen.contains("0451") && !seen.contains("deadbeef"),
                "{seen}"
            );
            assert!(seen.contains("model-failed"), "{seen}");
        }
        // It was sent, though.
        let session = &mut Session::new(tree(), "/mem").provider(name, KEY, vec![]);
        session.recall("harbour pipeline").unwrap();
        let asked = session.asked(|effect| matches!(effect, Effect::Http { .. }));
        for effect in asked {
            let Effect::Http {
                headers, url, body, ..
            } = effect
            else {
                continue;
            };
            let with_key = headers.iter().filter(|header| header.value.contains(KEY));
            assert_eq!(with_key.count(), 1);
            assert!(!url.contains(KEY));
            assert!(!String::from_utf8_lossy(body.as_ref().unwrap().as_bytes()).contains(KEY));
        }
    }
}

#[test]
fn no_part_of_a_key_is_seen_where_a_long_message_is_cut() {
    for before in 150..220 {
        let said = format!("{}{KEY}", "x".repeat(before));
        let body = serde_json::json!({"error": {"message": said}}).to_string();
        let attempts = vec![Attempt::http(401, &[], &body)];
        let mut session = Session::new(tree(), "/mem").provider("anthropic/x", KEY, attempts);
        let seen = visible(&mut session);
        assert!(!seen.contains("sk-ant"), "{before}: {seen}");
    }
}

#[test]
fn a_key_that_comes_back_as_the_choice_is_not_seen() {
    let list = serde_json::json!({"selected_memories": [KEY]}).to_string();
    let body = serde_json::json!({"content": [{"type": "text", "text": list}]}).to_string();
    let attempts = vec![Attempt::http(200, &[], &body)];
    let mut session = Session::new(tree(), "/mem").provider("anthropic/x", KEY, attempts);
    let seen = visible(&mut session);
    assert!(!seen.contains("0451"), "{seen}");
}

#[test]
fn a_key_of_the_environment_is_sent_and_hidden_as_well() {
    for (name, variable) in [
        ("anthropic/claude-x", "ANTHROPIC_API_KEY"),
        ("openai/qwen", "OPENAI_API_KEY"),
    ] {
        let mut host = SimHost::with_tree(1, tree());
        host.network = Some(memdir_simulation::Network::scripted(telling(KEY)));
        let options = OpenOptions {
            directory: Some("/mem".to_owned()),
            env: [(variable.to_owned(), format!(" {KEY}\n"))].into(),
            model: Some(model(name, None)),
            ..OpenOptions::default()
        };
        let mut session = Session::with(host, options);
        let seen = visible(&mut session);
        assert!(
            seen.contains("model-failed") && !seen.contains("0451"),
            "{seen}"
        );
        let sent = session
            .host
            .trace
            .iter()
            .any(|traced| match &traced.effect {
                Effect::Http { headers, .. } => {
                    headers.iter().any(|header| header.value.ends_with(KEY))
                }
                _ => false,
            });
        assert!(sent, "{name}");
    }
}

fn model(name: &str, key: Option<&str>) -> ModelOptions {
    ModelOptions {
        name: name.to_owned(),
        api_key: key.map(|key| Key(key.to_owned())),
        base_url: None,
    }
}

#[test]
fn debug_hides_keys_at_every_stage() {
    let options = OpenOptions {
        directory: Some("/mem".to_owned()),
        model: Some(model("anthropic/x", Some(KEY))),
        ..OpenOptions::default()
    };
    assert!(!format!("{options:?}").contains("0451"));
    let store = Store::new(options);
    let mut flow: Flow<_> = store.recall("harbour pipeline".into(), RecallOptions::default());
    let mut host = SimHost::with_tree(1, tree());
    host.network = Some(memdir_simulation::Network::scripted(telling(KEY)));
    let mut answers = Vec::new();
    let mut requests = 0;
    loop {
        assert!(!format!("{flow:?} {store:?}").contains("0451"));
        let step = flow.resume(std::mem::take(&mut answers)).unwrap();
        assert!(!format!("{step:?}").contains("0451"));
        let Step::Effects(effects) = step else { break };
        for request in effects {
            requests += usize::from(matches!(request.effect, Effect::Http { .. }));
            let outcome = host
                .run(memdir_core::flow::probe(vec![request.effect]))
                .unwrap()
                .remove(0);
            answers.push(memdir_core::flow::Response {
                id: request.id,
                outcome,
            });
        }
    }
    assert!(requests > 0);

    let request = ModelRequest {
        purpose: "select-memories".to_owned(),
        system: String::new(),
        messages: vec![],
        max_tokens: 1,
        schema: None,
    };
    for name in ["anthropic/x", "openai/x"] {
        let http = encode_model_request(&model(name, Some(KEY)), &request).unwrap();
        assert!(http.headers.iter().any(|header| header.value.contains(KEY)));
        assert!(!format!("{http:?}").contains("0451"));
    }
    // What is wrong with a key does not show it.
    let bad = encode_model_request(&model("openai/x", Some("0451 0451")), &request);
    assert!(!format!("{bad:?}").contains("0451"));
}

#[test]
fn debug_of_the_options_hides_the_environment() {
    let options = OpenOptions {
        env: [("ANTHROPIC_API_KEY".to_owned(), KEY.to_owned())].into(),
        ..OpenOptions::default()
    };
    assert!(!format!("{options:?}").contains("0451"));
}
