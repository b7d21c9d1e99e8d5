//! A recall whose memories a model chooses: what it is shown, and that whatever it answers never
//! brings up a wrong file (facts 5.2, 5.3).
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

use memdir_core::error::ErrorCode;
use memdir_core::flow::{Effect, FailureCode};
use memdir_core::model::ModelRequest;
use memdir_core::recall::ToolResult;
use memdir_core::report::ReportCode as Code;
use memdir_core::store::{Recall, RecallOptions, RecallReason, Strategy};
use memdir_simulation::{Attempt, OLD_MS, Session, Tree, codes, memory, paths};

const QUERY: &str = "harbour pipeline";

fn tree() -> Tree {
    let mut tree = Tree::new();
    for (at, (name, description)) in [
        ("a.md", "how the shop is deployed"),
        ("b.md", "numbering of invoices"),
        ("c.md", "how products are found"),
        ("d.md", "colours of the brand"),
        ("e.md", "tax of books"),
        ("f.md", "the harbour pipeline"),
        ("sub/g.md", "who reviews"),
    ]
    .into_iter()
    .enumerate()
    {
        tree.file(format!("/mem/{name}"), memory(description, "Text."))
            .at(OLD_MS + at as i64);
    }
    tree.file("/mem/MEMORY.md", "- [F](f.md) harbour\n");
    tree.file("/mem/.memdir/own.md", memory("own", "harbour pipeline"));
    tree.file("/mem/plain.txt", "harbour pipeline");
    tree.file("/etc/secret.md", memory("harbour pipeline", "secret"));
    tree
}

fn session() -> Session {
    Session::new(tree(), "/mem")
}

fn request(session: &Session) -> ModelRequest {
    let asked = session.asked(|effect| matches!(effect, Effect::Model { .. }));
    match asked.as_slice() {
        [Effect::Model { request, .. }] => serde_json::from_str(request).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn user_text(session: &Session) -> String {
    let request = request(session);
    match request.messages.as_slice() {
        [message] => message.content.clone(),
        other => panic!("{other:?}"),
    }
}

fn is_lexical(recall: &Recall) -> bool {
    paths(recall) == ["f.md"]
        && recall
            .memories
            .iter()
            .all(|one| one.reason == RecallReason::Lexical)
}

#[test]
fn the_model_is_asked_for_a_list_of_paths_and_nothing_else() {
    let mut session = session().saying(r#"{"selected_memories": ["sub/g.md", "f.md"]}"#);
    let options = RecallOptions {
        recent_tools: vec!["grep\n## Memories".to_owned()],
        tool_results: [
            ("Bash", Some(true)),
            ("Read", Some(true)),
            ("Read", Some(false)),
            ("Edit", None),
        ]
        .map(|(tool, ok)| ToolResult {
            tool: tool.to_owned(),
            ok,
        })
        .to_vec(),
        ..RecallOptions::default()
    };
    let recall = session.recall_with(QUERY, options).unwrap();
    assert_eq!(paths(&recall), ["sub/g.md", "f.md"], "in the model's order");
    assert_eq!(codes(&recall), []);
    let scores: Vec<bool> = recall
        .memories
        .iter()
        .map(|one| one.score.is_some())
        .collect();
    assert_eq!(scores, [false, true], "a score where words fit");
    assert!(
        recall
            .memories
            .iter()
            .all(|one| one.reason == RecallReason::Model)
    );

    let asked = request(&session);
    assert_eq!(asked.purpose, "select-memories");
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"selected_memories": {"type": "array", "items": {"type": "string"}}},
        "required": ["selected_memories"],
        "additionalProperties": false,
    });
    assert_eq!(asked.schema, Some(schema));
    // The newest first; the index, memdir's own files and other files are no memories.
    let text = user_text(&session);
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("- ")).collect();
    let named: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.split(' ').nth(2))
        .collect();
    assert_eq!(
        named,
        ["sub/g.md", "f.md", "e.md", "d.md", "c.md", "b.md", "a.md"]
    );
    // 1,773,000,000,005 ms.
    assert_eq!(
        lines.get(1),
        Some(&"- [project] f.md (2026-03-08T20:00:00.005Z): the harbour pipeline")
    );
    assert!(text.starts_with("Query: harbour pipeline\n\n"), "{text}");
    // What failed and what runs is not in use; a name cannot begin a section.
    assert!(
        text.ends_with("\n\n## Tools in use\n\ngrep ## Memories, Bash"),
        "{text}"
    );
    assert_eq!(text.matches("\n## Memories\n").count(), 1, "{text}");
}

#[test]
fn what_a_model_says_around_its_list_does_not_matter() {
    for answer in [
        r#"{"selected_memories": ["b.md", "sub/g.md"]}"#,
        r#"["b.md", "sub/g.md"]"#,
        "Sure! These help: {\"selected_memories\": [\"b.md\", \"sub/g.md\"]}. Anything else?",
        "```json\n{\"selected_memories\": [\"b.md\", \"sub/g.md\"]}\n```\n",
        "{\"selected_memories\": [\"a.md\"]} or better {\"selected_memories\": [\" b.md \", \"sub/g.md\\n\"]}",
        r#"{"thoughts": {"x": ["a.md"]}, "selected_memories": ["b.md", "sub/g.md"]}"#,
        r#"{"selected_memories": ["b.md", "sub/g.md", "b.md", "sub/g.md"]}"#,
        "\u{FEFF}  \r\n{\r\n\"selected_memories\":[\"b.md\",\r\n\"sub/g.md\"]}",
    ] {
        let mut session = session().saying(answer);
        let recall = session.recall(QUERY).unwrap();
        assert_eq!(paths(&recall), ["b.md", "sub/g.md"], "{answer}");
        assert_eq!(codes(&recall), [], "{answer}");
    }
}

#[test]
fn only_candidates_can_be_chosen() {
    for name in [
        "nothing.md",
        "B.md",
        "b",
        "./b.md",
        "sub/../b.md",
        "sub\\g.md",
        "g.md",
        "/mem/b.md",
        "/etc/secret.md",
        "../etc/secret.md",
        "../../etc/secret.md",
        "MEMORY.md",
        ".memdir/own.md",
        ".memdir/uses.json",
        "plain.txt",
        "[project] b.md",
        "b.md\u{0}",
        "",
        "*",
    ] {
        let answer = serde_json::json!({"selected_memories": [name, "d.md"]}).to_string();
        let mut session = session().saying(&answer);
        let recall = session.recall(QUERY).unwrap();
        assert_eq!(paths(&recall), ["d.md"], "{name:?}");
        assert_eq!(codes(&recall), [("", Code::ModelAnswerCut)], "{name:?}");
        let opened = session.read();
        assert!(
            opened.iter().all(|path| path.starts_with("/mem/")),
            "{opened:?}"
        );
        assert!(
            !opened.iter().any(|path| path.ends_with("own.md")),
            "{opened:?}"
        );
        // Alone it is a choice of nothing.
        let answer = serde_json::json!({"selected_memories": [name]}).to_string();
        let recall = session.fresh().saying(&answer).recall(QUERY).unwrap();
        assert_eq!(paths(&recall), [""; 0], "{name:?}");
        assert_eq!(codes(&recall), [("", Code::ModelAnswerCut)], "{name:?}");
    }
    let mut session = session().saying(r#"[1, null, {"path": "b.md"}, ["b.md"], true, "d.md"]"#);
    let recall = session.recall(QUERY).unwrap();
    assert_eq!(paths(&recall), ["d.md"]);
    assert_eq!(codes(&recall), [("", Code::ModelAnswerCut)]);
}

#[test]
fn a_sixth_choice_is_dropped_and_named() {
    let mut session = session().saying(r#"["a.md", "b.md", "c.md", "d.md", "e.md", "f.md"]"#);
    let recall = session.recall(QUERY).unwrap();
    assert_eq!(paths(&recall), ["a.md", "b.md", "c.md", "d.md", "e.md"]);
    assert_eq!(codes(&recall), [("", Code::ModelAnswerCut)]);
    assert!(
        recall
            .report
            .iter()
            .any(|entry| entry.message.contains("f.md"))
    );
}

#[test]
fn an_empty_list_is_an_answer() {
    for answer in [
        r#"{"selected_memories": []}"#,
        "[]",
        "None of them.\n```\n{\"selected_memories\": []}\n```",
        r#"{"selected_memories": ["f.md"]} no: {"selected_memories": []}"#,
    ] {
        let mut session = session().saying(answer);
        let recall = session.recall(QUERY).unwrap();
        assert_eq!(
            (paths(&recall), codes(&recall)),
            (vec![], vec![]),
            "{answer}"
        );
        assert_eq!(session.asked_model(), 1);
    }
}

#[test]
fn an_answer_without_a_list_leaves_the_choice_to_words() {
    for answer in [
        "",
        " \n",
        "I would take b.md and sub/g.md.",
        "<thinking>b.md is about invoices</thinking>",
        r#"{"selected_memories": ["b.md", "sub/g"#,
        r#"{"selected_memories": ["b.md", "sub/g.md""#,
        r#"{"selected_memories": "b.md"}"#,
        r#"{"selected_memories": null}"#,
        r#"{"memories": "b.md"}"#,
        r#"{"selected": {"memories": {"b.md": true}}}"#,
        "null",
        "42",
        "\u{0}",
        "[b.md, sub/g.md]",
        "]b.md[",
    ] {
        let mut session = session().saying(answer);
        let recall = session.recall(QUERY).unwrap();
        assert!(is_lexical(&recall), "{answer:?}: {:?}", paths(&recall));
        assert_eq!(codes(&recall), [("", Code::ModelFailed)], "{answer:?}");
        assert_eq!(session.asked_model(), 1, "a function is not asked again");
    }
    let nested = format!("{}\"b.md\"{}", "[".repeat(100_000), "]".repeat(100_000));
    let recall = session().saying(&nested).recall(QUERY).unwrap();
    assert!(is_lexical(&recall), "{:?}", paths(&recall));
}

#[test]
fn a_function_that_fails_or_hangs_leaves_the_choice_to_words() {
    for code in [
        FailureCode::Other,
        FailureCode::Unsupported,
        FailureCode::Network,
        FailureCode::Timeout,
        FailureCode::TooLarge,
        FailureCode::Aborted,
    ] {
        for strategy in [Strategy::Auto, Strategy::Model] {
            let mut session = session().function(vec![Attempt::fail(code)]);
            let options = RecallOptions {
                strategy,
                ..RecallOptions::default()
            };
            let recall = session.recall_with(QUERY, options).unwrap();
            assert!(is_lexical(&recall), "{code:?}");
            assert_eq!(codes(&recall), [("", Code::ModelFailed)], "{code:?}");
            assert_eq!(
                (session.asked_model(), session.pauses()),
                (1, vec![]),
                "{code:?}"
            );
        }
    }
    // Ten seconds and no more.
    for (attempt, is_late, took) in [
        (Attempt::hang(), true, 10_000),
        (
            Attempt::answer(r#"["b.md"]"#.to_owned()).after(10_001),
            true,
            10_000,
        ),
        (
            Attempt::answer(r#"["b.md"]"#.to_owned()).after(9_999),
            false,
            9_999,
        ),
    ] {
        let mut session = session().function(vec![attempt]);
        let began = session.host.clock_ms;
        let recall = session.recall(QUERY).unwrap();
        assert_eq!(is_lexical(&recall), is_late);
        assert_eq!(session.host.clock_ms - began, took);
        assert_eq!(codes(&recall).len(), usize::from(is_late));
    }
}

#[test]
fn one_word_is_answered_without_the_model() {
    for query in ["harbour", " harbour\n", "Harbour?"] {
        for strategy in [Strategy::Auto, Strategy::Model] {
            let mut session = session().saying(r#"["b.md"]"#);
            let options = RecallOptions {
                strategy,
                ..RecallOptions::default()
            };
            let recall = session.recall_with(query, options).unwrap();
            assert!(is_lexical(&recall), "{query:?}");
            assert_eq!(codes(&recall), [("", Code::ModelSkipped)], "{query:?}");
            assert_eq!(session.asked_model(), 0, "{query:?}");
        }
        let recall = session().recall(query).unwrap();
        assert_eq!(
            codes(&recall),
            [],
            "without a model there is nothing to say"
        );
    }
}

#[test]
fn a_store_does_not_open_with_a_model_that_is_none() {
    for (name, key) in [
        ("", Some("k")),
        ("claude", Some("k")),
        ("anthropic/", Some("k")),
        ("openai/ ", Some("k")),
        ("google/x", Some("k")),
        ("anthropic/x", None),
        ("openai/x", Some(" ")),
        ("openai/x", Some("sk-\u{e9}t\u{e9}-0451")),
    ] {
        let mut session = session().provider(name, key.unwrap_or_default(), vec![]);
        let error = session.recall(QUERY).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidArgument, "{name:?}");
        assert!(!error.message.contains("0451"), "{error}");
        assert_eq!(session.asked_model(), 0);
    }
}

#[test]
fn a_strategy_says_who_chooses() {
    let with = |strategy| RecallOptions {
        strategy,
        ..RecallOptions::default()
    };
    let query = QUERY;
    let error = session()
        .recall_with(query, with(Strategy::Model))
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::NoModel);
    for strategy in [Strategy::Auto, Strategy::Lexical] {
        let recall = session().recall_with(query, with(strategy)).unwrap();
        assert_eq!(paths(&recall), ["f.md"]);
    }
    for (strategy, wanted, asked) in [
        (Strategy::Auto, "b.md", 1),
        (Strategy::Model, "b.md", 1),
        (Strategy::Lexical, "f.md", 0),
    ] {
        let mut session = session().saying(r#"["b.md"]"#);
        let recall = session.recall_with(query, with(strategy)).unwrap();
        assert_eq!(paths(&recall).first(), Some(&wanted), "{strategy:?}");
        assert_eq!(session.asked_model(), asked, "{strategy:?}");
        assert_eq!(codes(&recall), []);
        assert!(
            recall
                .memories
                .iter()
                .all(|one| one.score.is_some() == (asked == 0))
        );
    }
}
