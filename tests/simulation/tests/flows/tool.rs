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

/// What is said of what cannot be deleted, its code, and how it comes to be.
type Obstacle = (&'static str, ErrorCode, fn(&mut Tree));

/// A folder with files of which one cannot be deleted.
fn with_obstacle(make: impl FnOnce(&mut Tree)) -> Tree {
    let mut tree = tree();
    for name in ["1", "2", "4", "5"] {
        tree.file(format!("/mem/f/{name}.md"), "x\n");
    }
    tree.file("/mem/f/deep/6.md", "x\n");
    make(&mut tree);
    tree
}

#[test]
fn a_folder_is_deleted_whole_or_not_at_all() {
    let obstacles: [Obstacle; 8] = [
        ("/memories/f/3x.md", ErrorCode::Unsupported, |tree| {
            tree.put("/mem/f/3x.md", Body::Other);
        }),
        ("whose name is no UTF-8", ErrorCode::InvalidName, |tree| {
            tree.file(b"/mem/f/\xff.md", "x\n");
        }),
        ("/memories/f/deep/large.md", ErrorCode::TooLarge, |tree| {
            let size = 4 * 1024 * 1024 + 1;
            tree.put("/mem/f/deep/large.md", Body::Sparse(Vec::new(), size));
        }),
        ("/memories/f/.memdir", ErrorCode::PathOutsideStore, |tree| {
            tree.file("/mem/f/.memdir/uses.json", "{}");
        }),
        ("/memories/f/out.md", ErrorCode::LinkOutside, |tree| {
            tree.file("/out.md", "x\n");
            tree.link("/mem/f/out.md", "/out.md");
        }),
        ("/memories/f/nothing.md", ErrorCode::LinkOutside, |tree| {
            tree.link("/mem/f/nothing.md", "nowhere.md");
        }),
        ("/memories/f/sub", ErrorCode::Unsupported, |tree| {
            tree.link("/mem/f/sub", "../sub");
        }),
        ("folders deep", ErrorCode::Unsupported, |tree| {
            tree.put(format!("/mem/f{}", "/d".repeat(40)), Body::Folder);
        }),
    ];
    for (said, code, make) in obstacles {
        let tree = with_obstacle(make);
        let mut host = SimHost::with_tree(1, tree.clone());
        let delete = serde_json::json!({ "command": "delete", "path": "/memories/f" });
        let error = host.run(store().tool(delete.to_string())).unwrap_err();
        assert_eq!(error.code, code, "{error}");
        assert!(error.message.contains(said), "{error}");
        assert_eq!(host.tree, tree, "{said}");
    }
    // A link goes before what it leads to.
    let mut host = SimHost::with_tree(
        1,
        with_obstacle(|tree| {
            tree.link("/mem/f/z.md", "1.md");
        }),
    );
    let delete = serde_json::json!({ "command": "delete", "path": "/memories/f" });
    ask(&mut host, delete).unwrap();
    let files = Folder::new(&host.tree, STORE).files();
    assert!(files.keys().all(|path| !path.starts_with("f/")));
    assert_eq!(Folder::new(&host.tree, STORE).trash().len(), 6);
}

/// What cannot be seen before is told with what is gone by then.
#[test]
fn a_deletion_that_fails_half_way_says_how_far_it_came() {
    let tree = with_obstacle(|tree| {
        // Its files cannot be moved away.
        tree.node("/mem/f/deep").unwrap().mode = 0o500;
    });
    let mut host = SimHost::with_tree(1, tree);
    let delete = serde_json::json!({ "command": "delete", "path": "/memories/f" }).to_string();
    let error = host.run(store().tool(delete)).unwrap_err();
    assert_eq!(error.code, ErrorCode::Permission);
    assert!(
        error
            .message
            .ends_with("; before that, 4 of 5 files of /memories/f went to the trash"),
        "{error}"
    );
    assert_eq!(Folder::new(&host.tree, STORE).trash().len(), 4);
}

#[test]
fn no_view_is_longer_than_its_limit() {
    const LIMIT: usize = 65_536;
    let long = "é".repeat(900_000);
    let mut tree = tree();
    tree.file(
        "/mem/long.md",
        format!("{long}\nsecond\n{long}\n{}", "\n".repeat(30_000)),
    );
    let mut host = SimHost::with_tree(1, tree);
    let mut view = |more: serde_json::Value| {
        let mut input = serde_json::json!({ "command": "view", "path": "/memories/long.md" });
        input["view_range"] = more;
        ask(&mut host, input).unwrap()
    };
    let whole = view(serde_json::Value::Null);
    assert!(
        (LIMIT - 1000..=LIMIT).contains(&whole.len()),
        "{}",
        whole.len()
    );
    let shown = whole.matches('é').count() * 2;
    let cut = format!(
        "é… ({} more bytes of this line are not shown)\n",
        1_800_000 - shown
    );
    assert!(whole.contains(&cut));
    assert!(whole.ends_with("(lines 2 to 30003 are not shown; view them with view_range)\n"));
    assert!(view(serde_json::json!([2, 3])).contains("     2\tsecond\n(lines 3 to 3 are"));
    assert!(view(serde_json::json!([3, 3])).contains("more bytes of this line"));
    assert!(view(serde_json::json!([4, -1])).len() <= LIMIT);

    // What was edited is shown beside a long line.
    let insert = serde_json::json!({ "command": "insert", "path": "/memories/long.md", "insert_line": 2, "insert_text": "in" });
    let answer = ask(&mut host, insert).unwrap();
    assert!(answer.len() <= LIMIT);
    assert!(answer.contains("     2\tsecond\n     3\tin\n     4\té"));
    let many = serde_json::json!({ "command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "many\n".repeat(20_000) });
    let answer = ask(&mut host, many).unwrap();
    assert!(answer.len() <= LIMIT);
    assert!(answer.ends_with("to 20003 are not shown; view them with view_range)\n"));
}

#[test]
fn a_byte_order_mark_is_shown_by_no_command() {
    let mut tree = tree();
    tree.file("/mem/bom.md", "\u{FEFF}one\ntwo\n");
    let mut host = SimHost::with_tree(1, tree);
    for input in [
        serde_json::json!({ "command": "view", "path": "/memories/bom.md" }),
        serde_json::json!({ "command": "str_replace", "path": "/memories/bom.md", "old_str": "two", "new_str": "2" }),
        serde_json::json!({ "command": "insert", "path": "/memories/bom.md", "insert_line": 0, "insert_text": "in" }),
    ] {
        assert!(!ask(&mut host, input).unwrap().contains('\u{FEFF}'));
    }
    assert_eq!(file(&host, "bom.md"), "\u{FEFF}in\none\n2\n");
}

#[test]
fn what_would_be_no_text_is_not_written() {
    let mut host = SimHost::with_tree(1, tree());
    for input in [
        serde_json::json!({ "command": "create", "path": "/memories/n.md", "file_text": "a\0b" }),
        serde_json::json!({ "command": "str_replace", "path": "/memories/a.md", "old_str": "one", "new_str": "\0" }),
        serde_json::json!({ "command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "\0" }),
    ] {
        assert_eq!(ask(&mut host, input), Err(ErrorCode::InvalidText));
    }
    let before = tree();
    assert_eq!(
        Folder::new(&host.tree, STORE).files(),
        Folder::new(&before, STORE).files()
    );
}

#[test]
fn a_line_number_is_a_whole_number() {
    let mut host = SimHost::with_tree(1, tree());
    let insert = |line: serde_json::Value| serde_json::json!({ "command": "insert", "path": "/memories/a.md", "insert_line": line, "insert_text": "in" });
    let view = |range: serde_json::Value| serde_json::json!({ "command": "view", "path": "/memories/a.md", "view_range": range });
    // Written out, as a number of JSON is.
    let huge: serde_json::Value = serde_json::from_str(&format!("{}", 1_u128 << 70)).unwrap();
    for wrong in [
        huge,
        1.5.into(),
        "1".into(),
        true.into(),
        serde_json::json!([1]),
    ] {
        for input in [
            insert(wrong.clone()),
            view(serde_json::json!([wrong.clone(), 2])),
            view(serde_json::json!([1, wrong.clone()])),
        ] {
            let error = host.run(store().tool(input.to_string())).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidArgument);
            assert!(error.message.contains("no whole number"), "{error}");
        }
    }
    let part = ask(&mut host, view(serde_json::json!([1.0, 1.0]))).unwrap();
    assert!(part.ends_with(":\n     1\tone\n"), "{part}");
    ask(&mut host, insert(1.0.into())).unwrap();
    assert_eq!(file(&host, "a.md"), "one\nin\ntwo\ntwo and a half");
    let missing =
        serde_json::json!({ "command": "insert", "path": "/memories/a.md", "insert_text": "in" });
    let error = host.run(store().tool(missing.to_string())).unwrap_err();
    assert!(
        error.message.starts_with("insert_line is missing"),
        "{error}"
    );
}

#[test]
fn a_file_is_no_folder_and_a_folder_no_file() {
    let mut host = SimHost::with_tree(1, tree());
    for to in ["/memories/sub/b.md/c.md", "/memories/sub/b.md/c/d.md"] {
        for input in [
            serde_json::json!({ "command": "rename", "old_path": "/memories/a.md", "new_path": to }),
            serde_json::json!({ "command": "create", "path": to, "file_text": "x" }),
        ] {
            assert_eq!(ask(&mut host, input), Err(ErrorCode::NotADirectory));
        }
    }
    for input in [
        serde_json::json!({ "command": "create", "path": "/memories/n/", "file_text": "x" }),
        serde_json::json!({ "command": "str_replace", "path": "/memories/a.md/", "old_str": "one" }),
        serde_json::json!({ "command": "insert", "path": "/memories/a.md/", "insert_line": 0, "insert_text": "x" }),
    ] {
        assert_eq!(ask(&mut host, input), Err(ErrorCode::InvalidArgument));
    }
    for input in [
        serde_json::json!({ "command": "view", "path": "/memories/sub/" }),
        serde_json::json!({ "command": "rename", "old_path": "/memories/sub/", "new_path": "/memories/other/" }),
        serde_json::json!({ "command": "delete", "path": "/memories/other/" }),
    ] {
        ask(&mut host, input).unwrap();
    }
}

#[test]
fn an_empty_file_has_a_whole_view() {
    let mut tree = tree();
    tree.file("/mem/empty.md", "");
    let mut host = SimHost::with_tree(1, tree);
    let mut view = |path: &str, range: [i64; 2]| {
        let input = serde_json::json!({ "command": "view", "path": path, "view_range": range });
        ask(&mut host, input)
    };
    for range in [[1, -1], [1, 1]] {
        let shown = view("/memories/empty.md", range).unwrap();
        assert_eq!(shown, "/memories/empty.md with line numbers:\n");
    }
    for range in [[2, -1], [1, 0], [0, -1]] {
        assert_eq!(
            view("/memories/empty.md", range),
            Err(ErrorCode::InvalidArgument)
        );
    }
    assert_eq!(
        view("/memories/a.md", [1, 0]),
        Err(ErrorCode::InvalidArgument)
    );
}

#[test]
fn a_link_to_a_folder_is_viewed_as_the_folder() {
    let mut tree = tree();
    tree.file("/mem/sub/deep/c.md", "c\n");
    tree.link("/mem/hl", "sub");
    tree.file("/outside/x.md", "x\n");
    tree.link("/mem/away", "/outside");
    tree.link("/mem/own", ".memdir");
    let mut host = SimHost::with_tree(1, tree);
    let mut view = |path: &str| {
        let input = serde_json::json!({ "command": "view", "path": format!("/memories/{path}") });
        ask(&mut host, input)
    };
    assert_eq!(view("hl").unwrap(), view("sub").unwrap());
    assert!(view("hl").unwrap().ends_with("\t/memories/sub/deep/c.md\n"));
    assert_eq!(view("hl/deep").unwrap(), view("sub/deep").unwrap());
    assert!(view("hl/b.md").unwrap().contains("\tb\n"));
    assert_eq!(view("away"), Err(ErrorCode::LinkOutside));
    assert_eq!(view("own"), Err(ErrorCode::PathOutsideStore));
}

#[test]
fn a_name_may_change_in_case_only() {
    let rename = || serde_json::json!({ "command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/A.md" });
    // Where case does not count, the new name leads to the old file: as two names of one file do here.
    for counts in [true, false] {
        let mut tree = tree();
        let content = "one\ntwo\ntwo and a half";
        if !counts {
            tree.hard_link("/mem/a.md", "/mem/A.md");
        }
        let mut host = SimHost::with_tree(1, tree);
        ask(&mut host, rename()).unwrap();
        assert_eq!(file(&host, "A.md"), content);
        assert_eq!(file(&host, "MEMORY.md"), "- [A](A.md)\n- [B](sub/b.md)\n");
    }
    // Another file of that name is not written over.
    let mut tree = tree();
    tree.file("/mem/A.md", "another");
    let mut host = SimHost::with_tree(1, tree);
    assert_eq!(ask(&mut host, rename()), Err(ErrorCode::Exists));
    assert_eq!(file(&host, "A.md"), "another");
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

/// Where case does not count, or what a name ends with, another spelling is the same folder.
#[test]
fn a_secret_stays_out_of_team_however_it_is_spelt() {
    let secret = format!(
        "ghp_{}",
        "aB3dE5gH7j".repeat(4).get(..36).unwrap_or_default()
    );
    for folder in ["team", "TEAM", "Team", "team.", "TEAM ."] {
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
            "/code/shop/.claude/agent-memory-local/a-b-6783a31e/",
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
