//! The memory tool, agents' memories and the daily log on the simulated machine: exact texts, what is
//! refused, and what is left after a cancellation or a crash at each effect.
#![expect(clippy::indexing_slicing, reason = "helpers of tests fail as tests do")]

use memdir_core::ErrorCode;
use memdir_core::agents::AgentScope;
use memdir_core::memory::MemoryType;
use memdir_core::report::ReportCode;
use memdir_core::store::{OpenOptions, Store};
use memdir_core::write::{SaveOptions, WriteOutcome};
use memdir_simulation::{Body, FaultKind, Folder, SimHost, Tree};

const STORE: &str = "/mem";

fn store() -> Store {
    Store::new(OpenOptions {
        directory: Some(STORE.to_owned()),
        ..OpenOptions::default()
    })
}

fn tree() -> Tree {
    let mut tree = Tree::new();
    tree.file("/mem/a.md", "one\ntwo\ntwo and a half");
    tree.file("/mem/sub/b.md", "b\r\nc\r\n");
    tree.file("/mem/MEMORY.md", "- [A](a.md)\n- [B](sub/b.md)\n");
    tree.file("/mem/.memdir/.gitignore", "*\n");
    tree
}

fn ask(host: &mut SimHost, input: serde_json::Value) -> Result<String, ErrorCode> {
    host.run(store().tool(input.to_string()))
        .map_err(|error| error.code)
}

fn file(host: &SimHost, path: &str) -> String {
    Folder::new(&host.tree, STORE).files()[path].clone()
}

#[test]
fn files_and_folders_are_viewed() {
    let mut host = SimHost::with_tree(1, tree());
    let view = |path: &str| serde_json::json!({ "command": "view", "path": path });
    assert_eq!(
        ask(&mut host, view("/memories/a.md")).unwrap(),
        "/memories/a.md with line numbers:\n     1\tone\n     2\ttwo\n     3\ttwo and a half\n"
    );
    let folder = ask(&mut host, view("/memories")).unwrap();
    let lines: Vec<&str> = folder.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "56B\t/memories",
            "28B\t/memories/MEMORY.md",
            "22B\t/memories/a.md",
            "6B\t/memories/sub/",
            "6B\t/memories/sub/b.md",
        ]
    );
    let part =
        serde_json::json!({ "command": "view", "path": "/memories/a.md", "view_range": [2, -1] });
    let part = ask(&mut host, part).unwrap();
    assert!(
        part.ends_with(":\n     2\ttwo\n     3\ttwo and a half\n"),
        "{part}"
    );
    for (path, code) in [
        ("/memoriesX/a.md", ErrorCode::PathOutsideStore),
        ("/memories/../x", ErrorCode::PathOutsideStore),
        ("/memories/.memdir/lock", ErrorCode::PathOutsideStore),
        ("a.md", ErrorCode::PathOutsideStore),
        ("/memories/none.md", ErrorCode::NotFound),
    ] {
        assert_eq!(ask(&mut host, view(path)), Err(code), "{path}");
    }
}

#[test]
fn texts_are_made_changed_and_taken_away() {
    let mut host = SimHost::with_tree(1, tree());
    let new = serde_json::json!({ "command": "create", "path": "/memories/n/new.txt", "file_text": "x\n" });
    ask(&mut host, new.clone()).unwrap();
    assert_eq!(file(&host, "n/new.txt"), "x\n");
    assert_eq!(ask(&mut host, new), Err(ErrorCode::Exists));

    let replace = |path: &str, old: &str, new: &str| serde_json::json!({ "command": "str_replace", "path": path, "old_str": old, "new_str": new });
    // A text over two lines, in a file with CRLF too; one that stands twice is no place.
    ask(&mut host, replace("/memories/sub/b.md", "b\nc", "d\ne")).unwrap();
    assert_eq!(file(&host, "sub/b.md"), "d\r\ne\r\n");
    assert_eq!(
        ask(&mut host, replace("/memories/a.md", "two", "2")),
        Err(ErrorCode::InvalidArgument)
    );
    assert_eq!(
        ask(&mut host, replace("/memories/a.md", "$&", "2")),
        Err(ErrorCode::InvalidArgument)
    );
    ask(&mut host, replace("/memories/a.md", "two and", "$& {}")).unwrap();
    assert_eq!(file(&host, "a.md"), "one\ntwo\n$& {} a half");

    // Overlapping places are two as well.
    ask(
        &mut host,
        serde_json::json!({ "command": "create", "path": "/memories/o.md", "file_text": "aaa" }),
    )
    .unwrap();
    assert_eq!(
        ask(&mut host, replace("/memories/o.md", "aa", "b")),
        Err(ErrorCode::InvalidArgument)
    );
    assert_eq!(file(&host, "o.md"), "aaa");

    let insert = |line: i64| serde_json::json!({ "command": "insert", "path": "/memories/a.md", "insert_line": line, "insert_text": "in" });
    assert_eq!(ask(&mut host, insert(4)), Err(ErrorCode::InvalidArgument));
    assert_eq!(ask(&mut host, insert(-1)), Err(ErrorCode::InvalidArgument));
    ask(&mut host, insert(3)).unwrap();
    assert_eq!(file(&host, "a.md"), "one\ntwo\n$& {} a half\nin");
    ask(&mut host, insert(0)).unwrap();
    assert_eq!(file(&host, "a.md"), "in\none\ntwo\n$& {} a half\nin");

    let rename = |from: &str, to: &str| serde_json::json!({ "command": "rename", "old_path": from, "new_path": to });
    assert_eq!(
        ask(&mut host, rename("/memories/a.md", "/memories/sub/b.md")),
        Err(ErrorCode::Exists)
    );
    ask(&mut host, rename("/memories/a.md", "/memories/c d.md")).unwrap();
    assert_eq!(
        file(&host, "MEMORY.md"),
        "- [A](c%20d.md)\n- [B](sub/b.md)\n"
    );

    let delete = |path: &str| serde_json::json!({ "command": "delete", "path": path });
    assert_eq!(
        ask(&mut host, delete("/memories")),
        Err(ErrorCode::InvalidArgument)
    );
    for path in ["/memories/../mem/a.md", "/memories/.memdir/.gitignore"] {
        assert_eq!(
            ask(&mut host, delete(path)),
            Err(ErrorCode::PathOutsideStore)
        );
    }
    // Nobody has looked at what is in it.
    let team = rename("/memories/sub", "/memories/team");
    assert_eq!(ask(&mut host, team), Err(ErrorCode::InvalidArgument));
    ask(&mut host, delete("/memories/sub")).unwrap();
    ask(&mut host, delete("/memories/n/new.txt")).unwrap();
    let files = Folder::new(&host.tree, STORE).files();
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        ["MEMORY.md", "c d.md", "o.md"]
    );
    assert_eq!(file(&host, "MEMORY.md"), "- [A](c%20d.md)\n");
    assert_eq!(Folder::new(&host.tree, STORE).left_over(), [""; 0]);
}

#[test]
fn nothing_is_deleted_of_a_folder_with_a_link_that_leaves_the_store() {
    let mut tree = tree();
    tree.file("/outside.md", "x\n");
    tree.link("/mem/sub/z.md", "/outside.md");
    let mut host = SimHost::with_tree(1, tree);
    let delete = serde_json::json!({ "command": "delete", "path": "/memories/sub" });
    assert_eq!(ask(&mut host, delete), Err(ErrorCode::LinkOutside));
    assert_eq!(file(&host, "sub/b.md"), "b\r\nc\r\n");
}

#[test]
fn an_edit_makes_no_store() {
    let mut host = SimHost::with_tree(1, Tree::new());
    for input in [
        serde_json::json!({ "command": "str_replace", "path": "/memories/a.md", "old_str": "a" }),
        serde_json::json!({ "command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "a" }),
        serde_json::json!({ "command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md" }),
        serde_json::json!({ "command": "delete", "path": "/memories/a.md" }),
    ] {
        assert_eq!(ask(&mut host, input), Err(ErrorCode::NotFound));
    }
    assert!(
        host.tree
            .nodes()
            .keys()
            .all(|path| !path.starts_with(STORE.as_bytes()))
    );
}

/// Where case does not count, another spelling is the same folder.
#[test]
fn a_secret_stays_out_of_team_however_it_is_spelt() {
    let secret = format!(
        "ghp_{}",
        "aB3dE5gH7j".repeat(4).get(..36).unwrap_or_default()
    );
    for folder in ["team", "TEAM", "Team"] {
        let mut host = SimHost::with_tree(1, tree());
        let path = format!("/memories/{folder}/a.md");
        let create = serde_json::json!({ "command": "create", "path": path, "file_text": secret });
        assert_eq!(
            ask(&mut host, create),
            Err(ErrorCode::SecretFound),
            "{folder}"
        );
    }
}

/// Whatever happens at an effect, a file is an old or a new one, and nothing temporary stays.
#[test]
fn an_edit_is_whole_or_not_at_all() {
    let input = serde_json::json!({
        "command": "str_replace", "path": "/memories/a.md", "old_str": "one", "new_str": "1"
    })
    .to_string();
    let (old, new) = ("one\ntwo\ntwo and a half", "1\ntwo\ntwo and a half");
    for kind in [FaultKind::Cancel, FaultKind::Crash, FaultKind::Tear] {
        for at in 0.. {
            let mut host = SimHost::with_tree(1, tree()).with_fault(at, kind);
            let ended = host.run_to_end(store().tool(input.clone()));
            if host.trace.len() <= at {
                break;
            }
            let text = file(&host, "a.md");
            assert!(text == old || text == new, "{kind:?} {at}: {text}");
            if kind == FaultKind::Cancel {
                assert_eq!(ended.unwrap().unwrap_err().code, ErrorCode::Aborted);
                assert_eq!(Folder::new(&host.tree, STORE).left_over(), [""; 0], "{at}");
            }
        }
    }
}

#[test]
fn an_agent_has_a_folder_of_its_own() {
    let mut tree = Tree::new();
    tree.put("/code/shop/.git", Body::Folder);
    tree.put("/code/shop/.claude", Body::Folder);
    tree.put("/code/shop/src/deep", Body::Folder);
    tree.put("/home/ada", Body::Folder);
    let mut host = SimHost::with_tree(1, tree.clone());
    let project = Store::new(OpenOptions {
        cwd: Some("/code/shop/src/deep".to_owned()),
        home: Some("/home/ada".to_owned()),
        ..OpenOptions::default()
    });
    for (scope, name, folder) in [
        (
            AgentScope::User,
            "tester",
            "/home/ada/.claude/agent-memory/tester/",
        ),
        (
            AgentScope::Project,
            "tester",
            "/code/shop/.claude/agent-memory/tester/",
        ),
        (
            AgentScope::Local,
            "a:b",
            "/code/shop/.claude/agent-memory-local/a-b/",
        ),
    ] {
        let opened = host
            .run(project.agent(name.to_owned(), scope).open())
            .unwrap();
        assert_eq!(opened.directory, folder);
    }
    let tester = project.agent("tester".to_owned(), AgentScope::Project);
    let prompt = host
        .run(tester.prompt(Default::default()))
        .unwrap()
        .unwrap();
    assert!(
        prompt.contains("# Memory of the agent tester") && prompt.contains("shared with everybody")
    );
    assert_eq!(host.tree, tree, "nothing is created before the first write");

    let save = |store: &Store| {
        store.save(SaveOptions {
            kind: Some(MemoryType::Feedback),
            name: Some("One".to_owned()),
            ..SaveOptions::default()
        })
    };
    assert_eq!(
        host.run(save(&tester)).unwrap().outcome,
        WriteOutcome::Written
    );
    let folder = Folder::new(&host.tree, "/code/shop/.claude/agent-memory/tester");
    assert_eq!(
        folder.files().keys().collect::<Vec<_>>(),
        ["feedback_one.md"]
    );

    // Two names that give one folder name: the second one gets another.
    let (colon, dash) = ("a:b".to_owned(), "a-b".to_owned());
    host.run(save(&project.agent(colon, AgentScope::Local)))
        .unwrap();
    let opened = host
        .run(project.agent(dash, AgentScope::Local).open())
        .unwrap();
    assert_ne!(
        opened.directory,
        "/code/shop/.claude/agent-memory-local/a-b/"
    );
    assert_eq!(opened.report[0].code, ReportCode::SlugCollision);
}

#[test]
fn a_day_has_one_log() {
    let mut host = SimHost::with_tree(1, tree());
    // 2026-03-15T23:30:00Z, an hour ahead of UTC: it is the next day already.
    host.clock_ms = 1_773_617_400_000;
    host.offset_minutes = 60;
    host.run(store().log("first".to_owned())).unwrap();
    host.run(store().log("second\nline".to_owned())).unwrap();
    assert_eq!(
        file(&host, "logs/2026/03/2026-03-16.md"),
        "- 00:30 first\n- 00:30 second\n  line\n"
    );
    assert_eq!(Folder::new(&host.tree, STORE).trash(), []);
    let empty = host.run(store().log(" ".to_owned()));
    assert_eq!(empty.unwrap_err().code, ErrorCode::InvalidArgument);
}

#[test]
fn a_secret_does_not_reach_the_team() {
    let mut host = SimHost::with_tree(1, tree());
    // Assembled, so that none stands in this file.
    let token = format!("gh{}_{}", "p", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let save = |scope| SaveOptions {
        kind: Some(MemoryType::Reference),
        name: Some("Deploy".to_owned()),
        body: Some(format!("The key is `{token}`.")),
        scope: Some(scope),
        ..SaveOptions::default()
    };
    let team = host
        .run(store().save(save(memdir_core::memory::Scope::Team)))
        .unwrap();
    assert_eq!(
        (team.outcome, team.code),
        (WriteOutcome::Refused, Some(ErrorCode::SecretFound))
    );
    assert!(!team.message.unwrap().contains(&token));
    let private = host
        .run(store().save(save(memdir_core::memory::Scope::Private)))
        .unwrap();
    assert_eq!(private.outcome, WriteOutcome::Written);
    let noted: Vec<ReportCode> = private.report.iter().map(|entry| entry.code).collect();
    assert_eq!(noted, [ReportCode::SecretFound]);
    assert!(!private.report[0].message.contains(&token));
}
