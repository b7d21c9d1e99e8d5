//! Recall over a disk that changes: between two recalls, and between listing and reading. What is
//! shown is what is there.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::common::{QUERY, recalled_tree, same_as_fresh, session_on};
use memdir_core::flow::Effect;
use memdir_core::report::ReportCode as Code;
use memdir_core::store::RecallOptions;
use memdir_simulation::{Body, OLD_MS, Progress, Session, Tree, codes, memory, paths};

/// One that knows everything.
fn warm() -> Session {
    let mut session = session_on(recalled_tree());
    let recall = session.recall(QUERY).unwrap();
    assert_eq!(paths(&recall), ["best.md", "good.md"]);
    session.host.clock_ms += 60_000;
    session
}

#[test]
fn a_warm_recall_reads_the_chosen_and_nothing_else() {
    let mut session = warm();
    for _ in 0..3 {
        same_as_fresh(&mut session, QUERY);
        assert_eq!(session.read(), ["/mem/best.md", "/mem/good.md"]);
        // The clock twice, three folders, the chosen.
        assert_eq!(session.performed().len(), 2 + 3 + 1);
    }
    let recall = same_as_fresh(&mut session, "zebra crossing");
    assert_eq!(paths(&recall), [""; 0]);
    assert_eq!(session.read(), [""; 0]);
    // With a model too.
    let mut session = session_on(recalled_tree()).saying(r#"["one.md"]"#);
    for reads in [6, 1] {
        assert_eq!(paths(&session.recall(QUERY).unwrap()), ["one.md"]);
        assert!(session.read().len() >= reads, "{:?}", session.read());
    }
    assert_eq!(session.read(), ["/mem/one.md"]);
}

#[test]
fn what_changed_on_disk_is_seen_by_the_next_recall() {
    type Change = fn(&mut Tree);
    let cases: [(&str, Change, &[&str], usize); 8] = [
        (
            "a new body",
            |tree| {
                tree.file(
                    "/mem/one.md",
                    memory("ships", "Harbour pipeline, harbour pipeline!"),
                )
                .at(OLD_MS);
            },
            &["best.md", "good.md", "one.md"],
            1,
        ),
        (
            "another body",
            |tree| {
                tree.file("/mem/best.md", memory("nothing", "Any more."))
                    .at(OLD_MS);
            },
            &["good.md"],
            1,
        ),
        ("deleted", |tree| tree.take("/mem/best.md"), &["good.md"], 0),
        (
            "renamed",
            |tree| {
                tree.take("/mem/good.md");
                tree.file(
                    "/mem/sub/moved.md",
                    memory("deployment", "It goes through the harbour pipeline."),
                )
                .at(OLD_MS);
            },
            &["best.md", "sub/moved.md"],
            1,
        ),
        (
            "new",
            |tree| {
                tree.file("/mem/team/new.md", memory("harbour", "Pipeline."))
                    .at(OLD_MS);
            },
            &["best.md", "good.md", "team/new.md"],
            1,
        ),
        (
            "not UTF-8 any more",
            |tree| {
                tree.file("/mem/best.md", b"harbour pipeline \xE9")
                    .at(OLD_MS);
            },
            &["good.md"],
            1,
        ),
        (
            "a folder deleted",
            |tree| tree.take("/mem/sub"),
            &["best.md", "good.md"],
            0,
        ),
        (
            "a link to it",
            |tree| {
                tree.link("/mem/alias.md", "best.md").at(OLD_MS);
            },
            &["best.md", "good.md", "alias.md"],
            1,
        ),
    ];
    for (what, change, wanted, read) in cases {
        let mut session = warm();
        change(&mut session.host.tree);
        let recall = same_as_fresh(&mut session, QUERY);
        let mut found = paths(&recall);
        found.sort_unstable();
        let mut wanted = wanted.to_vec();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{what}");
        // The new is read once to be found; what is shown is read to be shown.
        assert_eq!(
            session.read().len(),
            read + found.len(),
            "{what}: {:?}",
            session.read()
        );
        same_as_fresh(&mut session, QUERY);
        same_as_fresh(&mut session, "invoices");
    }
}

#[test]
fn a_file_that_was_fresh_when_listed_is_read_again() {
    for (age_ms, trusted) in [(0, false), (1_999, false), (2_000, true), (-5_000, false)] {
        let mut tree = recalled_tree();
        let session = session_on(tree.clone());
        tree.node("/mem/one.md")
            .unwrap()
            .at(session.host.clock_ms - age_ms);
        let mut session = session_on(tree);
        session.recall(QUERY).unwrap();
        session.host.clock_ms += 60_000;
        // Other words, the same size, the same stamps.
        let mut node = session.host.tree.node("/mem/one.md").unwrap();
        let Body::File(bytes) = &mut node.body else {
            panic!("no file")
        };
        let text = String::from_utf8(bytes.clone()).unwrap();
        *bytes = text.replace("invoices", "lanterns").into_bytes();
        drop(node);
        let recall = session.recall("lanterns").unwrap();
        assert_eq!(paths(&recall).is_empty(), trusted, "{age_ms}");
        if !trusted {
            same_as_fresh(&mut session, "lanterns");
        }
    }
}

#[test]
fn what_goes_away_between_listing_and_reading_is_reported_and_not_shown() {
    type Change = fn(&mut Tree);
    let changes: [(&str, Change, Code); 8] = [
        ("vanished", |tree| tree.take("/mem/best.md"), Code::Vanished),
        (
            "FIFO",
            |tree| {
                tree.put("/mem/best.md", Body::Other);
            },
            Code::Unreadable,
        ),
        (
            "folder",
            |tree| {
                tree.put("/mem/best.md", Body::Folder);
            },
            Code::Unreadable,
        ),
        (
            "link out",
            |tree| {
                tree.link("/mem/best.md", "/etc/secret.md");
            },
            Code::Unreadable,
        ),
        (
            "link in",
            |tree| {
                tree.link("/mem/best.md", "one.md");
            },
            Code::Unreadable,
        ),
        (
            "no rights",
            |tree| {
                tree.file("/mem/best.md", "secret").mode(0);
            },
            Code::Unreadable,
        ),
        (
            "no text",
            |tree| {
                tree.file("/mem/best.md", [0xFF_u8; 200]);
            },
            Code::NotUtf8,
        ),
        (
            "NUL",
            |tree| {
                tree.file("/mem/best.md", "a\0b");
            },
            Code::NulByte,
        ),
    ];
    for model in [false, true] {
        for (what, change, code) in changes {
            let mut session = session_on(recalled_tree());
            if model {
                session = session.saying(r#"["best.md", "good.md"]"#);
            }
            session.recall(QUERY).unwrap();
            session.host.clock_ms += 60_000;
            session.host.tree.file("/etc/secret.md", "secret");
            // Everything is known, so only the chosen are read.
            session.host.script = Some(Box::new(move |effect, tree| {
                if matches!(effect, Effect::ReadMany { .. }) {
                    change(tree);
                }
                None
            }));
            let recall = session.recall(QUERY).unwrap();
            assert_eq!(paths(&recall), ["good.md"], "{what}");
            assert_eq!(codes(&recall), [("best.md", code)], "{what}");
            assert_eq!(recall.state.surfaced, ["good.md"], "{what}");
            assert!(!format!("{recall:?}").contains("secret"), "{what}");
            session.host.script = None;
            if !model {
                same_as_fresh(&mut session, QUERY);
            }
        }
    }
}

#[test]
fn what_changes_between_listing_and_reading_is_shown_as_it_is_now() {
    let mut session = warm();
    session.host.script = Some(Box::new(|effect, tree| {
        if matches!(effect, Effect::ReadMany { .. }) {
            tree.file("/mem/best.md", "x".repeat(10_000)).at(OLD_MS + 1);
        }
        None
    }));
    let recall = session.recall(QUERY).unwrap();
    let best = recall.memories.first().unwrap();
    assert_eq!(best.content, "x".repeat(4_096));
    assert!(best.note.is_some());
}

#[test]
fn a_cold_recall_survives_what_goes_away_under_it() {
    let mut session = session_on(recalled_tree());
    session.host.script = Some(Box::new(|effect, tree| {
        if matches!(effect, Effect::ReadMany { .. }) {
            tree.take("/mem/best.md");
            tree.put("/mem/one.md", Body::Other);
        }
        None
    }));
    let recall = session.recall(QUERY).unwrap();
    assert_eq!(paths(&recall), ["good.md"]);
    assert_eq!(
        codes(&recall),
        [("best.md", Code::Vanished), ("one.md", Code::Unreadable)]
    );
    session.host.script = None;
    same_as_fresh(&mut session, QUERY);
}

#[test]
fn a_compaction_drops_what_was_known() {
    let mut session = warm();
    same_as_fresh(&mut session, QUERY);
    assert_eq!(session.read().len(), 2);
    session.store.compacted();
    same_as_fresh(&mut session, QUERY);
    // The settings are looked for too; the six memories are read, and two of them to be shown.
    let read = session.read();
    let memories = read.iter().filter(|path| path.ends_with(".md"));
    assert_eq!(memories.count(), 6 + 2, "{read:?}");
    // One that began before leaves nothing behind.
    let flow = session
        .store
        .recall(QUERY.to_owned(), RecallOptions::default());
    let mut running = session.host.start(flow);
    session.store.compacted();
    while !matches!(session.host.step(&mut running), Progress::Ended(_)) {}
    same_as_fresh(&mut session, QUERY);
}
