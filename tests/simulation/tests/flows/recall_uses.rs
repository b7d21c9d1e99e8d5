//! Use counts: when they are written, how they add up between processes, what they change.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

use memdir_core::flow::{Effect, Failure, FailureCode, Outcome};
use memdir_core::report::ReportCode as Code;
use memdir_core::store::{Features, OpenOptions, RecallOptions};
use memdir_simulation::{Body, OLD_MS, Progress, Session, SimHost, Tree, codes, memory, paths};

const FILE: &str = "/mem/.memdir/uses.json";
const DAY_MS: i64 = 86_400_000;

fn tree() -> Tree {
    let mut tree = Tree::new();
    for (name, description) in [
        ("a.md", "the harbour pipeline"),
        ("b.md", "numbering of invoices"),
        ("sub/c.md", "colours of the brand"),
    ] {
        tree.file(format!("/mem/{name}"), memory(description, "Text."))
            .at(OLD_MS);
    }
    tree
}

fn session() -> Session {
    Session::new(tree(), "/mem")
}

/// Count and last time of each memory in the file.
fn counts(session: &Session) -> Vec<(String, u64, i64)> {
    let text = session.file(FILE).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let uses = json["uses"].as_object().unwrap();
    uses.iter()
        .map(|(path, one)| {
            let (count, last) = (one["count"].as_u64(), one["lastMs"].as_i64());
            (path.clone(), count.unwrap(), last.unwrap())
        })
        .collect()
}

fn count(path: &str, count: u64, last_ms: i64) -> (String, u64, i64) {
    (path.to_owned(), count, last_ms)
}

/// A recall that finds one memory.
fn find(session: &mut Session, query: &str) {
    let recall = session.recall(query).unwrap();
    assert_eq!(
        (recall.memories.len(), codes(&recall)),
        (1, vec![]),
        "{query}"
    );
}

#[test]
fn counts_wait_a_minute() {
    let mut session = session();
    let began = session.host.clock_ms;
    for (after_ms, written) in [(0, false), (1, false), (59_999, false), (60_000, true)] {
        session.host.clock_ms = began + after_ms;
        find(&mut session, "harbour");
        assert_eq!(session.file(FILE).is_some(), written, "{after_ms}");
    }
    assert_eq!(counts(&session), [count("a.md", 4, began + 60_000)]);
    // The next minute.
    session.host.clock_ms += 59_999;
    find(&mut session, "invoices");
    assert_eq!(counts(&session), [count("a.md", 4, began + 60_000)]);
    session.host.clock_ms += 1;
    find(&mut session, "harbour");
    let wanted = [
        count("a.md", 5, began + 120_000),
        count("b.md", 1, began + 119_999),
    ];
    assert_eq!(counts(&session), wanted);
    // Nothing is counted twice at the end.
    session.close().unwrap();
    assert_eq!(counts(&session), wanted);
    let names: Vec<&[u8]> = session
        .host
        .tree
        .nodes()
        .keys()
        .map(Vec::as_slice)
        .filter(|path| path.starts_with(b"/mem/.memdir/"))
        .collect();
    assert_eq!(
        names,
        [&b"/mem/.memdir/.gitignore"[..], b"/mem/.memdir/uses.json"]
    );
}

#[test]
fn closing_writes_what_waits_and_only_that() {
    let mut session = session();
    let began = session.host.clock_ms;
    find(&mut session, "harbour");
    find(&mut session, "colours");
    session.close().unwrap();
    let wanted = [count("a.md", 1, began), count("sub/c.md", 1, began)];
    assert_eq!(counts(&session), wanted);
    assert_eq!(
        session.file("/mem/.memdir/.gitignore").as_deref(),
        Some("*\n")
    );
    let modes = [
        ("/mem/.memdir", 0o700),
        ("/mem/.memdir/.gitignore", 0o600),
        (FILE, 0o600),
    ];
    for (path, mode) in modes {
        assert_eq!(
            session.host.tree.node(path).map(|node| node.mode),
            Some(mode),
            "{path}"
        );
    }
    session.close().unwrap();
    assert_eq!(
        (counts(&session), session.performed().len()),
        (wanted.to_vec(), 0)
    );

    for query in ["zebra", "?", ""] {
        let mut session = self::session();
        session.recall(query).unwrap();
        session.host.clock_ms += 60_000;
        session.recall(query).unwrap();
        session.close().unwrap();
        assert_eq!(session.host.tree, tree(), "nothing found, nothing counted");
    }
}

#[test]
fn nothing_else_is_touched() {
    let mut session = session();
    find(&mut session, "harbour");
    session.host.clock_ms += 60_000;
    find(&mut session, "invoices");
    session.close().unwrap();
    session.host.tree.take("/mem/.memdir");
    assert_eq!(
        session.host.tree.nodes(),
        tree().nodes(),
        "no memory, no time of one"
    );
    let effects = session.host.trace.iter().map(|traced| &traced.effect);
    for effect in effects {
        if let Effect::Write { path, via, .. } = effect {
            assert!(path.starts_with("/mem/.memdir/"), "{path}");
            let via = via.as_deref().unwrap_or("/mem/.memdir/x.memdir-tmp");
            assert!(
                via.starts_with("/mem/.memdir/") && via.ends_with(".memdir-tmp"),
                "{via}"
            );
        }
        assert!(!matches!(
            effect,
            Effect::SetMtime { .. } | Effect::Append { .. }
        ));
    }
}

#[test]
fn counting_can_be_switched_off() {
    let options = OpenOptions {
        directory: Some("/mem".to_owned()),
        features: Features {
            count_uses: false,
            ..Features::default()
        },
        ..OpenOptions::default()
    };
    let mut session = Session::with(SimHost::with_tree(1, tree()), options);
    for _ in 0..3 {
        find(&mut session, "harbour");
        session.host.clock_ms += 60_000;
    }
    session.close().unwrap();
    assert_eq!(session.host.tree, tree());
}

#[test]
fn processes_add_to_each_others_counts() {
    let mut session = session();
    let began = session.host.clock_ms;
    // Ada's process and Grace's are open at once.
    find(&mut session, "harbour");
    let ada = session.store.clone();
    session.restart();
    session.host.clock_ms += 10;
    find(&mut session, "harbour");
    find(&mut session, "invoices");
    session.close().unwrap();
    assert_eq!(
        counts(&session),
        [count("a.md", 1, began + 10), count("b.md", 1, began + 10)]
    );
    session.store = ada;
    // By a later recall, then at the end.
    session.host.clock_ms = began + 60_000;
    find(&mut session, "harbour");
    let wanted = [
        count("a.md", 3, began + 60_000),
        count("b.md", 1, began + 10),
    ];
    assert_eq!(counts(&session), wanted);
    find(&mut session, "invoices");
    session.close().unwrap();
    let wanted = [
        count("a.md", 3, began + 60_000),
        count("b.md", 2, began + 60_000),
    ];
    assert_eq!(counts(&session), wanted);
}

#[test]
fn what_is_written_while_the_model_thinks_is_kept() {
    let mut session = session().saying(r#"["a.md"]"#);
    session.recall("two words").unwrap();
    session.host.clock_ms += 60_000;
    session.host.script = Some(Box::new(|effect, tree| {
        if matches!(effect, Effect::Model { .. }) {
            tree.file(FILE, r#"{"uses": {"a.md": {"count": 3, "lastMs": 1}, "b.md": {"count": 7, "lastMs": 1}}}"#);
        }
        None
    }));
    session.recall("two words").unwrap();
    let now = session.host.clock_ms;
    assert_eq!(
        counts(&session),
        [count("a.md", 5, now), count("b.md", 7, 1)]
    );
}

#[test]
fn counts_that_cannot_be_read_for_a_moment_are_not_written_over() {
    let mut session = session();
    session
        .host
        .tree
        .file(FILE, r#"{"uses": {"b.md": {"count": 7, "lastMs": 1}}}"#);
    find(&mut session, "harbour");
    session.host.clock_ms += 60_000;
    // The recall reads them, and again before it writes.
    let mut reads = 0;
    session.host.script = Some(Box::new(move |effect, _| {
        if matches!(effect, Effect::Read { path, .. } if path == FILE) {
            reads += 1;
        }
        let failure = Failure::new(FailureCode::TooManyOpen, "too many open files");
        (reads == 2).then_some(Outcome::Failed(failure))
    }));
    find(&mut session, "harbour");
    assert_eq!(counts(&session), [count("b.md", 7, 1)]);
    session.host.script = None;
    let now = session.host.clock_ms;
    session.close().unwrap();
    assert_eq!(
        counts(&session),
        [count("a.md", 2, now), count("b.md", 7, 1)]
    );
}

#[test]
fn recalls_at_once_lose_no_count() {
    let mut session = session();
    let began = session.host.clock_ms;
    find(&mut session, "harbour");
    let start = |session: &Session, query: &str| {
        session.host.start(
            session
                .store
                .recall(query.to_owned(), RecallOptions::default()),
        )
    };
    let shown = |host: &SimHost| {
        host.trace
            .iter()
            .filter(|traced| matches!(traced.effect, Effect::ReadMany { .. }))
            .count()
    };
    let (mut early, mut late) = (start(&session, "invoices"), start(&session, "harbour"));
    for (running, now_ms) in [(&mut early, began + 59_999), (&mut late, began + 60_000)] {
        session.host.clock_ms = now_ms;
        let before = shown(&session.host);
        while shown(&session.host) == before {
            assert!(matches!(session.host.step(running), Progress::Working));
        }
    }
    for running in [&mut early, &mut late] {
        while !matches!(session.host.step(running), Progress::Ended(Ok(_))) {}
    }
    session.close().unwrap();
    let wanted = [
        count("a.md", 2, began + 60_000),
        count("b.md", 1, began + 59_999),
    ];
    assert_eq!(counts(&session), wanted);
}

#[test]
fn counts_survive_a_compaction() {
    let mut session = session();
    find(&mut session, "harbour");
    session.store.compacted();
    session.host.clock_ms += 60_000;
    find(&mut session, "harbour");
    let now = session.host.clock_ms;
    assert_eq!(counts(&session), [count("a.md", 2, now)]);
}

#[test]
fn counts_survive_a_compaction_right_before_the_end() {
    let mut session = session();
    find(&mut session, "harbour");
    session.store.compacted();
    session.close().unwrap();
    let now = session.host.clock_ms;
    assert_eq!(counts(&session), [count("a.md", 1, now)]);
}

const GONE: &str =
    r#"{"uses": {"a.md": {"count": 2, "lastMs": 5}, "gone.md": {"count": 9, "lastMs": 5}}}"#;

#[test]
fn memories_that_are_gone_are_forgotten() {
    let mut tree = tree();
    tree.file(FILE, GONE);
    let mut session = Session::new(tree, "/mem");
    find(&mut session, "invoices");
    session.host.tree.take("/mem/b.md");
    session.host.clock_ms += 60_000;
    find(&mut session, "harbour");
    let now = session.host.clock_ms;
    assert_eq!(counts(&session), [count("a.md", 3, now)]);
}

#[test]
fn memories_that_are_gone_are_forgotten_at_the_end_too() {
    let mut tree = tree();
    tree.file(FILE, GONE);
    let mut session = Session::new(tree, "/mem");
    find(&mut session, "harbour");
    session.close().unwrap();
    let now = session.host.clock_ms;
    assert_eq!(counts(&session), [count("a.md", 3, now)]);
}

#[test]
fn a_file_of_counts_that_cannot_be_read_is_reported_and_begun_anew() {
    let huge = format!("{{\"uses\": {{{}", " ".repeat(100));
    let bodies = [
        Body::File(b"".to_vec()),
        Body::File(b"{\"uses\": {\"a.md\": {\"count\": 2".to_vec()),
        Body::File(b"{\"uses\": 3}".to_vec()),
        Body::File(b"[]".to_vec()),
        Body::File(b"{\"uses\": {\"a.md\": {\"count\": -1, \"lastMs\": 0}}}".to_vec()),
        Body::File(vec![0xFF; 50]),
        Body::Sparse(huge.into_bytes(), 5_000_000),
        Body::Link(b"/etc/uses.json".to_vec()),
    ];
    for body in bodies {
        let mut tree = tree();
        tree.file("/etc/uses.json", r#"{"uses": {}}"#);
        tree.put(FILE, body.clone());
        let mut session = Session::new(tree, "/mem");
        let recall = session.recall("harbour").unwrap();
        assert_eq!(paths(&recall), ["a.md"]);
        assert_eq!(codes(&recall), [("", Code::UsesUnreadable)], "{body:?}");
        session.close().unwrap();
        let now = session.host.clock_ms;
        assert_eq!(counts(&session), [count("a.md", 1, now)], "{body:?}");
        assert_eq!(
            session.file("/etc/uses.json").as_deref(),
            Some(r#"{"uses": {}}"#)
        );
        session.restart();
        find(&mut session, "harbour");
    }
    // What cannot be replaced is left alone.
    for body in [Body::Folder, Body::Other] {
        let mut tree = tree();
        tree.put(FILE, body.clone());
        let mut session = Session::new(tree, "/mem");
        let recall = session.recall("harbour").unwrap();
        assert_eq!(codes(&recall), [("", Code::UsesUnreadable)], "{body:?}");
        session.close().unwrap();
    }
}

#[test]
fn use_raises_a_memory_and_keeps_it_from_sinking() {
    let mut tree = Tree::new();
    let now = Session::new(Tree::new(), "/mem").host.clock_ms;
    for (name, word) in [
        ("p", "harbour"),
        ("q", "harbour"),
        ("r", "lantern"),
        ("v", "lantern"),
    ] {
        tree.file(format!("/mem/{name}.md"), word)
            .at(now - 180 * DAY_MS);
    }
    // In two memories of a store that is taken for twenty: ln (1 + 18.5/2.5) = 2.128. Half a year takes 5 %; 5 uses give 5 %, one
    // gives 1.667 % and halves what age takes; a memory recalled today has not aged.
    for (count, last_ms, wanted) in [
        (0, 0, [("p.md", 2.022), ("q.md", 2.022)]),
        (5, now, [("q.md", 2.235), ("p.md", 2.022)]),
        (1, now, [("q.md", 2.164), ("p.md", 2.022)]),
        (1, now - 180 * DAY_MS, [("q.md", 2.110), ("p.md", 2.022)]),
    ] {
        let mut tree = tree.clone();
        if count > 0 {
            tree.file(
                FILE,
                format!(r#"{{"uses": {{"q.md": {{"count": {count}, "lastMs": {last_ms}}}}}}}"#),
            );
        }
        let recall = Session::new(tree, "/mem").recall("harbour").unwrap();
        let scores: Vec<(&str, f64)> = recall
            .memories
            .iter()
            .map(|one| (one.path.as_str(), one.score.unwrap()))
            .collect();
        assert_eq!(scores, wanted, "{count} uses at {last_ms}");
    }
    // What waits to be written counts already.
    let mut session = Session::new(tree, "/mem");
    let limit = RecallOptions {
        limit: Some(1),
        ..RecallOptions::default()
    };
    for wanted in [2.022, 2.164] {
        let recall = session.recall_with("harbour", limit.clone()).unwrap();
        assert_eq!(
            recall.memories.first().and_then(|one| one.score),
            Some(wanted)
        );
    }
}
