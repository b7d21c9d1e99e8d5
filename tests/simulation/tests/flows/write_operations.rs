//! Each operation that writes, with what is in every file afterwards, worked out by hand.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::BTreeMap;

use memdir_core::ErrorCode;
use memdir_core::memory::{MemoryType, Scope};
use memdir_core::report::ReportCode;
use memdir_core::store::{Features, OpenOptions};
use memdir_core::write::{SaveOptions, WriteOutcome, WriteResult};
use memdir_simulation::{
    B, Body, Folder, INDEX, Kept, OLD, STORE, Session, SimHost, Tree, hash_of, new_modes,
    written_tree,
};

/// When everything happens.
const NOW: &str = "2026-03-15T10:30:00.000Z";
const DAY_MS: i64 = 86_400_000;

fn session(tree: Tree) -> Session {
    Session::new(tree, STORE)
}

fn with_features(tree: Tree, features: Features) -> Session {
    let options = OpenOptions {
        directory: Some(STORE.to_owned()),
        features,
        ..OpenOptions::default()
    };
    Session::with(SimHost::with_tree(5, tree), options)
}

fn team(tree: Tree) -> Session {
    let features = Features {
        team: true,
        ..Features::default()
    };
    with_features(tree, features)
}

fn files(session: &Session) -> BTreeMap<String, String> {
    Folder::new(&session.host.tree, STORE).files()
}

fn index(session: &Session) -> String {
    session.file("/mem/MEMORY.md").unwrap()
}

/// The options of a whole new memory.
fn new(kind: MemoryType, name: &str) -> SaveOptions {
    SaveOptions {
        kind: Some(kind),
        name: Some(name.to_owned()),
        description: Some("When it helps".to_owned()),
        body: Some("What it says.".to_owned()),
        ..SaveOptions::default()
    }
}

fn at(path: &str) -> SaveOptions {
    SaveOptions {
        path: Some(path.to_owned()),
        ..SaveOptions::default()
    }
}

fn refusal(result: &WriteResult) -> Option<ErrorCode> {
    assert_eq!(result.outcome, WriteOutcome::Refused, "{result:?}");
    assert!(
        result
            .message
            .as_deref()
            .is_some_and(|text| !text.is_empty())
    );
    assert!(!result.created && !result.index_changed);
    result.code
}

// New memories.

#[test]
fn a_new_memory_in_a_new_store() {
    let mut session = session(Tree::new());
    let result = session
        .save(new(MemoryType::Project, "Release plan"))
        .unwrap();
    assert_eq!(result.outcome, WriteOutcome::Written);
    assert_eq!(result.path.as_deref(), Some("project_release_plan.md"));
    assert_eq!(
        result.absolute_path.as_deref(),
        Some("/mem/project_release_plan.md")
    );
    assert!(result.created && result.index_changed);
    assert_eq!((result.code, result.message), (None, None));
    assert_eq!(result.report, []);
    let expected = BTreeMap::from([
        (
            "project_release_plan.md".to_owned(),
            format!(
                "---\nname: Release plan\ndescription: When it helps\ntype: project\nmodified: {NOW}\n---\n\nWhat it says.\n"
            ),
        ),
        (
            "MEMORY.md".to_owned(),
            "- [Release plan](project_release_plan.md) — When it helps\n".to_owned(),
        ),
    ]);
    assert_eq!(files(&session), expected);
    assert_eq!(
        result.hash,
        hash_of(&session.host.tree, "project_release_plan.md")
    );
    // Nobody else can look at what is new.
    for (path, mode) in new_modes(&Tree::new(), &session.host.tree) {
        let is_file = path.ends_with(".md") || path.ends_with(".gitignore");
        assert_eq!(mode, if is_file { 0o600 } else { 0o700 }, "{path}");
    }
    let everything = Folder::new(&session.host.tree, STORE).everything();
    assert_eq!(everything[".memdir/.gitignore"], "*\n");
    assert_eq!(everything.len(), 3);
}

#[test]
fn names_of_files_in_several_scripts() {
    for (kind, name, file) in [
        (MemoryType::User, "Prefers Rust", "user_prefers_rust.md"),
        (
            MemoryType::Feedback,
            "feedback: no mocks!",
            "feedback_no_mocks.md",
        ),
        (
            MemoryType::Project,
            "Überblick — Größe",
            "project_überblick_größe.md",
        ),
        (MemoryType::Reference, "発売計画", "reference_発売計画.md"),
        (
            MemoryType::Reference,
            "Ｆｕｌｌ　ｗｉｄｔｈ",
            "reference_full_width.md",
        ),
        (MemoryType::Project, "План релиза", "project_план_релиза.md"),
        (MemoryType::Project, "2026 / Q1", "project_2026_q1.md"),
        (
            MemoryType::Project,
            "../../etc/passwd",
            "project_etc_passwd.md",
        ),
    ] {
        let mut session = session(Tree::new());
        let result = session.save(new(kind, name)).unwrap();
        assert_eq!(result.path.as_deref(), Some(file));
        assert!(index(&session).contains(&format!("]({file})")), "{name}");
    }
}

#[test]
fn a_second_memory_of_the_name_gets_a_number() {
    let mut session = session(written_tree());
    let mut options = new(MemoryType::User, "Tea");
    let paths: Vec<_> = (1..=3)
        .map(|number| {
            options.body = Some(format!("Cup {number}."));
            session.save(options.clone()).unwrap().path.unwrap()
        })
        .collect();
    assert_eq!(paths, ["user_tea.md", "user_tea_2.md", "user_tea_3.md"]);
    // What is there already, also as the second, is not saved again.
    options.body = Some("Cup 2.".to_owned());
    let again = session.save(options.clone()).unwrap();
    assert_eq!(again.outcome, WriteOutcome::Unchanged);
    assert_eq!(again.path.as_deref(), Some("user_tea_2.md"));
    // A folder, a FIFO, a link to nothing have taken their names.
    let tree = &mut session.host.tree;
    tree.put("/mem/user_tea_4.md", Body::Folder);
    tree.put("/mem/user_tea_5.md", Body::Other);
    tree.link("/mem/user_tea_6.md", "nowhere");
    options.body = Some("Cup 7.".to_owned());
    let last = session.save(options).unwrap();
    assert_eq!(last.path.as_deref(), Some("user_tea_7.md"));
}

#[test]
fn a_path_in_a_new_folder() {
    let mut session = session(written_tree());
    let result = session
        .save(SaveOptions {
            path: Some("notes/deep (1).md".to_owned()),
            ..new(MemoryType::User, "Deep")
        })
        .unwrap();
    assert!(result.created);
    assert!(index(&session).ends_with("- [Deep](notes/deep%20%281%29.md) — When it helps\n"));
    assert_eq!(session.host.tree.nodes()[&b"/mem/notes"[..]].mode, 0o700);
}

// Memories that are there.

#[test]
fn an_update_changes_what_was_asked_for() {
    let mut tree = written_tree();
    let crlf = "\u{FEFF}---\r\nname: Old\r\ndescription: old hook # why\r\ntype: project\r\ntags: [a]\r\n---\r\n\r\nold body";
    tree.file("/mem/a.md", crlf).mode(0o640);
    tree.file("/mem/MEMORY.md", INDEX.replace('\n', "\r\n").trim_end())
        .mode(0o664);
    let mut session = session(tree);
    let result = session
        .save(SaveOptions {
            description: Some("new hook".to_owned()),
            body: Some("one\ntwo".to_owned()),
            ..at("a.md")
        })
        .unwrap();
    assert!(result.index_changed && !result.created);
    let a = format!(
        "\u{FEFF}---\r\nname: Old\r\ndescription: new hook # why\r\ntype: project\r\ntags: [a]\r\nmodified: {NOW}\r\n---\r\n\r\none\r\ntwo"
    );
    assert_eq!(session.file("/mem/a.md").unwrap(), a);
    assert_eq!(
        index(&session),
        "# Index\r\n- [Old](a.md) — new hook\r\n- [B](b.md) — b"
    );
    let nodes = session.host.tree.nodes();
    assert_eq!(nodes[&b"/mem/a.md"[..]].mode, 0o640);
    assert_eq!(nodes[&b"/mem/MEMORY.md"[..]].mode, 0o664);
    let trash = Folder::new(&session.host.tree, STORE).trash();
    assert_eq!(trash.len(), 1);
    assert_eq!(trash[0].bytes.as_deref(), Some(crlf));
    assert_eq!(
        trash[0].record.as_deref(),
        Some("{\"path\":\"a.md\",\"reason\":\"replaced\",\"atMs\":1773570600000,\"cuts\":[]}")
    );
}

#[test]
fn what_is_the_same_is_not_touched() {
    let mut tree = written_tree();
    for path in ["/mem/a.md", "/mem/MEMORY.md"] {
        tree.node(path).unwrap().at(1_000);
    }
    let before = tree.clone();
    let mut session = session(tree);
    for options in [
        at("a.md"),
        SaveOptions {
            body: Some("\r\nold body\r\n".to_owned()),
            ..at("a.md")
        },
        SaveOptions {
            name: Some(" Old ".to_owned()),
            description: Some("old hook".to_owned()),
            kind: Some(MemoryType::Project),
            expect: hash_of(&before, "a.md"),
            ..at("a.md")
        },
    ] {
        let result = session.save(options).unwrap();
        assert_eq!(result.outcome, WriteOutcome::Unchanged);
        assert!(!result.index_changed && !result.created);
        assert_eq!(result.hash, hash_of(&before, "a.md"));
        for path in ["/mem/a.md", "/mem/MEMORY.md"] {
            let node = |tree: &Tree| tree.nodes()[path.as_bytes()].clone();
            assert_eq!(node(&session.host.tree), node(&before));
        }
        assert_eq!(Folder::new(&session.host.tree, STORE).trash(), []);
    }
}

#[test]
fn an_index_line_is_kept_or_written_anew() {
    let by_hand = "# Index\n* [the old one](a.md), really!\n- [B](b.md) — b\n";
    let mut tree = written_tree();
    tree.file("/mem/MEMORY.md", by_hand);
    let mut session = session(tree);
    // What a person wrote stays as long as name and description do.
    let body = SaveOptions {
        body: Some("other".to_owned()),
        ..at("a.md")
    };
    assert!(!session.save(body).unwrap().index_changed);
    assert_eq!(index(&session), by_hand);
    let renamed = SaveOptions {
        name: Some("Newer".to_owned()),
        ..at("a.md")
    };
    assert!(session.save(renamed).unwrap().index_changed);
    assert_eq!(
        index(&session),
        "# Index\n* [Newer](a.md) — old hook\n- [B](b.md) — b\n"
    );
    // And can be had back then.
    let trash = Folder::new(&session.host.tree, STORE).trash();
    let kept = |item: &Kept| item.bytes.as_deref() == Some(by_hand);
    assert_eq!(trash.iter().filter(|item| kept(item)).count(), 1);
    // A line that is missing is added, also when nothing else is to be done.
    session.host.tree.file("/mem/MEMORY.md", "# Index\n\n");
    let result = session.save(at("a.md")).unwrap();
    assert_eq!(result.outcome, WriteOutcome::Written);
    assert_eq!(index(&session), "# Index\n- [Newer](a.md) — old hook\n\n");
}

#[test]
fn one_step_leaves_the_index_alone() {
    let features = Features {
        one_step: true,
        ..Features::default()
    };
    let mut session = with_features(written_tree(), features);
    let result = session.save(new(MemoryType::User, "Tea")).unwrap();
    assert_eq!(result.outcome, WriteOutcome::Written);
    assert!(!result.index_changed);
    assert_eq!(index(&session), INDEX);
    // What is forgotten leaves no line all the same.
    assert!(session.forget("a.md", None).unwrap().index_changed);
    assert_eq!(index(&session), "# Index\n- [B](b.md) — b\n");
}

// An index of its own, and what it reports.

#[test]
fn a_team_has_its_own_index() {
    let mut session = team(written_tree());
    let result = session.save(new(MemoryType::Project, "Plan")).unwrap();
    assert_eq!(result.path.as_deref(), Some("team/project_plan.md"));
    assert_eq!(
        session.file("/mem/team/MEMORY.md").unwrap(),
        "- [Plan](project_plan.md) — When it helps\n"
    );
    assert_eq!(index(&session), INDEX);
    for kind in [MemoryType::User, MemoryType::Feedback] {
        let path = session.save(new(kind, "Mine")).unwrap().path.unwrap();
        assert!(!path.starts_with("team/"), "{path}");
    }
    let private = SaveOptions {
        scope: Some(Scope::Private),
        ..new(MemoryType::Project, "Mine")
    };
    let path = session.save(private).unwrap().path;
    assert_eq!(path.as_deref(), Some("project_mine.md"));
}

#[test]
fn a_team_memory_that_is_forgotten_is_marked_until_it_is_back() {
    let mut session = team(written_tree());
    session.save(new(MemoryType::Project, "Plan")).unwrap();
    let path = "team/project_plan.md";
    let hash = hash_of(&session.host.tree, path).unwrap();
    let marks = |session: &Session| session.file("/mem/.memdir/tombstones.json").unwrap();
    let forgotten = session.forget(path, Some(&hash)).unwrap();
    assert_eq!(forgotten.outcome, WriteOutcome::Written);
    let codes: Vec<_> = forgotten.report.iter().map(|entry| entry.code).collect();
    assert_eq!(codes, [ReportCode::TeamKeepsCopy]);
    assert_eq!(marks(&session), format!("{{\"{path}\":\"{hash}\"}}"));
    assert_eq!(session.file("/mem/team/MEMORY.md").unwrap(), "");
    session.undo(None).unwrap();
    assert_eq!(marks(&session), "{}");
    session.forget(path, None).unwrap();
    session.save(new(MemoryType::Project, "Plan")).unwrap();
    assert_eq!(marks(&session), "{}");
    assert_eq!(
        session.file("/mem/team/MEMORY.md").unwrap(),
        "- [Plan](project_plan.md) — When it helps\n"
    );
}

/// An index of so many lines of so many bytes each, without their ends.
fn lines(count: usize, length: usize) -> String {
    (0..count).fold(String::new(), |text, number| {
        let line = format!("- [{number:03}](n{number:03}.md) ");
        format!("{text}{line}{}\n", "x".repeat(length - line.len()))
    })
}

#[test]
fn an_index_near_or_over_its_limit_is_reported() {
    for (count, length, code, size) in [
        (178, 30, None, ""),
        (179, 30, Some(ReportCode::IndexNearLimit), "180 lines"),
        (199, 30, Some(ReportCode::IndexNearLimit), "200 lines"),
        (200, 30, Some(ReportCode::IndexOverLimit), "201 lines"),
        // The new line has 29 bytes; the last line end does not count.
        (100, 223, None, ""),
        (
            100,
            224,
            Some(ReportCode::IndexNearLimit),
            "101 lines and 22529 bytes",
        ),
        (
            100,
            248,
            Some(ReportCode::IndexNearLimit),
            "101 lines and 24929 bytes",
        ),
        (
            100,
            249,
            Some(ReportCode::IndexOverLimit),
            "101 lines and 25029 bytes",
        ),
    ] {
        for scope in [Scope::Private, Scope::Team] {
            let (path, whose) = match scope {
                Scope::Private => ("MEMORY.md", "private"),
                Scope::Team => ("team/MEMORY.md", "team"),
            };
            let mut tree = written_tree();
            tree.file(format!("/mem/{path}"), lines(count, length));
            let mut session = team(tree);
            let result = session
                .save(SaveOptions {
                    scope: Some(scope),
                    description: None,
                    ..new(MemoryType::Project, "A plan")
                })
                .unwrap();
            assert_eq!(result.outcome, WriteOutcome::Written);
            let codes: Vec<_> = result.report.iter().map(|entry| entry.code).collect();
            assert_eq!(codes, Vec::from_iter(code), "{count} {length}");
            for entry in &result.report {
                assert_eq!(entry.path, path);
                assert!(
                    entry
                        .message
                        .starts_with(&format!("the {whose} index has "))
                );
                assert!(entry.message.contains(size), "{}", entry.message);
                let target = "shorten it to 140 lines and 17500 bytes";
                assert!(entry.message.contains(target), "{}", entry.message);
            }
        }
    }
}

#[test]
fn an_index_that_cannot_be_written_is_reported() {
    let set_ups: [fn(&mut Tree); 4] = [
        |tree| {
            tree.file("/mem/MEMORY.md", b"\xff\xfe");
        },
        |tree| {
            tree.take("/mem/MEMORY.md");
            tree.put("/mem/MEMORY.md", Body::Folder);
        },
        |tree| {
            tree.link("/mem/MEMORY.md", "/elsewhere.md");
            tree.file("/elsewhere.md", "outside\n");
        },
        |tree| {
            tree.file("/mem/MEMORY.md", vec![b'x'; 5 * 1024 * 1024]);
        },
    ];
    for set_up in set_ups {
        let mut tree = written_tree();
        set_up(&mut tree);
        let node = |tree: &Tree| tree.nodes()[&b"/mem/MEMORY.md"[..]].clone();
        let before = node(&tree);
        let mut session = session(tree);
        let result = session.save(new(MemoryType::User, "Tea")).unwrap();
        assert_eq!(result.outcome, WriteOutcome::Written);
        let codes: Vec<_> = result.report.iter().map(|entry| entry.code).collect();
        assert_eq!(codes, [ReportCode::Unreadable]);
        assert_eq!(node(&session.host.tree), before);
        assert!(session.file("/mem/user_tea.md").is_some());
    }
}

// What is expected.

#[test]
fn an_expectation_that_does_not_hold_is_a_conflict() {
    let tree = written_tree();
    let hash = hash_of(&tree, "a.md").unwrap();
    let other = hash_of(&tree, "b.md").unwrap();
    let files_before = Folder::new(&tree, STORE).files();
    let options = |path: &str, expect: &str| SaveOptions {
        path: Some(path.to_owned()),
        expect: Some(expect.to_owned()),
        ..new(MemoryType::User, "New")
    };
    let mut session = session(tree);
    for (path, expect, code, found) in [
        ("a.md", "absent", ErrorCode::Exists, Some(&hash)),
        ("a.md", other.as_str(), ErrorCode::Exists, Some(&hash)),
        ("x.md", other.as_str(), ErrorCode::NotFound, None),
    ] {
        let saved = session.save(options(path, expect)).unwrap();
        let forgotten = session.forget(path, Some(expect)).unwrap();
        for result in [saved, forgotten] {
            assert_eq!(result.outcome, WriteOutcome::Conflict, "{path} {expect}");
            assert_eq!(result.code, Some(code), "{path} {expect}");
            assert_eq!(result.hash.as_ref(), found);
            assert_eq!(result.path.as_deref(), Some(path));
        }
        assert_eq!(files(&session), files_before);
    }
    assert!(session.save(options("x.md", "absent")).unwrap().created);
    let written = session.save(options("a.md", &hash)).unwrap();
    assert_eq!(written.outcome, WriteOutcome::Written);
    let now = written.hash.unwrap();
    assert_eq!(Some(&now), hash_of(&session.host.tree, "a.md").as_ref());
    let forgotten = session.forget("a.md", Some(&now)).unwrap();
    assert_eq!(forgotten.outcome, WriteOutcome::Written);
}

// Refusals.

#[test]
fn every_refusal_of_a_save() {
    let path = |path: &str| SaveOptions {
        path: Some(path.to_owned()),
        ..new(MemoryType::User, "New")
    };
    let long = "x".repeat(70_000);
    let cases = [
        (at("x.md"), ErrorCode::InvalidArgument),
        (SaveOptions::default(), ErrorCode::InvalidArgument),
        (
            SaveOptions {
                name: None,
                ..new(MemoryType::User, "x")
            },
            ErrorCode::InvalidArgument,
        ),
        (
            SaveOptions {
                kind: None,
                ..new(MemoryType::User, "x")
            },
            ErrorCode::InvalidArgument,
        ),
        (
            SaveOptions {
                expect: Some("yes".to_owned()),
                ..path("x.md")
            },
            ErrorCode::InvalidArgument,
        ),
        (
            SaveOptions {
                expect: hash_of(&written_tree(), "a.md"),
                ..new(MemoryType::User, "x")
            },
            ErrorCode::InvalidArgument,
        ),
        (
            SaveOptions {
                scope: Some(Scope::Team),
                ..path("x.md")
            },
            ErrorCode::InvalidArgument,
        ),
        (
            SaveOptions {
                scope: Some(Scope::Private),
                ..path("team/x.md")
            },
            ErrorCode::InvalidArgument,
        ),
        (path(""), ErrorCode::PathEmpty),
        (path("MEMORY.md"), ErrorCode::InvalidArgument),
        (path("sub/memory.MD"), ErrorCode::InvalidArgument),
        (path("team/MEMORY.md"), ErrorCode::InvalidArgument),
        (path("x.txt"), ErrorCode::InvalidArgument),
        (path(".md"), ErrorCode::InvalidArgument),
        (path("../x.md"), ErrorCode::PathOutsideStore),
        (path("/mem/x.md"), ErrorCode::PathOutsideStore),
        (path("a/../x.md"), ErrorCode::PathOutsideStore),
        (path(".memdir/x.md"), ErrorCode::PathOutsideStore),
        (path("x\0.md"), ErrorCode::PathNul),
        (path("team/x.md"), ErrorCode::UserPrivate),
        (path("folder.md"), ErrorCode::IsADirectory),
        (path("fifo.md"), ErrorCode::Unsupported),
        (path("dangling.md"), ErrorCode::LinkOutside),
        (path("leaving.md"), ErrorCode::LinkOutside),
        (path("own.md"), ErrorCode::PathOutsideStore),
        (path("bytes.md"), ErrorCode::NotText),
        (path("nul.md"), ErrorCode::NotText),
        (path("large.md"), ErrorCode::TooLarge),
        (path("list.md"), ErrorCode::FrontmatterInvalid),
        (
            SaveOptions {
                name: Some(" \n".to_owned()),
                ..path("x.md")
            },
            ErrorCode::InvalidArgument,
        ),
        (
            SaveOptions {
                body: Some("a\0b".to_owned()),
                ..path("x.md")
            },
            ErrorCode::InvalidText,
        ),
        (
            SaveOptions {
                body: Some("x".repeat(4 * 1024 * 1024)),
                ..path("x.md")
            },
            ErrorCode::TooLarge,
        ),
        (
            SaveOptions {
                description: Some(long),
                ..path("x.md")
            },
            ErrorCode::TooLarge,
        ),
    ];
    for (options, code) in cases {
        let mut tree = written_tree();
        tree.put("/mem/folder.md", Body::Folder);
        tree.put("/mem/fifo.md", Body::Other);
        tree.link("/mem/dangling.md", "nowhere.md");
        tree.link("/mem/leaving.md", "/outside.md");
        tree.file("/outside.md", "outside\n");
        tree.link("/mem/own.md", ".memdir/.gitignore");
        tree.file("/mem/bytes.md", b"\xff");
        tree.file("/mem/nul.md", "a\0b");
        tree.file("/mem/large.md", vec![b'x'; 4 * 1024 * 1024 + 1]);
        tree.file("/mem/list.md", "---\n- name\n- description\n---\n");
        let before = Folder::new(&tree, STORE).everything();
        let mut session = session(tree);
        let shown = format!("{:?} {:?}", options.path, options.name);
        let result = session.save(options).unwrap();
        assert_eq!(
            refusal(&result),
            Some(code),
            "{shown}: {:?}",
            result.message
        );
        assert_eq!(
            Folder::new(&session.host.tree, STORE).everything(),
            before,
            "{shown}"
        );
        assert_eq!(session.file("/outside.md").unwrap(), "outside\n");
    }
}

#[test]
fn every_refusal_of_a_forgetting_and_an_undoing() {
    let mut tree = written_tree();
    tree.put("/mem/folder.md", Body::Folder);
    tree.put("/mem/fifo.md", Body::Other);
    let before = Folder::new(&tree, STORE).files();
    let mut session = session(tree);
    for (path, code) in [
        ("x.md", ErrorCode::NotFound),
        ("MEMORY.md", ErrorCode::InvalidArgument),
        ("x.txt", ErrorCode::InvalidArgument),
        ("", ErrorCode::PathEmpty),
        ("../x.md", ErrorCode::PathOutsideStore),
        (".memdir/lock.md", ErrorCode::PathOutsideStore),
        ("folder.md", ErrorCode::IsADirectory),
        ("fifo.md", ErrorCode::Unsupported),
    ] {
        let result = session.forget(path, None).unwrap();
        assert_eq!(refusal(&result), Some(code), "{path}");
        let undone = session.undo(Some(path)).unwrap();
        let code = match code {
            ErrorCode::IsADirectory | ErrorCode::Unsupported => ErrorCode::NotFound,
            code => code,
        };
        assert_eq!(refusal(&undone), Some(code), "{path}");
        assert_eq!(files(&session), before);
    }
    let result = session.forget("a.md", Some("no hash")).unwrap();
    assert_eq!(refusal(&result), Some(ErrorCode::InvalidArgument));
    assert_eq!(
        refusal(&session.undo(None).unwrap()),
        Some(ErrorCode::NotFound)
    );
    assert_eq!(files(&session), before);
}

#[test]
fn off_means_off() {
    let options = OpenOptions {
        directory: Some(STORE.to_owned()),
        env: [("CLAUDE_CODE_DISABLE_AUTO_MEMORY".to_owned(), "1".to_owned())].into(),
        ..OpenOptions::default()
    };
    let before = written_tree();
    let mut session = Session::with(SimHost::with_tree(5, before.clone()), options);
    let results = [
        session.save(new(MemoryType::User, "x")),
        session.forget("a.md", None),
        session.undo(None),
    ];
    for result in results {
        assert_eq!(result.unwrap_err().code, ErrorCode::Disabled);
    }
    assert_eq!(session.host.tree, before);
}

// Forgetting.

#[test]
fn a_forgetting_takes_the_lines_of_every_index() {
    let mut tree = written_tree();
    tree.file(
        "/mem/MEMORY.md",
        "# Index\n- [Old](a.md) — old hook\n- [B](b.md) — b\n- both: [A](a.md) and [B](b.md)\n- [A again](./a.md)",
    );
    tree.file(
        "/mem/team/MEMORY.md",
        "- [From the team](../a.md)\n- [T](t.md)\n",
    );
    let mut session = session(tree);
    let result = session.forget("a.md", None).unwrap();
    assert_eq!(result.outcome, WriteOutcome::Written);
    assert_eq!((result.hash, result.index_changed), (None, true));
    let expected = BTreeMap::from([
        ("b.md".to_owned(), B.to_owned()),
        (
            "MEMORY.md".to_owned(),
            "# Index\n- [B](b.md) — b\n- both: A and [B](b.md)".to_owned(),
        ),
        ("team/MEMORY.md".to_owned(), "- [T](t.md)\n".to_owned()),
    ]);
    assert_eq!(files(&session), expected);
    let trash = Folder::new(&session.host.tree, STORE).trash();
    assert_eq!(trash.len(), 1);
    assert_eq!(trash[0].bytes.as_deref(), Some(OLD));
    let record: serde_json::Value =
        serde_json::from_str(trash[0].record.as_ref().unwrap()).unwrap();
    assert_eq!(record["path"], "a.md");
    assert_eq!(record["reason"], "forgotten");
    let cuts = record["cuts"].as_array().unwrap();
    let lines = cuts
        .iter()
        .map(|cut| cut["lines"].as_array().unwrap().len());
    assert_eq!(lines.sum::<usize>(), 3);

    // And back, to the byte, as nobody has changed the indexes.
    let undone = session.undo(None).unwrap();
    assert_eq!(undone.outcome, WriteOutcome::Written);
    assert_eq!(session.file("/mem/a.md").unwrap(), OLD);
    assert_eq!(
        session.file("/mem/team/MEMORY.md").unwrap(),
        "- [From the team](../a.md)\n- [T](t.md)\n"
    );
    assert!(index(&session).starts_with("# Index\n- [Old](a.md) — old hook\n- [B](b.md) — b\n"));
    assert_eq!(Folder::new(&session.host.tree, STORE).trash(), []);
}

#[test]
fn a_link_is_forgotten_and_not_what_it_leads_to() {
    let mut tree = written_tree();
    tree.link("/mem/c.md", "b.md");
    tree.file("/mem/MEMORY.md", "- [C](c.md)\n- [B](b.md)\n");
    let mut session = session(tree);
    session.forget("c.md", None).unwrap();
    assert_eq!(
        files(&session).keys().collect::<Vec<_>>(),
        ["MEMORY.md", "a.md", "b.md"]
    );
    assert_eq!(index(&session), "- [B](b.md)\n");
    let undone = session.undo(Some("c.md")).unwrap();
    assert_eq!(undone.outcome, WriteOutcome::Written);
    assert_eq!(files(&session)["c.md"], "-> b.md");
    assert_eq!(index(&session), "- [C](c.md)\n- [B](b.md)\n");
    // It is written through, and stays a link.
    let body = SaveOptions {
        body: Some("new".to_owned()),
        ..at("c.md")
    };
    session.save(body).unwrap();
    assert_eq!(files(&session)["c.md"], "-> b.md");
    assert!(files(&session)["b.md"].ends_with("---\nnew\n"));
}

#[test]
fn what_is_no_text_can_be_forgotten_and_had_back() {
    let mut tree = written_tree();
    tree.file("/mem/a.md", b"\xff\xfe\0\x80");
    let mut session = session(tree);
    let hash = session.save(at("a.md")).unwrap();
    assert_eq!(refusal(&hash), Some(ErrorCode::NotText));
    assert_eq!(
        session.forget("a.md", None).unwrap().outcome,
        WriteOutcome::Written
    );
    assert_eq!(session.undo(None).unwrap().outcome, WriteOutcome::Written);
    let body = &session.host.tree.nodes()[&b"/mem/a.md"[..]].body;
    assert_eq!(*body, Body::File(b"\xff\xfe\0\x80".to_vec()));
    assert_eq!(index(&session), INDEX);
}

#[test]
fn a_line_without_a_memory_can_be_forgotten() {
    let mut tree = written_tree();
    tree.take("/mem/a.md");
    let mut session = session(tree);
    let result = session.forget("a.md", None).unwrap();
    assert_eq!(result.outcome, WriteOutcome::Written);
    assert!(result.index_changed);
    assert_eq!(index(&session), "# Index\n- [B](b.md) — b\n");
    assert_eq!(Folder::new(&session.host.tree, STORE).trash(), []);
    assert_eq!(
        refusal(&session.undo(None).unwrap()),
        Some(ErrorCode::NotFound)
    );
}

// Undoing.

#[test]
fn lines_come_back_to_their_places() {
    for (now, then) in [
        ("# Index\n- [B](b.md) — b\n", INDEX),
        // The line before it is gone: at the end.
        (
            "- [B](b.md) — b\n",
            "- [B](b.md) — b\n- [Old](a.md) — old hook\n",
        ),
        ("", "- [Old](a.md) — old hook\n"),
        // Somebody has written it again.
        ("# Index\nsee [a](a.md)\n", "# Index\nsee [a](a.md)\n"),
        (
            "# Index\r\nb\r\n",
            "# Index\r\n- [Old](a.md) — old hook\r\nb\r\n",
        ),
        ("# Index", "# Index\n- [Old](a.md) — old hook"),
    ] {
        let mut session = session(written_tree());
        session.forget("a.md", None).unwrap();
        session.host.tree.file("/mem/MEMORY.md", now);
        let result = session.undo(None).unwrap();
        assert_eq!(result.outcome, WriteOutcome::Written);
        assert_eq!(index(&session), then);
        assert_eq!(result.index_changed, now != then);
        assert!(result.created);
        assert_eq!(result.hash, hash_of(&written_tree(), "a.md"));
    }
    // The first line of all, and an index that is gone.
    let mut tree = written_tree();
    tree.file("/mem/MEMORY.md", "- [Old](a.md)\n- [B](b.md)\n");
    let mut session = session(tree);
    session.forget("a.md", None).unwrap();
    assert_eq!(index(&session), "- [B](b.md)\n");
    session.undo(None).unwrap();
    assert_eq!(index(&session), "- [Old](a.md)\n- [B](b.md)\n");
    session.forget("a.md", None).unwrap();
    session.host.tree.take("/mem/MEMORY.md");
    session.undo(None).unwrap();
    assert_eq!(index(&session), "- [Old](a.md)\n");
}

#[test]
fn undoing_does_not_write_over_another_memory() {
    let mut session = session(written_tree());
    session.forget("a.md", None).unwrap();
    session.host.tree.file("/mem/a.md", "another\n");
    let before = files(&session);
    let result = session.undo(None).unwrap();
    assert_eq!(result.outcome, WriteOutcome::Conflict);
    assert_eq!(result.code, Some(ErrorCode::Exists));
    assert_eq!(result.hash, hash_of(&session.host.tree, "a.md"));
    assert_eq!(files(&session), before);
    // It can be done when that one is away.
    session.host.tree.take("/mem/a.md");
    assert_eq!(session.undo(None).unwrap().outcome, WriteOutcome::Written);
    assert_eq!(files(&session), Folder::new(&written_tree(), STORE).files());
}

#[test]
fn undoing_goes_back_one_by_one() {
    let mut session = session(written_tree());
    session.forget("a.md", None).unwrap();
    session.host.clock_ms += 1_000;
    session.forget("b.md", None).unwrap();
    session.host.clock_ms += 1_000;
    let newer = SaveOptions {
        path: Some("a.md".to_owned()),
        ..new(MemoryType::User, "Newer")
    };
    session.save(newer).unwrap();
    session.host.clock_ms += 1_000;
    session.forget("a.md", None).unwrap();
    let undone = |session: &mut Session, path| session.undo(path).unwrap().path;
    assert_eq!(undone(&mut session, Some("b.md")).as_deref(), Some("b.md"));
    assert_eq!(undone(&mut session, None).as_deref(), Some("a.md"));
    assert!(session.file("/mem/a.md").unwrap().contains("Newer"));
    // The one before it is kept as long as there is another.
    assert_eq!(session.undo(None).unwrap().outcome, WriteOutcome::Conflict);
    session.host.tree.take("/mem/a.md");
    assert_eq!(undone(&mut session, None).as_deref(), Some("a.md"));
    assert_eq!(session.file("/mem/a.md").unwrap(), OLD);
    assert_eq!(
        refusal(&session.undo(None).unwrap()),
        Some(ErrorCode::NotFound)
    );
}

#[test]
fn a_folder_that_is_gone_is_made_again() {
    let mut tree = written_tree();
    tree.file("/mem/sub/c.md", B);
    let mut session = session(tree);
    session.forget("sub/c.md", None).unwrap();
    session.host.tree.take("/mem/sub");
    session.undo(None).unwrap();
    assert_eq!(session.file("/mem/sub/c.md").unwrap(), B);
}

// A record is a file like any other.
#[test]
fn a_record_by_another_hand_leads_nowhere() {
    for path in ["../outside.md", "/etc/passwd", ".memdir/lock", "MEMORY.md"] {
        let mut tree = written_tree();
        let item = "/mem/.memdir/trash/001773570600000-00-000";
        let record =
            format!("{{\"path\":\"{path}\",\"reason\":\"forgotten\",\"atMs\":0,\"lines\":[]}}");
        tree.file(format!("{item}.json"), record);
        tree.file(format!("{item}.bytes"), "theirs");
        let before = Folder::new(&tree, STORE).everything();
        let mut session = session(tree);
        refusal(&session.undo(None).unwrap());
        assert_eq!(
            Folder::new(&session.host.tree, STORE).everything(),
            before,
            "{path}"
        );
    }
    for record in ["", "{", "[]", "{\"path\":1}", "\u{FEFF}{}"] {
        let mut tree = written_tree();
        tree.file("/mem/.memdir/trash/009999999999999-00-000.json", record);
        tree.file("/mem/.memdir/trash/009999999999999-00-000.bytes", "x");
        let mut session = session(tree);
        session.forget("a.md", None).unwrap();
        assert_eq!(session.undo(None).unwrap().path.as_deref(), Some("a.md"));
    }
}

// What is kept.

#[test]
fn a_hundred_items_are_kept() {
    let mut session = session(written_tree());
    for number in 0..105 {
        session.host.clock_ms += 1_000;
        let body = SaveOptions {
            body: Some(format!("body {number}")),
            ..at("a.md")
        };
        session.save(body).unwrap();
    }
    let trash = Folder::new(&session.host.tree, STORE).trash();
    assert_eq!(trash.len(), 100);
    assert!(trash.iter().all(|item| item.record.is_some()));
    let kept = |number: usize| trash[number].bytes.as_deref().unwrap();
    assert!(kept(0).ends_with("body 4\n") && kept(99).ends_with("body 103\n"));
    // Forgetting pushes out the oldest too.
    session.host.clock_ms += 1_000;
    session.forget("b.md", None).unwrap();
    let trash = Folder::new(&session.host.tree, STORE).trash();
    assert_eq!(trash.len(), 100);
    assert!(trash[0].bytes.as_deref().unwrap().ends_with("body 5\n"));
    assert_eq!(trash[99].bytes.as_deref(), Some(B));
}

#[test]
fn items_are_kept_for_thirty_days() {
    for (days_ms, stays) in [(30 * DAY_MS, true), (30 * DAY_MS + 1, false)] {
        let mut session = session(written_tree());
        session.forget("a.md", None).unwrap();
        session.host.clock_ms += days_ms;
        session.forget("b.md", None).unwrap();
        let trash = Folder::new(&session.host.tree, STORE).trash();
        assert_eq!(trash.len(), if stays { 2 } else { 1 });
        let undone = session.undo(Some("a.md")).unwrap();
        assert_eq!(undone.outcome == WriteOutcome::Written, stays);
    }
}
