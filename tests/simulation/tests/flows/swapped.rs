//! Another program swaps a folder of the store for a link while a flow is under way: what lies at
//! the link's end is never read nor written, and what is missing is reported.

use crate::common::store;
use memdir_core::ErrorCode;
use memdir_core::flow::Effect;
use memdir_core::report::ReportCode;
use memdir_core::store::{OpenOptions, Scan};
use memdir_simulation::{Body, OLD_MS, Session, SimHost, Tree, memory, paths};

fn tree() -> Tree {
    let mut tree = Tree::new();
    tree.file("/real/top.md", "---\nname: top\n---\n");
    tree.file("/real/sub/x.md", "---\nname: inside\n---\n");
    tree.link("/real/again.md", "sub/x.md");
    tree.file("/other/x.md", "---\nname: secret\n---\nsecret\n");
    // The store itself may lie behind a link.
    tree.put("/home", Body::Folder);
    tree.link("/home/mem", "../real");
    tree
}

/// A host where the swap happens just before the first effect that `when` names.
fn swapping(when: fn(&Effect) -> bool) -> SimHost {
    let mut host = SimHost::with_tree(0, tree());
    let mut swapped = false;
    host.script = Some(Box::new(move |effect, tree| {
        if !swapped && when(effect) {
            swapped = true;
            tree.shift("/real/sub", "/gone");
            tree.link("/real/sub", "/other");
        }
        None
    }));
    host
}

fn names(scan: &Scan) -> Vec<Option<&str>> {
    let mut names: Vec<_> = scan.memories.iter().map(|it| it.name.as_deref()).collect();
    names.sort_unstable();
    names
}

fn said(scan: &Scan) -> Vec<(&str, ReportCode)> {
    let report = scan.report.iter();
    report.map(|it| (it.path.as_str(), it.code)).collect()
}

#[test]
fn without_a_swap_everything_is_found() {
    let mut host = SimHost::with_tree(0, tree());
    let scan = host.run(store("/home/mem").scan()).unwrap();
    assert_eq!(names(&scan), [Some("inside"), Some("inside"), Some("top")]);
    assert_eq!(said(&scan), []);
}

#[test]
fn before_its_listing() {
    let mut host =
        swapping(|effect| matches!(effect, Effect::List { path, .. } if path.ends_with("/sub")));
    let scan = host.run(store("/home/mem").scan()).unwrap();
    assert_eq!(names(&scan), [Some("top")]);
    assert_eq!(
        said(&scan),
        [
            ("again.md", ReportCode::LinkOutside),
            ("sub", ReportCode::Unlistable),
        ]
    );
}

#[test]
fn before_its_memories_are_read() {
    let mut host = swapping(|effect| matches!(effect, Effect::ReadMany { .. }));
    let scan = host.run(store("/home/mem").scan()).unwrap();
    assert_eq!(names(&scan), [Some("top")]);
    assert_eq!(
        said(&scan),
        [
            ("again.md", ReportCode::Unreadable),
            ("sub/x.md", ReportCode::Unreadable),
        ]
    );
}

#[test]
fn before_a_memory_is_read_whole() {
    for path in ["sub/x.md", "again.md"] {
        let mut host = swapping(
            |effect| matches!(effect, Effect::Read { path, .. } if path.ends_with("x.md")),
        );
        let error = host
            .run(store("/home/mem").read(path.to_owned()))
            .unwrap_err();
        assert_eq!(error.code, ErrorCode::Loop, "{path}");
    }
}

#[test]
fn before_lint_reads_it() {
    let mut host = swapping(|effect| matches!(effect, Effect::ReadMany { .. }));
    let lint = host.run(store("/home/mem").lint()).unwrap();
    let unreadable: Vec<&str> = lint
        .findings
        .iter()
        .filter(|finding| finding.code == ReportCode::Unreadable)
        .map(|finding| finding.path.as_str())
        .collect();
    assert_eq!(unreadable, ["again.md", "sub/x.md"]);
}

#[test]
fn before_something_is_made_in_memdirs_own_folder() {
    let is_making =
        |effect: &Effect| matches!(effect, Effect::MakeDir { .. } | Effect::Write { .. });
    let outside = |tree: &Tree| {
        let nodes = tree.nodes().iter();
        nodes
            .filter(|(path, _)| path.starts_with(b"/other"))
            .map(|(path, node)| (path.clone(), node.clone()))
            .collect::<Vec<_>>()
    };
    let mut tree = tree();
    for (path, about) in [
        ("/real/a.md", "the harbour pipeline"),
        ("/real/b.md", "numbering of invoices"),
    ] {
        tree.file(path, memory(about, "Text.")).at(OLD_MS);
    }
    let mut swaps = 0;
    for before in 0.. {
        let mut host = SimHost::with_tree(0, tree.clone());
        let mut made = 0;
        host.script = Some(Box::new(move |effect, tree| {
            if is_making(effect) {
                if made == before {
                    tree.shift("/real/.memdir", "/gone");
                    tree.link("/real/.memdir", "/other");
                }
                made += 1;
            }
            None
        }));
        let options = OpenOptions {
            directory: Some("/home/mem".to_owned()),
            ..OpenOptions::default()
        };
        let mut session = Session::with(host, options);
        let recall = session.recall("harbour pipeline").unwrap();
        assert_eq!(paths(&recall), ["a.md"]);
        session.close().unwrap();
        let after = &session.host.tree;
        assert_eq!(outside(after), outside(&tree), "{before}");
        let mut left = after.nodes().keys();
        assert!(left.all(|path| !path.ends_with(b"tmp")), "{before}");
        if after.nodes()[&b"/real/.memdir"[..]].body == Body::Folder {
            break;
        }
        swaps += 1;
    }
    // The folder, what keeps it out of git, and the uses.
    assert_eq!(swaps, 3);
}
