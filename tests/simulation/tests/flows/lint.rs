//! Lint over a whole store: what only the file system knows beside what the texts say, all of it
//! looked at, nothing of it changed.

use crate::common::store;
use memdir_core::flow::Effect;
use memdir_core::lint::{Finding, Severity};
use memdir_core::report::ReportCode as Code;
use memdir_core::store::{OpenOptions, Store};
use memdir_simulation::{Body, SimHost, Tree};

const ERROR: Severity = Severity::Error;
const WARNING: Severity = Severity::Warning;

fn memory(name: &str) -> String {
    format!("---\nname: {name}\ndescription: d\ntype: user\n---\nBody\n")
}

fn lint(tree: &Tree, store: &Store) -> (Vec<Finding>, SimHost) {
    let mut host = SimHost::with_tree(11, tree.clone());
    let findings = host
        .run(store.lint())
        .map(|lint| lint.findings)
        .unwrap_or_default();
    assert_eq!(host.tree, *tree, "lint never writes");
    for finding in &findings {
        let text = format!("{} {}", finding.message, finding.remedy);
        assert!(
            !finding.message.is_empty() && !finding.remedy.is_empty() && !text.contains('\n'),
            "{finding:?}"
        );
    }
    (findings, host)
}

type Short<'a> = (&'a str, Option<usize>, Code, Severity);

fn short(findings: &[Finding]) -> Vec<Short<'_>> {
    let short = |found: &Finding| (found.line, found.code, found.severity);
    let with_path = |(path, (line, code, severity))| (path, line, code, severity);
    let paths = findings.iter().map(|found| found.path.as_str());
    paths
        .zip(findings.iter().map(short))
        .map(with_path)
        .collect()
}

/// A store with one of everything.
fn broken() -> Tree {
    let mut tree = Tree::new();
    let long = "l".repeat(160);
    let longer = "l".repeat(210);
    tree.file(
        "/mem/MEMORY.md",
        format!(
            "# Index\n- [A](a.md) fine\n- [Gone](gone.md)\n- [A](a.md) again\n- [B](b.md) {long}\n\
             - [C](closed.md) {longer}\n- [Out](out.md), [In](in.md), [Locked](locked/x.md)\n\
             - [Text](plain.md), [Latin](latin1.md), [Web](https://example.com/x.md)\n"
        ),
    );
    tree.file("/mem/team/MEMORY.md", "- [T](t.md)\n- [U](u.md)\n");
    for name in ["a", "b", "team/t", "sub/in"] {
        tree.file(format!("/mem/{name}.md"), memory(name));
    }
    tree.file("/mem/lost.md", memory("lost"));
    tree.file("/mem/twin.md", memory("A"));
    tree.file("/mem/plain.md", "Just text\n");
    tree.file("/mem/empty.md", "");
    tree.file("/mem/unclosed.md", "---\nname: x\n");
    tree.file("/mem/type.md", memory("type").replace("user", "person"));
    tree.file("/mem/logs/2026/01/02.md", memory("log"));
    tree.file("/mem/latin1.md", b"caf\xE9");
    tree.file("/mem/utf16.md", b"\xFF\xFEa\0");
    tree.file("/mem/nul.md", "a\0b");
    tree.put("/mem/closed.md", Body::File(memory("closed").into()))
        .mode(0);
    tree.put("/mem/fifo.md", Body::Other);
    tree.put("/mem/folder.md", Body::Folder);
    tree.link("/mem/dangling.md", "nowhere.md");
    tree.link("/mem/loop.md", "loop.md");
    tree.file("/etc/secret.md", memory("secret"));
    tree.link("/mem/out.md", "/etc/secret.md");
    tree.link("/mem/in.md", "sub/in.md");
    tree.link("/mem/elsewhere", "/etc");
    tree.file(b"/mem/bad\xFF.md", "x");
    tree.file("/mem/locked/x.md", "x");
    tree.put("/mem/locked", Body::Folder).mode(0);
    tree.file("/mem/.memdir/trash/x.md", "no finding");
    tree.file("/mem/x.memdir-tmp", "no finding");
    tree
}

#[test]
fn everything_that_is_wrong_is_found() {
    let (findings, host) = lint(&broken(), &store("/mem"));
    let wanted = [
        ("MEMORY.md", Some(3), Code::IndexLinkBroken, ERROR),
        ("MEMORY.md", Some(4), Code::IndexDuplicate, WARNING),
        ("MEMORY.md", Some(5), Code::IndexLineLong, WARNING),
        ("MEMORY.md", Some(6), Code::IndexLineTooLong, ERROR),
        ("bad\u{FFFD}.md", None, Code::InvalidName, ERROR),
        ("closed.md", None, Code::Unreadable, ERROR),
        ("dangling.md", None, Code::LinkDangling, ERROR),
        ("elsewhere", None, Code::LinkToFolder, WARNING),
        ("empty.md", None, Code::Empty, WARNING),
        ("empty.md", None, Code::NotIndexed, WARNING),
        ("fifo.md", None, Code::NotAFile, ERROR),
        ("folder.md", None, Code::NotAFile, ERROR),
        ("latin1.md", None, Code::NotUtf8, ERROR),
        ("locked", None, Code::Unlistable, ERROR),
        ("loop.md", None, Code::LinkLoop, ERROR),
        ("lost.md", None, Code::NotIndexed, WARNING),
        ("nul.md", None, Code::NulByte, ERROR),
        ("out.md", None, Code::LinkOutside, ERROR),
        ("plain.md", None, Code::FrontmatterMissing, WARNING),
        ("sub/in.md", None, Code::NotIndexed, WARNING),
        ("team/MEMORY.md", Some(2), Code::IndexLinkBroken, ERROR),
        ("twin.md", None, Code::DuplicateName, WARNING),
        ("twin.md", None, Code::NotIndexed, WARNING),
        ("type.md", None, Code::NotIndexed, WARNING),
        ("type.md", None, Code::UnknownType, WARNING),
        ("unclosed.md", None, Code::NotIndexed, WARNING),
        ("unclosed.md", Some(1), Code::FrontmatterUnclosed, ERROR),
        ("utf16.md", None, Code::NotUtf8, ERROR),
    ];
    // A memory and a link to it have the same name, of course; whatever is said of that.
    let findings: Vec<Short<'_>> = short(&findings)
        .into_iter()
        .filter(|(path, _, code, _)| (*path, *code) != ("sub/in.md", Code::DuplicateName))
        .collect();
    assert_eq!(findings, wanted);

    assert!(!host.reads.contains_key("/etc/secret.md"));
    // Of memdir's own folder only what waits for a person is looked for.
    let opened = |effect: &Effect| {
        let effect = format!("{effect:?}");
        let waits = ["/.memdir/conflicts\"", "/.memdir/inbox\""];
        effect.contains(".memdir") && !waits.iter().any(|folder| effect.contains(folder))
    };
    assert!(!host.trace.iter().any(|traced| opened(&traced.effect)));
}

/// What a sync has kept is for a person to deal with.
#[test]
fn kept_versions_are_named() {
    let mut tree = Tree::new();
    let kept = "/mem/.memdir/conflicts/000000000000001-ab-000";
    tree.file(format!("{kept}.bytes"), "ours\n");
    tree.file(format!("{kept}.json"), r#"{"path":"team/a.md","atMs":1}"#);
    let mut host = SimHost::with_tree(1, tree);
    let store = Store::new(OpenOptions {
        directory: Some("/mem".to_owned()),
        ..OpenOptions::default()
    });
    let findings = host.run(store.lint()).map(|lint| lint.findings);
    let findings = findings.unwrap_or_default();
    assert!(
        short(&findings).contains(&("team/a.md", None, Code::TeamConflict, WARNING)),
        "{findings:?}"
    );
}

#[test]
fn more_than_200_memories_are_all_looked_at() {
    let mut tree = Tree::new();
    for number in 0..450 {
        tree.file(format!("/mem/{number:03}.md"), "no frontmatter\n")
            .at(number);
    }
    let (findings, host) = lint(&tree, &store("/mem"));
    let wanted: Vec<String> = (0..450).map(|number| format!("{number:03}.md")).collect();
    let paths: Vec<String> = findings.iter().map(|found| found.path.clone()).collect();
    assert_eq!(paths, wanted);
    assert!(
        findings
            .iter()
            .all(|found| found.code == Code::FrontmatterMissing)
    );
    assert_eq!(host.reads.len(), 450);
}

#[test]
fn a_huge_memory_is_not_read_to_its_end() {
    let mut tree = Tree::new();
    tree.put("/mem/huge.md", Body::Sparse(memory("huge").into(), 1 << 30));
    let (_, host) = lint(&tree, &store("/mem"));
    assert!(
        host.reads.values().all(|read| *read <= 1 << 20),
        "{:?}",
        host.reads
    );
}

#[test]
fn an_index_that_cannot_be_read_is_an_error_and_accuses_nobody() {
    let good = || {
        let mut tree = Tree::new();
        tree.file("/mem/a.md", memory("a"));
        tree.file("/etc/index", "- [gone](gone.md)\n");
        tree
    };
    let index = |body: Body, mode: u32| {
        let mut tree = good();
        tree.put("/mem/MEMORY.md", body).mode(mode);
        tree
    };
    let link = |target: &str| {
        let mut tree = good();
        tree.link("/mem/MEMORY.md", target);
        tree
    };
    let text = || Body::File(b"- [gone](gone.md)\n".to_vec());
    for (what, tree, code) in [
        ("closed", index(text(), 0), Code::Unreadable),
        (
            "not UTF-8",
            index(Body::File(b"caf\xE9".to_vec()), 0o644),
            Code::NotUtf8,
        ),
        ("a folder", index(Body::Folder, 0o755), Code::NotAFile),
        ("a FIFO", index(Body::Other, 0o644), Code::NotAFile),
        ("a link outside", link("/etc/index"), Code::LinkOutside),
        ("a link to itself", link("MEMORY.md"), Code::Unreadable),
    ] {
        let (findings, host) = lint(&tree, &store("/mem"));
        assert_eq!(
            short(&findings),
            [("MEMORY.md", None, code, ERROR)],
            "{what}"
        );
        assert!(!host.reads.contains_key("/etc/index"), "{what}");
    }
    // The index of the team, likewise.
    let mut tree = good();
    tree.put("/mem/team/MEMORY.md", Body::Folder);
    let (findings, _) = lint(&tree, &store("/mem"));
    assert_eq!(
        short(&findings),
        [("team/MEMORY.md", None, Code::NotAFile, ERROR)]
    );
    // A link that stays inside is an index like any other.
    let mut tree = good();
    tree.file("/mem/team/index.txt", "- [gone](gone.md)\n- [a](a.md)\n");
    tree.link("/mem/MEMORY.md", "team/index.txt");
    let (findings, _) = lint(&tree, &store("/mem"));
    assert_eq!(
        short(&findings),
        [("MEMORY.md", Some(1), Code::IndexLinkBroken, ERROR)]
    );
}

#[test]
fn an_index_over_a_limit_is_an_error_and_one_near_it_a_warning() {
    for (lines, found) in [
        (179, None),
        (180, Some((Code::IndexNearLimit, WARNING))),
        (200, Some((Code::IndexNearLimit, WARNING))),
        (201, Some((Code::IndexOverLimit, ERROR))),
    ] {
        let mut tree = Tree::new();
        tree.file("/mem/MEMORY.md", "- one\n".repeat(lines));
        let (findings, _) = lint(&tree, &store("/mem"));
        let wanted: Vec<Short<'_>> = found
            .iter()
            .map(|(code, severity)| ("MEMORY.md", None, *code, *severity))
            .collect();
        assert_eq!(short(&findings), wanted, "{lines} lines");
    }
}

#[test]
fn a_store_in_order_has_no_findings_and_one_that_is_not_there_no_error() {
    let mut tree = Tree::new();
    tree.file("/mem/MEMORY.md", "- [A](a.md) one\n");
    tree.file("/mem/a.md", memory("a"));
    assert_eq!(lint(&tree, &store("/mem")).0, []);
    let (findings, _) = lint(&Tree::new(), &store("/mem"));
    assert_eq!(short(&findings), [("", None, Code::Unlistable, WARNING)]);
    // One that is there and closed is another matter.
    let mut tree = Tree::new();
    tree.put("/mem", Body::Folder).mode(0);
    let (findings, _) = lint(&tree, &store("/mem"));
    assert!(
        short(&findings).contains(&("", None, Code::Unlistable, ERROR)),
        "{findings:?}"
    );
}

#[test]
fn what_opening_found_is_found_too() {
    let mut tree = Tree::new();
    tree.put("/code/app/.git", Body::Folder);
    tree.file("/home/ada/.claude/settings.json", "not JSON");
    tree.file(
        "/code/app/.claude/settings.json",
        "{\"autoMemoryDirectory\": \"/x/y\", \"autoMemoryEnabled\": 1}",
    );
    tree.put("/code/app/.claude/settings.local.json", Body::Folder);
    let origin = "/home/ada/.claude/projects/-code-app/memory/.memdir/origin";
    tree.file(origin, "{\"path\": \"/work.app\"}");
    let store = Store::new(OpenOptions {
        cwd: Some("/code/app".to_owned()),
        home: Some("/home/ada".to_owned()),
        ..OpenOptions::default()
    });
    let (findings, _) = lint(&tree, &store);
    let wanted = [
        Code::DirectoryRefused,
        Code::SettingsInvalid,
        Code::SettingsUnreadable,
        Code::SettingsWrongType,
        Code::SlugCollision,
        Code::Unlistable,
    ];
    let wanted = wanted.map(|code| ("", None, code, WARNING));
    assert_eq!(short(&findings), wanted);
}

#[test]
fn a_long_line_is_not_nothing_and_a_link_to_nothing_is_told() {
    let mut tree = Tree::new();
    tree.file("/mem/long.md", "x".repeat(100_000));
    tree.link("/mem/MEMORY.md", "gone.md");
    let (findings, _) = lint(&tree, &store("/mem"));
    assert_eq!(
        short(&findings),
        [
            ("MEMORY.md", None, Code::LinkDangling, ERROR),
            ("long.md", None, Code::FrontmatterMissing, WARNING),
        ]
    );
}

#[test]
fn memdirs_own_files_are_no_memories_under_any_name() {
    let mut tree = Tree::new();
    tree.file("/mem/.memdir/lock", "token");
    tree.file("/mem/sub/.memdir/x.md", memory("x"));
    tree.link("/mem/own.md", ".memdir/lock");
    let (findings, mut host) = lint(&tree, &store("/mem"));
    assert_eq!(
        short(&findings),
        [("own.md", None, Code::LinkOutside, ERROR)]
    );
    for path in ["own.md", "sub/.memdir/x.md", ".memdir/lock"] {
        let read = host.run(store("/mem").read(path.to_owned()));
        let code = read.map(|file| file.content).map_err(|error| error.code);
        assert_eq!(
            code,
            Err(memdir_core::ErrorCode::PathOutsideStore),
            "{path}"
        );
    }
}

#[test]
fn a_large_store_is_read_in_portions() {
    let mut tree = Tree::new();
    for number in 0..300 {
        tree.file(format!("/mem/m{number}.md"), memory(&format!("m{number}")));
    }
    let (findings, host) = lint(&tree, &store("/mem"));
    assert_eq!(findings, []);
    let at_once = |effect: &Effect| match effect {
        Effect::ReadMany { paths, .. } => paths.len(),
        _ => 0,
    };
    assert!(
        host.trace
            .iter()
            .map(|traced| at_once(&traced.effect))
            .max()
            <= Some(64)
    );
}
