//! Loading instructions on the simulated machine: what is found and in which order, what is left out and why, in
//! folders shaped like real ones.
#![expect(clippy::panic, reason = "helpers of tests fail as tests do")]

use memdir_core::flow::{Effect, Entry, Failure, FailureCode, Listing, Outcome};
use memdir_core::instructions::{
    Instructions, InstructionsOptions, LoadEntry, LoadKind, LoadOutcome,
};
use memdir_core::report::ReportCode;
use memdir_core::store::{OpenOptions, Store};
use memdir_simulation::{Attempt, Body, SimHost, Tree};

const HOME: &str = "/home/ada";

fn options(cwd: &str) -> OpenOptions {
    OpenOptions {
        cwd: Some(cwd.to_owned()),
        home: Some(HOME.to_owned()),
        ..OpenOptions::default()
    }
}

fn all() -> InstructionsOptions {
    InstructionsOptions::default()
}

fn load(tree: &Tree, cwd: &str, options_of: &InstructionsOptions) -> Instructions {
    let mut host = SimHost::with_tree(1, tree.clone());
    let store = Store::new(options(cwd));
    let loaded = host.run(store.instructions(options_of.clone()));
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(&host.tree, tree, "loading never writes");
    loaded
}

fn load_for(tree: &Tree, cwd: &str, path: &str) -> Instructions {
    let mut host = SimHost::with_tree(1, tree.clone());
    let store = Store::new(options(cwd));
    host.run(store.instructions_for(path.to_owned(), all()))
        .unwrap_or_else(|error| panic!("{error}"))
}

fn paths(loaded: &Instructions) -> Vec<&str> {
    loaded.files.iter().map(|file| file.path.as_str()).collect()
}

/// Every file that was skipped, and why.
fn skipped(loaded: &Instructions) -> Vec<(&str, ReportCode)> {
    let entries = loaded.report.iter();
    entries
        .filter(|entry| entry.outcome == LoadOutcome::Skipped)
        .filter_map(|entry| Some((entry.path.as_str(), entry.code?)))
        .collect()
}

fn entry<'a>(loaded: &'a Instructions, path: &str) -> &'a LoadEntry {
    let mut entries = loaded.report.iter().filter(|entry| entry.path == path);
    let entry = entries
        .next()
        .unwrap_or_else(|| panic!("{path} is not in the report"));
    assert!(
        entries.next().is_none(),
        "{path} stands twice in the report"
    );
    entry
}

fn project() -> Tree {
    let mut tree = Tree::new();
    tree.file("/code/app/.git/HEAD", "ref: refs/heads/main\n");
    tree
}

#[test]
fn the_broad_comes_before_the_near() {
    let mut tree = project();
    tree.file("/CLAUDE.md", "root of the disk");
    tree.file("/etc/claude-code/CLAUDE.md", "managed");
    tree.file("/etc/claude-code/.claude/rules/b.md", "managed rule");
    tree.file(
        "/etc/claude-code/managed-settings.json",
        r#"{"claudeMd": "managed text"}"#,
    );
    tree.file("/home/ada/.claude/CLAUDE.md", "user");
    tree.file("/home/ada/.claude/rules/a.md", "user rule");
    tree.file("/code/CLAUDE.md", "above");
    tree.file("/code/app/CLAUDE.md", "project");
    tree.file("/code/app/AGENTS.md", "agents");
    tree.file("/code/app/.claude/CLAUDE.md", "hidden project");
    tree.file("/code/app/.claude/rules/z.md", "rule z");
    tree.file("/code/app/.claude/rules/sub/deep/a.md", "rule a");
    tree.file("/code/app/.claude/rules/notes.txt", "no rule");
    tree.file("/code/app/CLAUDE.local.md", "local");
    tree.file("/code/app/src/CLAUDE.md", "near");
    tree.file("/code/app/src/CLAUDE.local.md", "near local");
    tree.file("/code/app/src/deep/CLAUDE.md", "below");
    tree.file("/other/CLAUDE.md", "other");

    let loaded = load(&tree, "/code/app/src", &all());
    let texts: Vec<&str> = loaded.files.iter().map(|file| file.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "managed",
            "managed rule",
            "managed text",
            "user",
            "user rule",
            "above",
            "project",
            "hidden project",
            "rule a",
            "rule z",
            "local",
            "near",
            "near local"
        ]
    );
    assert!(skipped(&loaded).is_empty(), "{:?}", loaded.report);
    let places: Vec<_> = texts
        .iter()
        .map(|text| {
            loaded
                .text
                .find(&format!("\n\n{text}\n"))
                .or(loaded.text.rfind(text))
        })
        .collect();
    assert!(places.is_sorted(), "{}", loaded.text);

    let more = InstructionsOptions {
        agents_md: true,
        user: false,
        additional_directories: vec!["/other".to_owned()],
        ..all()
    };
    let loaded = load(&tree, "/code/app/src", &more);
    let texts: Vec<&str> = loaded.files.iter().map(|file| file.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "managed",
            "managed rule",
            "managed text",
            "above",
            "agents",
            "project",
            "hidden project",
            "rule a",
            "rule z",
            "local",
            "near",
            "near local",
            "other"
        ]
    );
}

#[test]
fn sources_are_switched_off_one_by_one_and_only_the_administrators_stay() {
    let mut tree = project();
    tree.file("/etc/claude-code/CLAUDE.md", "managed");
    tree.file("/home/ada/.claude/CLAUDE.md", "user");
    tree.file("/code/app/CLAUDE.md", "project");
    tree.file("/code/app/CLAUDE.local.md", "local");
    let off = |user, project, local| InstructionsOptions {
        user,
        project,
        local,
        excludes: vec!["/etc/**".to_owned()],
        ..all()
    };
    let names = |options: &InstructionsOptions| {
        let loaded = load(&tree, "/code/app", options);
        loaded
            .files
            .into_iter()
            .map(|file| file.text)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&off(true, true, true)),
        ["managed", "user", "project", "local"]
    );
    assert_eq!(
        names(&off(false, true, true)),
        ["managed", "project", "local"]
    );
    assert_eq!(names(&off(true, false, true)), ["managed", "user", "local"]);
    assert_eq!(
        names(&off(true, true, false)),
        ["managed", "user", "project"]
    );
    assert_eq!(names(&off(false, false, false)), ["managed"]);
}

#[test]
fn imports_go_four_hops_and_every_file_is_shown_once() {
    let mut tree = project();
    tree.file(
        "/code/app/CLAUDE.md",
        "root @a.md @docs/x.md @CLAUDE.md\n\n`@code.md`\n\n<!-- @hidden.md -->",
    );
    tree.file("/code/app/a.md", "a @b.md");
    tree.file("/code/app/b.md", "b @c.md @a.md");
    tree.file("/code/app/c.md", "c @d.md");
    tree.file("/code/app/d.md", "d @e.md @x.md");
    tree.file("/code/app/e.md", "five hops away");
    tree.file("/code/app/docs/x.md", "x @../docs/y.txt");
    tree.file("/code/app/docs/y.txt", "y");
    tree.file("/code/app/code.md", "never");
    tree.file("/code/app/hidden.md", "never");
    let loaded = load(&tree, "/code/app", &all());
    // Parents before what they import, depth first (facts 10.3).
    let app = |name: &str| format!("/code/app/{name}");
    assert_eq!(
        paths(&loaded),
        [
            "CLAUDE.md",
            "a.md",
            "b.md",
            "c.md",
            "d.md",
            "docs/x.md",
            "docs/y.txt"
        ]
        .map(app)
    );
    assert_eq!(
        skipped(&loaded),
        [
            ("/code/app/e.md", ReportCode::ImportTooDeep),
            ("/code/app/x.md", ReportCode::ImportTooDeep),
            ("/code/app/a.md", ReportCode::AlreadyLoaded),
            ("/code/app/CLAUDE.md", ReportCode::AlreadyLoaded),
        ]
    );
    let of_d = loaded
        .report
        .iter()
        .find(|entry| entry.path == "/code/app/d.md")
        .unwrap();
    assert_eq!(
        (of_d.depth, of_d.parent.as_deref()),
        (4, Some("/code/app/c.md"))
    );
    assert_eq!(
        (of_d.kind, of_d.bytes, of_d.lines),
        (LoadKind::Import, Some(13), Some(1))
    );
}

#[test]
fn names_are_imports_only_where_there_is_such_a_file() {
    let mut tree = project();
    tree.file(
        "/code/app/CLAUDE.md",
        "See @README, @missing.md, @scope/package, @Injectable() and ada@example.md. @logo.png @types/node @./gone",
    );
    tree.file("/code/app/README", "read me");
    tree.file("/code/app/logo.png", [0x89, b'P']);
    tree.file("/code/app/types/node/index.ts", "");
    let loaded = load(&tree, "/code/app", &all());
    assert_eq!(paths(&loaded), ["/code/app/CLAUDE.md", "/code/app/README"]);
    assert_eq!(
        skipped(&loaded),
        [
            ("/code/app/missing.md", ReportCode::ImportMissing),
            ("/code/app/logo.png", ReportCode::NotTextType),
            ("/code/app/gone", ReportCode::ImportMissing),
        ]
    );
}

#[test]
fn what_lies_outside_needs_approval_however_it_is_reached() {
    let mut tree = project();
    tree.file(
        "/code/app/CLAUDE.md",
        "@../shared/a.md @link.md @inside.md @~/notes.md",
    );
    tree.link("/code/app/link.md", "/secret/key.md");
    tree.link("/code/app/inside.md", "docs/real.md");
    tree.link("/code/app/CLAUDE.local.md", "/secret/local.md");
    tree.link("/code/app/.claude/rules/all", "/secret/rules");
    tree.file("/code/app/docs/real.md", "real");
    tree.file("/code/shared/a.md", "shared");
    tree.file("/secret/key.md", "key");
    tree.file("/secret/local.md", "local");
    tree.file("/secret/rules/r.md", "rule");
    tree.file("/home/ada/notes.md", "notes @/secret/key.md");
    tree.file("/home/ada/.claude/CLAUDE.md", "user @~/notes.md");

    // The user's own imports lead where they like.
    let loaded = load(&tree, "/code/app", &all());
    assert_eq!(
        paths(&loaded),
        [
            "/home/ada/.claude/CLAUDE.md",
            "/home/ada/notes.md",
            "/secret/key.md",
            "/code/app/CLAUDE.md",
            "/code/app/inside.md",
        ]
        .map(|path| path)
    );
    let no_user = InstructionsOptions {
        user: false,
        ..all()
    };
    let loaded = load(&tree, "/code/app", &no_user);
    assert_eq!(
        paths(&loaded),
        ["/code/app/CLAUDE.md", "/code/app/inside.md"]
    );
    assert_eq!(
        skipped(&loaded),
        [
            ("/code/shared/a.md", ReportCode::NeedsApproval),
            ("/code/app/link.md", ReportCode::NeedsApproval),
            ("/home/ada/notes.md", ReportCode::NeedsApproval),
            ("/code/app/.claude/rules/all", ReportCode::NeedsApproval),
            ("/code/app/CLAUDE.local.md", ReportCode::NeedsApproval),
        ]
    );
    assert!(!loaded.text.contains("key"), "{}", loaded.text);

    let listed = InstructionsOptions {
        approved: vec!["/secret".to_owned(), "/code/shared/a.md".to_owned()],
        ..no_user.clone()
    };
    let loaded = load(&tree, "/code/app", &listed);
    assert_eq!(
        skipped(&loaded),
        [("/home/ada/notes.md", ReportCode::NeedsApproval)]
    );

    // Asked once for each file, and remembered.
    let mut host = SimHost::with_tree(1, tree.clone());
    let asked = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let heard = asked.clone();
    host.approve = Some(Box::new(move |path, parent| {
        heard
            .borrow_mut()
            .push((path.to_owned(), parent.to_owned()));
        Attempt::answer(path == "/secret/key.md")
    }));
    let store = Store::new(options("/code/app"));
    for _ in 0..2 {
        let loaded = host.run(store.instructions(no_user.clone())).unwrap();
        assert_eq!(
            paths(&loaded),
            [
                "/code/app/CLAUDE.md",
                "/code/app/link.md",
                "/code/app/inside.md"
            ]
        );
    }
    let asked = asked.borrow();
    let mut files: Vec<&str> = asked.iter().map(|(path, _)| path.as_str()).collect();
    files.sort_unstable();
    assert_eq!(
        files,
        [
            "/code/shared/a.md",
            "/home/ada/notes.md",
            "/secret/key.md",
            "/secret/local.md",
            "/secret/rules"
        ]
    );
    assert!(asked.contains(&(
        "/secret/key.md".to_owned(),
        "/code/app/CLAUDE.md".to_owned()
    )));
}

#[test]
fn rules_wait_for_the_files_that_they_are_about() {
    let mut tree = project();
    tree.file("/code/app/CLAUDE.md", "chain");
    tree.file(
        "/code/app/.claude/rules/ts.md",
        "---\npaths: src/**/*.{ts,tsx}\n---\nts rule @more.md",
    );
    tree.file(
        "/code/app/.claude/rules/more.md",
        "---\npaths:\n  - '*.md'\n---\nmore",
    );
    tree.file("/code/app/.claude/rules/all.md", "all");
    tree.file(
        "/home/ada/.claude/rules/mine.md",
        "---\npaths: \"*.ts\"\n---\nmine",
    );
    tree.file("/code/app/src/CLAUDE.md", "in src");
    tree.file("/code/app/src/ui/CLAUDE.md", "in ui @note.md");
    tree.file("/code/app/src/ui/note.md", "a note");
    tree.file(
        "/code/app/src/ui/.claude/rules/near.md",
        "---\npaths: b.ts\n---\nnear",
    );
    tree.file(
        "/code/app/src/ui/.claude/rules/other.md",
        "---\npaths: c.ts\n---\nother",
    );
    tree.file("/code/app/other/CLAUDE.md", "elsewhere");
    let chain = load(&tree, "/code/app", &all());
    assert_eq!(
        paths(&chain),
        ["/code/app/CLAUDE.md", "/code/app/.claude/rules/all.md"]
    );
    let waits = entry(&chain, "/code/app/.claude/rules/ts.md");
    assert_eq!(waits.outcome, LoadOutcome::Conditional);
    assert_eq!(
        waits.globs.as_deref(),
        Some(["src/**/*.{ts,tsx}".to_owned()].as_slice())
    );

    for path in [
        "src/ui/b.ts",
        "/code/app/src/ui/b.ts",
        "./src/../src/ui/b.ts",
    ] {
        let near = load_for(&tree, "/code/app", path);
        assert_eq!(
            paths(&near),
            [
                "/home/ada/.claude/rules/mine.md",
                "/code/app/.claude/rules/ts.md",
                "/code/app/.claude/rules/more.md",
                "/code/app/src/CLAUDE.md",
                "/code/app/src/ui/CLAUDE.md",
                "/code/app/src/ui/note.md",
                "/code/app/src/ui/.claude/rules/near.md",
            ],
            "{path}"
        );
        assert!(
            near.text.contains("ts rule") && !near.text.contains("chain"),
            "{}",
            near.text
        );
    }
    assert_eq!(
        paths(&load_for(&tree, "/code/app", "README.md")),
        ["/code/app/.claude/rules/more.md"]
    );
    assert!(paths(&load_for(&tree, "/code/app", "/elsewhere/a.py")).is_empty());

    // What the conversation has already is not shown again.
    let mut host = SimHost::with_tree(1, tree.clone());
    let known = InstructionsOptions {
        loaded: vec!["/code/app/src/CLAUDE.md".to_owned()],
        ..all()
    };
    let store = Store::new(options("/code/app"));
    let near = host
        .run(store.instructions_for("src/a.py".to_owned(), known))
        .unwrap();
    assert!(paths(&near).is_empty());
    assert_eq!(
        entry(&near, "/code/app/src/CLAUDE.md").code,
        Some(ReportCode::AlreadyLoaded)
    );
}

#[test]
fn a_checkout_that_a_link_leads_to_is_the_same_project() {
    let mut tree = Tree::new();
    tree.file("/data/app/.git/HEAD", "ref: refs/heads/main\n");
    tree.file("/data/app/CLAUDE.md", "project @docs/a.md");
    tree.file("/data/app/docs/a.md", "a");
    tree.file(
        "/data/app/.claude/rules/ts.md",
        "---\npaths: src/*.ts\n---\nts",
    );
    tree.file("/data/app/src/a.ts", "");
    tree.link("/home/ada/app", "/data/app");
    let loaded = load(&tree, "/home/ada/app", &all());
    let texts: Vec<&str> = loaded.files.iter().map(|file| file.text.as_str()).collect();
    assert_eq!(texts, ["project @docs/a.md", "a"]);
    for path in ["/home/ada/app/src/a.ts", "/data/app/src/a.ts"] {
        assert_eq!(
            load_for(&tree, "/home/ada/app", path).files.len(),
            1,
            "{path}"
        );
    }
}

#[test]
fn a_worktree_in_its_repository_has_the_files_of_the_project_once() {
    let mut tree = project();
    tree.file("/code/app/CLAUDE.md", "main project");
    tree.file("/code/app/CLAUDE.local.md", "main local");
    tree.file("/code/app/.git/worktrees/w/commondir", "../..\n");
    tree.file(
        "/code/app/.git/worktrees/w/gitdir",
        "/code/app/.claude/worktrees/w/.git\n",
    );
    tree.file(
        "/code/app/.claude/worktrees/w/.git",
        "gitdir: /code/app/.git/worktrees/w\n",
    );
    tree.file("/code/app/.claude/worktrees/w/CLAUDE.md", "worktree");
    tree.file("/code/CLAUDE.md", "above both");
    let loaded = load(&tree, "/code/app/.claude/worktrees/w", &all());
    assert_eq!(
        paths(&loaded),
        [
            "/code/CLAUDE.md",
            "/code/app/CLAUDE.local.md",
            "/code/app/.claude/worktrees/w/CLAUDE.md"
        ]
    );
    assert_eq!(
        skipped(&loaded),
        [("/code/app/CLAUDE.md", ReportCode::NestedWorktree)]
    );
}

#[test]
fn a_home_that_is_a_project_and_a_link_to_agents_md_are_loaded_once() {
    let mut tree = Tree::new();
    tree.file("/home/ada/.git/HEAD", "ref: refs/heads/main\n");
    tree.file("/home/ada/.claude/CLAUDE.md", "user");
    tree.file("/home/ada/.claude/rules/r.md", "rule");
    tree.file("/home/ada/AGENTS.md", "agents");
    tree.link("/home/ada/CLAUDE.md", "AGENTS.md");
    let with_agents = InstructionsOptions {
        agents_md: true,
        ..all()
    };
    let loaded = load(&tree, "/home/ada", &with_agents);
    let texts: Vec<&str> = loaded.files.iter().map(|file| file.text.as_str()).collect();
    assert_eq!(texts, ["user", "rule", "agents"]);
    let twice: Vec<ReportCode> = skipped(&loaded).into_iter().map(|(_, code)| code).collect();
    assert_eq!(twice, [ReportCode::AlreadyLoaded]);
}

#[test]
fn the_chain_loads_the_rest_and_says_what_it_left_out() {
    let mut tree = project();
    let mebibyte = 1024 * 1024;
    tree.file(
        "/code/app/CLAUDE.md",
        "@big.md @binary.md @latin.md @gone.md @folder.md @loop.md @fifo.md @exact.md",
    );
    tree.file("/code/app/big.md", "x".repeat(5 * mebibyte));
    tree.file("/code/app/exact.md", "y".repeat(4 * mebibyte));
    tree.file("/code/app/binary.md", [b'a', 0, b'b']);
    tree.file("/code/app/latin.md", [b'M', 0xFC, b'l', b'l']);
    tree.link("/code/app/gone.md", "nowhere.md");
    tree.link("/code/app/loop.md", "loop.md");
    tree.file("/code/app/folder.md/x", "");
    tree.put("/code/app/fifo.md", Body::Other);
    tree.put("/code/app/.claude/CLAUDE.md", Body::Folder);
    tree.file(
        "/code/app/.claude/rules/broken.md",
        "---\npaths: \"a\n---\nbroken",
    );
    tree.file(
        "/code/app/.claude/rules/seven.md",
        "---\npaths: 7\n---\nseven",
    );
    tree.file(
        "/code/app/.claude/rules/unclosed.md",
        "---\npaths: a\nunclosed",
    );
    tree.link("/code/app/.claude/rules/circle", "../rules");
    tree.file(
        "/code/app/CLAUDE.local.md",
        "\u{FEFF}last <!-- inline --> \u{202E}hidden",
    );
    let loaded = load(&tree, "/code/app", &all());
    assert_eq!(
        skipped(&loaded),
        [
            ("/code/app/big.md", ReportCode::TooLarge),
            ("/code/app/binary.md", ReportCode::NulByte),
            ("/code/app/latin.md", ReportCode::NotUtf8),
            ("/code/app/gone.md", ReportCode::LinkDangling),
            ("/code/app/folder.md", ReportCode::NotAFile),
            ("/code/app/loop.md", ReportCode::LinkLoop),
            ("/code/app/fifo.md", ReportCode::NotAFile),
            ("/code/app/.claude/CLAUDE.md", ReportCode::NotAFile),
            ("/code/app/.claude/rules/circle", ReportCode::LinkLoop),
        ]
    );
    let note = |path: &str| -> Vec<ReportCode> {
        entry(&loaded, path)
            .notes
            .iter()
            .map(|note| note.code)
            .collect()
    };
    assert_eq!(note("/code/app/exact.md"), [ReportCode::InstructionsLarge]);
    assert_eq!(
        note("/code/app/.claude/rules/broken.md"),
        [ReportCode::FrontmatterInvalid]
    );
    assert_eq!(
        note("/code/app/.claude/rules/seven.md"),
        [ReportCode::PathsIgnored]
    );
    assert_eq!(
        note("/code/app/.claude/rules/unclosed.md"),
        [ReportCode::FrontmatterUnclosed]
    );
    assert_eq!(
        note("/code/app/CLAUDE.local.md"),
        [ReportCode::HiddenCharacters]
    );
    let last = loaded.files.last().unwrap();
    assert_eq!(
        (last.text.as_str(), last.differs),
        ("last <!-- inline --> hidden", true)
    );
    for entry in &loaded.report {
        let said = entry
            .message
            .iter()
            .chain(entry.notes.iter().map(|note| &note.message));
        assert!(
            said.clone()
                .all(|message| !message.is_empty() && !message.contains('\n')),
            "{entry:?}"
        );
        assert_eq!(
            entry.message.is_some(),
            entry.outcome == LoadOutcome::Skipped
        );
    }
}

#[test]
fn a_second_load_reads_nothing_and_what_changed_is_read_again() {
    let mut tree = project();
    tree.file("/code/app/CLAUDE.md", "one @a.md");
    tree.file("/code/app/a.md", "two");
    tree.file("/code/app/.claude/rules/r.md", "three");
    let mut host = SimHost::with_tree(1, tree);
    host.clock_ms += 60_000;
    let store = Store::new(options("/code/app"));
    let first = host.run(store.instructions(all())).unwrap();
    assert_eq!(first.files.len(), 3);
    let events = host.events.len();
    assert_eq!(
        host.events
            .iter()
            .map(|event| (
                event.kind.as_str(),
                event.code.as_deref().unwrap_or_default()
            ))
            .collect::<Vec<_>>(),
        [
            ("instructions", "session-start"),
            ("instructions", "include"),
            ("instructions", "session-start")
        ]
    );
    let reads = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let seen = reads.clone();
    host.script = Some(Box::new(move |effect, _| {
        match effect {
            Effect::Read { path, .. } => seen.borrow_mut().push(path.clone()),
            Effect::ReadMany { paths, .. } => seen.borrow_mut().extend(paths.clone()),
            _ => {}
        }
        None
    }));
    assert_eq!(host.run(store.instructions(all())).unwrap(), first);
    assert!(reads.borrow().is_empty(), "{:?}", reads.borrow());
    assert_eq!(host.events.len(), events, "nobody is told twice");

    host.clock_ms += 10_000;
    let now = host.clock_ms;
    host.tree.overwrite("/code/app/a.md", "changed", now);
    host.clock_ms += 10_000;
    let second = host.run(store.instructions(all())).unwrap();
    assert_eq!(second.files[1].text, "changed");
    assert_eq!(*reads.borrow(), ["/code/app/a.md"]);
    assert_eq!(host.events.len(), events + 1);

    store.compacted();
    reads.borrow_mut().clear();
    host.events.clear();
    host.run(store.instructions(all())).unwrap();
    assert!(reads.borrow().len() >= 3);
    assert_eq!(host.events[0].code.as_deref(), Some("compact"));
}

#[test]
fn files_are_excluded_before_they_are_read() {
    let mut tree = project();
    tree.file("/code/app/CLAUDE.md", "project @a.md");
    tree.file("/code/app/a.md", "a");
    tree.file("/code/app/.claude/rules/r.md", "rule");
    tree.file(
        "/code/app/.claude/settings.json",
        r#"{"claudeMdExcludes": ["**/rules/*"]}"#,
    );
    tree.file(
        "/code/app/.claude/settings.local.json",
        r#"{"claudeMdExcludes": 7}"#,
    );
    tree.file(
        "/home/ada/.claude/settings.json",
        r#"{"claudeMdExcludes": ["/code/app/a.md"]}"#,
    );
    for directory in [None, Some("/memories".to_owned())] {
        let mut host = SimHost::with_tree(1, tree.clone());
        let store = Store::new(OpenOptions {
            directory,
            ..options("/code/app")
        });
        let loaded = host.run(store.instructions(all())).unwrap();
        assert_eq!(paths(&loaded), ["/code/app/CLAUDE.md"]);
        assert_eq!(
            skipped(&loaded),
            [
                ("/code/app/a.md", ReportCode::Excluded),
                ("/code/app/.claude/rules/r.md", ReportCode::Excluded)
            ]
        );
    }
}

#[test]
fn a_switch_keeps_all_of_it_out() {
    let mut tree = project();
    tree.file("/code/app/CLAUDE.md", "project");
    let mut open = options("/code/app");
    open.env
        .insert("CLAUDE_CODE_DISABLE_CLAUDE_MDS".to_owned(), "1".to_owned());
    let mut host = SimHost::with_tree(1, tree);
    let store = Store::new(open);
    assert_eq!(
        host.run(store.instructions(all())),
        Ok(Instructions::default())
    );
    assert_eq!(
        host.run(store.context(all())).map(|context| context.text),
        Ok(String::new())
    );
}

#[test]
fn a_link_in_rules_does_not_have_the_disk_listed() {
    let mut tree = project();
    tree.file("/code/app/.claude/rules/r.md", "rule");
    tree.link("/code/app/.claude/rules/all", "/");
    tree.link("/code/app/.claude/rules/up", "../..");
    tree.file("/code/app/README.md", "no rule");
    tree.file("/home/ada/diary.md", "private");
    let mut host = SimHost::with_tree(1, tree);
    let store = Store::new(options("/code/app"));
    let loaded = host.run(store.instructions(all())).unwrap();
    assert_eq!(paths(&loaded), ["/code/app/.claude/rules/r.md"]);
    let mut left_out = skipped(&loaded);
    left_out.sort_unstable();
    assert_eq!(
        left_out,
        [
            ("/code/app/.claude/rules/all", ReportCode::LinkLoop),
            ("/code/app/.claude/rules/up", ReportCode::LinkLoop),
        ]
    );
    let listed = host.trace.iter().filter_map(|traced| match &traced.effect {
        Effect::List { path, .. } => Some(path.as_str()),
        _ => None,
    });
    assert_eq!(listed.collect::<Vec<_>>(), ["/code/app/.claude/rules"]);
}

#[test]
fn a_failure_of_the_moment_is_not_remembered() {
    let mut tree = project();
    tree.file("/code/app/CLAUDE.md", "project");
    let mut host = SimHost::with_tree(1, tree);
    host.clock_ms += 100_000;
    host.script = Some(Box::new(|effect, _| {
        let failure = || Failure::new(FailureCode::Other, "input/output error");
        match effect {
            Effect::ReadMany { .. } => Some(Outcome::Failed(failure())),
            Effect::Read { path, .. } if path.ends_with("CLAUDE.md") => {
                Some(Outcome::Failed(failure()))
            }
            _ => None,
        }
    }));
    let store = Store::new(options("/code/app"));
    let first = host.run(store.instructions(all())).unwrap();
    assert_eq!(
        skipped(&first),
        [("/code/app/CLAUDE.md", ReportCode::Unreadable)]
    );
    host.script = None;
    let second = host.run(store.instructions(all())).unwrap();
    assert_eq!(paths(&second), ["/code/app/CLAUDE.md"]);
}

#[test]
fn names_of_one_folder_are_one_folder() {
    let mut tree = Tree::new();
    tree.file("/data/ada/CLAUDE.md", "above");
    tree.file("/data/ada/code/.claude/rules/r.md", "rule above");
    tree.file("/data/ada/.claude/CLAUDE.md", "user");
    tree.file("/data/ada/.claude/rules/u.md", "user rule");
    tree.file("/data/ada/code/app/.git/HEAD", "");
    tree.file("/data/ada/code/app/CLAUDE.md", "project");
    tree.file("/data/ada/code/app/src/CLAUDE.md", "nested");
    tree.link("/home/ada", "/data/ada");
    for cwd in ["/home/ada/code/app", "/data/ada/code/app"] {
        let loaded = load(&tree, cwd, &all());
        let texts: Vec<&str> = loaded.files.iter().map(|file| file.text.as_str()).collect();
        assert_eq!(
            texts,
            ["user", "user rule", "above", "rule above", "project"],
            "{cwd}"
        );
        let no_user = InstructionsOptions {
            user: false,
            ..all()
        };
        let loaded = load(&tree, cwd, &no_user);
        assert_eq!(loaded.files.len(), 3, "{cwd}: {:?}", loaded.report);
        for path in ["/home/ada/code/app/src/a.ts", "/data/ada/code/app/src/a.ts"] {
            let near = load_for(&tree, cwd, path);
            assert_eq!(paths(&near), ["/data/ada/code/app/src/CLAUDE.md"], "{path}");
        }
        for known in [
            "/home/ada/code/app/src/CLAUDE.md",
            "/data/ada/code/app/src/CLAUDE.md",
        ] {
            let mut host = SimHost::with_tree(1, tree.clone());
            let known = InstructionsOptions {
                loaded: vec![known.to_owned()],
                ..all()
            };
            let near =
                host.run(Store::new(options(cwd)).instructions_for("src/a".to_owned(), known));
            assert!(near.unwrap().files.is_empty());
        }
    }
}

#[test]
fn a_rule_that_cannot_be_asked_about_is_said() {
    let mut tree = project();
    tree.file("/code/app/.claude/rules/r.md", "rule");
    let mut host = SimHost::with_tree(1, tree);
    host.script = Some(Box::new(|effect, _| match effect {
        Effect::List { path, .. } if path.ends_with("rules") => {
            let entry = Entry {
                name: "r.md".to_owned(),
                invalid_name: false,
                stat: None,
            };
            Some(Outcome::Listing(Listing {
                entries: vec![entry],
                incomplete: false,
            }))
        }
        _ => None,
    }));
    let loaded = host.run(Store::new(options("/code/app")).instructions(all()));
    assert_eq!(
        skipped(&loaded.unwrap()),
        [("/code/app/.claude/rules/r.md", ReportCode::Unreadable)]
    );
}

#[test]
fn what_is_near_by_another_way_is_loaded_and_what_cannot_be_is_never_there_already() {
    let mut tree = project();
    tree.file("/code/app/CLAUDE.md", "@a.md @d.md @bad.md @sub.md");
    tree.file("/code/app/a.md", "a @b.md");
    tree.file("/code/app/b.md", "b @c.md");
    tree.file("/code/app/c.md", "c @d.md");
    tree.file("/code/app/d.md", "d @e.md");
    tree.file("/code/app/e.md", "e");
    tree.file("/code/app/bad.md", [b'a', 0]);
    tree.file("/code/app/sub.md", "sub @bad.md");
    let loaded = load(&tree, "/code/app", &all());
    assert_eq!(
        paths(&loaded),
        [
            "CLAUDE.md",
            "a.md",
            "b.md",
            "c.md",
            "d.md",
            "e.md",
            "sub.md"
        ]
        .map(|name| format!("/code/app/{name}"))
    );
    assert_eq!(
        skipped(&loaded),
        [
            ("/code/app/d.md", ReportCode::AlreadyLoaded),
            ("/code/app/bad.md", ReportCode::NulByte),
            ("/code/app/bad.md", ReportCode::NulByte),
        ]
    );
}

#[test]
fn an_approval_goes_no_further_than_it_went() {
    let mut tree = project();
    tree.file("/code/app/CLAUDE.md", "@link.md");
    tree.link("/code/app/link.md", "/secret/key.md");
    tree.file("/secret/key.md", "key");
    let with = |path: &str| InstructionsOptions {
        approved: vec![path.to_owned()],
        ..all()
    };
    for (path, count) in [
        ("/code/app/link.md", 1),
        ("/code/app", 1),
        ("/secret/key.md", 2),
        ("/secret", 2),
        ("/secret/ke", 1),
    ] {
        assert_eq!(
            load(&tree, "/code/app", &with(path)).files.len(),
            count,
            "{path}"
        );
    }
}

#[test]
fn what_is_useless_hidden_or_asked_for_in_vain_is_said() {
    let mut tree = project();
    tree.file("/home/ada/.claude/CLAUDE.md", "user");
    tree.file(
        "/code/app/CLAUDE.md",
        "a\u{200B}b @~/.claude/CLAUDE.md @CLAUDE.local.md",
    );
    tree.link("/code/app/CLAUDE.local.md", "notes/mine.md");
    tree.file("/code/app/notes/mine.md", "local");
    tree.file(
        "/code/app/.claude/rules/bracket.md",
        "---\npaths: 'src/[a.ts, *.md'\n---\nx",
    );
    let bomb = "{a,b}".repeat(20);
    tree.file(
        "/code/app/.claude/rules/bomb.md",
        format!("---\npaths: '{bomb}'\n---\nx"),
    );
    let many: String = (0..1_200).map(|number| format!("@name{number} ")).collect();
    tree.file("/code/app/.claude/rules/many.md", many);
    let mut host = SimHost::with_tree(1, tree);
    host.approve = Some(Box::new(|_, _| Attempt::answer(false)));
    let loaded = host.run(Store::new(options("/code/app")).instructions(all()));
    let loaded = loaded.unwrap();
    let note = |path: &str| -> Vec<ReportCode> {
        let notes = entry(&loaded, path).notes.iter();
        notes.map(|note| note.code).collect()
    };
    let rule = |name: &str| note(&format!("/code/app/.claude/rules/{name}.md"));
    assert_eq!(rule("bracket"), [ReportCode::PatternUseless]);
    assert_eq!(rule("bomb"), [ReportCode::PatternUseless]);
    assert_eq!(rule("many"), [ReportCode::ImportsOverLimit]);
    assert_eq!(note("/code/app/CLAUDE.md"), [ReportCode::HiddenCharacters]);
    assert_eq!(
        loaded.files[1].text,
        "ab @~/.claude/CLAUDE.md @CLAUDE.local.md"
    );
    // What is shown anyway is asked of nobody.
    let asked = host.trace.iter();
    let asked = asked.filter(|traced| matches!(traced.effect, Effect::Approve { .. }));
    assert_eq!(asked.count(), 0);
    let twice = loaded.report.iter();
    let twice = twice.filter(|entry| entry.code == Some(ReportCode::AlreadyLoaded));
    assert_eq!(twice.count(), 2);
}

#[test]
fn a_disk_that_ignores_case_has_one_file_under_many_names() {
    let mut tree = project();
    tree.file("/code/app/CLAUDE.md", "@a.md @A.md");
    tree.file("/code/app/a.md", "a");
    tree.hard_link("/code/app/a.md", "/code/app/A.md");
    let loaded = load(&tree, "/code/app", &all());
    assert_eq!(loaded.files.len(), 2);
    assert_eq!(
        skipped(&loaded),
        [("/code/app/A.md", ReportCode::AlreadyLoaded)]
    );
}

#[test]
fn a_package_of_a_large_repository_has_its_own_beside_what_all_share() {
    let mut tree = Tree::new();
    tree.file("/mono/.git/HEAD", "ref: refs/heads/main\n");
    tree.file("/mono/CLAUDE.md", "all @docs/style.md");
    tree.file("/mono/docs/style.md", "style");
    tree.file(
        "/mono/.claude/rules/sql.md",
        "---\npaths: '**/*.sql'\n---\nsql",
    );
    tree.file("/mono/packages/web/CLAUDE.md", "web @../../docs/style.md");
    tree.file("/mono/packages/web/.claude/rules/ui.md", "ui");
    tree.file("/mono/packages/api/CLAUDE.md", "api");
    let loaded = load(&tree, "/mono/packages/web", &all());
    let texts: Vec<&str> = loaded.files.iter().map(|file| file.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "all @docs/style.md",
            "style",
            "web @../../docs/style.md",
            "ui"
        ]
    );
    // A neighbour is no folder below the working directory.
    let near = load_for(
        &tree,
        "/mono/packages/web",
        "/mono/packages/api/db/schema.sql",
    );
    assert_eq!(paths(&near), ["/mono/.claude/rules/sql.md"]);
    let near = load_for(&tree, "/mono", "packages/api/db/schema.sql");
    assert_eq!(
        paths(&near),
        ["/mono/.claude/rules/sql.md", "/mono/packages/api/CLAUDE.md"]
    );
}
