//! A second scan reads only what has changed since the first (the design's "Warm reads"), and is
//! never fooled by a file that changed within the tick of its stamp.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use crate::common::store;
use memdir_core::flow::{Effect, Failure, FailureCode, Head, Outcome};
use memdir_core::report::ReportCode as Code;
use memdir_core::store::{Scan, Store};
use memdir_simulation::{Body, FaultKind, NodeMut, Progress, SimHost, Tree};

/// Long before the simulated clock begins.
const OLD_MS: i64 = 1_700_000_000_000;

fn memory(description: &str) -> String {
    format!("---\nname: n\ndescription: {description}\ntype: user\n---\nBody\n")
}

/// Good and bad memories, links and folders, none of them changed lately.
fn tree() -> Tree {
    let mut tree = Tree::new();
    for name in ["a.md", "b.md", "c.md", "sub/d.md", "team/e.md"] {
        tree.file(format!("/mem/{name}"), memory("first"))
            .at(OLD_MS);
    }
    let long = "x".repeat(6000);
    tree.file("/mem/long.md", memory(&long)).at(OLD_MS);
    tree.file("/mem/latin1.md", b"caf\xE9").at(OLD_MS);
    tree.file("/mem/empty.md", "").at(OLD_MS);
    tree.file("/mem/unclosed.md", "---\nname: x\n").at(OLD_MS);
    tree.put("/mem/fifo.md", Body::Other).at(OLD_MS);
    tree.link("/mem/in.md", "sub/d.md").at(OLD_MS);
    tree.link("/mem/out.md", "/etc/secret.md").at(OLD_MS);
    tree.file("/etc/secret.md", "secret").at(OLD_MS);
    tree
}

/// Runs a scan and gives what it found and which files it read.
fn scan(host: &mut SimHost, store: &Store) -> (Scan, Vec<String>) {
    let start = host.trace.len();
    let scan = host.run(store.scan()).unwrap();
    let mut read: Vec<String> = host
        .trace
        .iter()
        .skip(start)
        .flat_map(|traced| match &traced.effect {
            Effect::ReadMany { paths, .. } => paths.clone(),
            Effect::Read { path, .. } => vec![path.clone()],
            _ => vec![],
        })
        .collect();
    read.sort();
    read.dedup();
    (scan, read)
}

/// A host and a store that have scanned the tree once.
fn scanned(tree: Tree) -> (SimHost, Store, Scan) {
    let mut host = SimHost::with_tree(5, tree);
    let store = store("/mem");
    let (first, _) = scan(&mut host, &store);
    (host, store, first)
}

/// What a store that knows nothing finds on the same disk.
fn fresh(host: &SimHost) -> Scan {
    let mut host = SimHost::with_tree(9, host.tree.clone());
    host.run(store("/mem").scan()).unwrap()
}

fn node<'a>(host: &'a mut SimHost, path: &str) -> NodeMut<'a> {
    host.tree.node(path).expect("a file of the test")
}

fn description(scan: &Scan, path: &str) -> Option<String> {
    let memory = scan.memories.iter().find(|memory| memory.path == path)?;
    memory.description.clone()
}

#[test]
fn an_unchanged_store_is_not_read_again() {
    let (mut host, store, first) = scanned(tree());
    assert!(
        first.memories.len() > 5 && first.report.len() > 3,
        "{first:?}"
    );
    for _ in 0..3 {
        host.clock_ms += 60_000;
        let start = host.trace.len();
        let (again, read) = scan(&mut host, &store);
        assert_eq!(read, Vec::<String>::new());
        assert_eq!(again, first, "the report of unchanged broken files stays");
        // Listing, the clock, and where the links lead: no more.
        for traced in host.trace.iter().skip(start) {
            assert!(
                matches!(
                    traced.effect,
                    Effect::Now
                        | Effect::List { .. }
                        | Effect::RealPath { .. }
                        | Effect::Lstat { .. }
                ),
                "{:?}",
                traced.effect
            );
        }
    }
    // A clone is the same store, and a manifest is made of the same headers.
    let start = host.trace.len();
    host.run(store.clone().manifest()).unwrap();
    let reads = |effect: &Effect| matches!(effect, Effect::Read { .. } | Effect::ReadMany { .. });
    assert!(
        !host
            .trace
            .iter()
            .skip(start)
            .any(|traced| reads(&traced.effect))
    );
}

#[test]
fn a_file_that_changed_in_any_way_is_read_again() {
    type Change = fn(&mut SimHost);
    let changes: [(&str, Change); 6] = [
        ("size", |host| {
            node(host, "/mem/a.md").body = Body::File(memory("longer").into());
        }),
        ("mtime", |host| {
            let mut node = node(host, "/mem/a.md");
            node.body = Body::File(memory("other").into());
            node.mtime_ms += 1;
        }),
        ("mtime within the millisecond", |host| {
            let mut node = node(host, "/mem/a.md");
            node.body = Body::File(memory("other").into());
            node.mtime_ns += 1;
        }),
        ("an older mtime", |host| {
            let mut node = node(host, "/mem/a.md");
            node.body = Body::File(memory("other").into());
            node.mtime_ms -= 1_000_000;
        }),
        ("ctime", |host| {
            let mut node = node(host, "/mem/a.md");
            node.body = Body::File(memory("other").into());
            node.ctime_ms += 1;
        }),
        ("inode", |host| {
            let ctime = node(host, "/mem/a.md").ctime_ms;
            let new = host.tree.file("/mem/a.md", memory("other"));
            new.at(OLD_MS).ctime_ms = ctime;
        }),
    ];
    for (what, change) in changes {
        let (mut host, store, first) = scanned(tree());
        host.clock_ms += 60_000;
        change(&mut host);
        let (second, read) = scan(&mut host, &store);
        assert_eq!(read, ["/mem/a.md"], "{what}");
        assert_eq!(second, fresh(&host), "{what}");
        assert_ne!(description(&second, "a.md"), description(&first, "a.md"));
        let (third, read) = scan(&mut host, &store);
        assert_eq!((third, read), (second, vec![]), "{what}: once is enough");
    }
}

#[test]
fn a_file_that_was_fresh_when_listed_is_read_again() {
    // Two seconds is what the coarsest file systems need; a time in the future is no better.
    for (age_ms, trusted) in [
        (0, false),
        (1, false),
        (1_999, false),
        (2_000, true),
        (2_001, true),
        (-1, false),
        (-3_600_000, false),
    ] {
        let mut start = SimHost::with_tree(5, tree());
        let mtime = start.clock_ms - age_ms;
        node(&mut start, "/mem/b.md").at(mtime);
        let (mut host, store, first) = scanned(start.tree);

        // The same size and the same stamps, but other content.
        node(&mut host, "/mem/b.md").body = Body::File(memory("after").into());
        assert_eq!("first".len(), "after".len());
        let (second, read) = scan(&mut host, &store);
        assert_eq!(read.is_empty(), trusted, "{age_ms} ms");
        if trusted {
            assert_eq!(second, first);
        } else {
            assert_eq!(read, ["/mem/b.md"]);
            assert_eq!(description(&second, "b.md").as_deref(), Some("after"));
        }
    }
}

#[test]
fn a_file_listed_too_early_is_trusted_once_it_was_read_late_enough() {
    let mut start = SimHost::with_tree(5, tree());
    let mtime = start.clock_ms;
    node(&mut start, "/mem/b.md").at(mtime);
    let (mut host, store, _) = scanned(start.tree);
    node(&mut host, "/mem/b.md").body = Body::File(memory("after").into());
    // However late it is now: the header was read too close to the stamp.
    host.clock_ms += 3_600_000;
    let (second, read) = scan(&mut host, &store);
    assert_eq!(read, ["/mem/b.md"]);
    assert_eq!(description(&second, "b.md").as_deref(), Some("after"));
    let (third, read) = scan(&mut host, &store);
    assert_eq!((third, read), (second, vec![]));
}

#[test]
fn a_clock_that_goes_back_or_is_missing_costs_only_reading() {
    let (mut host, store, first) = scanned(tree());
    host.clock_ms = 0;
    let (second, read) = scan(&mut host, &store);
    assert_eq!(
        (second, read),
        (first.clone(), vec![]),
        "what was read late enough holds"
    );

    let mut host = SimHost::with_tree(5, tree());
    let store = crate::common::store("/mem");
    host.script = Some(Box::new(|effect, _| {
        (*effect == Effect::Now)
            .then(|| Outcome::Failed(Failure::new(FailureCode::Unsupported, "no clock")))
    }));
    let (one, read) = scan(&mut host, &store);
    let (two, again) = scan(&mut host, &store);
    assert_eq!((one, read), (two, again));
}

#[test]
fn a_failed_read_is_tried_again() {
    // One file of many, as each of them answers for itself.
    let mut host = SimHost::with_tree(5, tree());
    let one = store("/mem");
    host.script = Some(Box::new(|effect, tree| {
        let Effect::ReadMany {
            paths,
            within,
            length,
        } = effect
        else {
            return None;
        };
        let mut inner = SimHost::with_tree(0, tree.clone());
        let flow = memdir_core::flow::probe(vec![Effect::ReadMany {
            paths: paths.clone(),
            within: within.clone(),
            length: *length,
        }]);
        let Some(Outcome::Heads(mut heads)) = inner.run(flow).ok()?.pop() else {
            return None;
        };
        for (path, head) in paths.iter().zip(&mut heads) {
            if path == "/mem/c.md" {
                *head = Head::Failed(Failure::new(FailureCode::TooManyOpen, "too many"));
            }
        }
        Some(Outcome::Heads(heads))
    }));
    let (first, _) = scan(&mut host, &one);
    let said = |scan: &Scan| {
        let mut of = scan.report.iter().filter(|entry| entry.path == "c.md");
        of.next().map(|entry| entry.code)
    };
    assert_eq!(said(&first), Some(Code::Unreadable));
    assert_eq!(description(&first, "c.md"), None);
    host.script = None;
    let (second, read) = scan(&mut host, &one);
    assert_eq!(read, ["/mem/c.md"]);
    assert_eq!((said(&second), second), (None, fresh(&host)));

    // All of them, and the second reading of the long one.
    for kind in ["ReadMany", "Read {"] {
        let mut plain = SimHost::with_tree(5, tree());
        plain.run(store("/mem").scan()).unwrap();
        let at = plain
            .trace
            .iter()
            .position(|traced| format!("{:?}", traced.effect).starts_with(kind))
            .unwrap_or_else(|| panic!("no {kind}"));
        let mut host =
            SimHost::with_tree(5, tree()).with_fault(at, FaultKind::Fail(FailureCode::Other));
        let store = store("/mem");
        let (first, _) = scan(&mut host, &store);
        assert_ne!(first, fresh(&host));
        let (second, read) = scan(&mut host, &store);
        assert!(!read.is_empty(), "{kind}");
        assert_eq!(second, fresh(&host), "{kind}");
    }
}

#[test]
fn files_come_and_go() {
    let (mut host, store, _) = scanned(tree());
    host.clock_ms += 60_000;
    host.tree.take("/mem/a.md");
    host.tree.take("/mem/latin1.md");
    host.tree.file("/mem/new.md", memory("new")).at(OLD_MS);
    host.tree.file("/mem/team/new.md", memory("new")).at(OLD_MS);
    let (second, read) = scan(&mut host, &store);
    assert_eq!(read, ["/mem/new.md", "/mem/team/new.md"]);
    assert_eq!(second, fresh(&host));
    let gone = |path: &str| second.report.iter().any(|entry| entry.path == path);
    assert!(!gone("a.md") && !gone("latin1.md"), "{:?}", second.report);

    // A broken file that was mended, and a folder that went away.
    host.tree
        .file("/mem/unclosed.md", memory("mended"))
        .at(OLD_MS);
    host.tree.take("/mem/sub");
    let (third, read) = scan(&mut host, &store);
    assert_eq!(read, ["/mem/unclosed.md"]);
    assert_eq!(third, fresh(&host));
    let codes: Vec<Code> = third.report.iter().map(|entry| entry.code).collect();
    assert!(codes.contains(&Code::LinkDangling) && !codes.contains(&Code::FrontmatterUnclosed));
}

#[test]
fn a_link_that_leads_to_another_file_is_read_again() {
    let (mut host, store, _) = scanned(tree());
    host.clock_ms += 60_000;
    let other = memory("other");
    host.tree.file("/mem/sub/z.md", &other).at(OLD_MS);
    host.tree.link("/mem/in.md", "sub/z.md").at(OLD_MS);
    let (second, read) = scan(&mut host, &store);
    assert_eq!(read, ["/mem/sub/z.md"]);
    assert_eq!(description(&second, "in.md").as_deref(), Some("other"));
    assert_eq!(second, fresh(&host));
}

#[test]
fn a_memory_that_moves_into_the_newest_200_is_read_alone() {
    let mut many = Tree::new();
    for number in 0..250 {
        many.file(format!("/mem/{number:03}.md"), memory("first"))
            .at(OLD_MS + number);
    }
    let (mut host, store, first) = scanned(many);
    assert_eq!(first.memories.len(), 200);
    assert_eq!(scan(&mut host, &store), (first, vec![]));
    let mtime = host.clock_ms - 5_000;
    node(&mut host, "/mem/000.md").at(mtime);
    let (second, read) = scan(&mut host, &store);
    assert_eq!(read, ["/mem/000.md"]);
    assert_eq!(second, fresh(&host));
}

#[test]
fn after_a_compaction_everything_is_read_again() {
    let (mut host, store, first) = scanned(tree());
    host.clock_ms += 60_000;
    let (_, all) = scan(
        &mut SimHost::with_tree(5, tree()),
        &crate::common::store("/mem"),
    );
    store.compacted();
    assert_eq!(scan(&mut host, &store), (first.clone(), all));
    assert_eq!(scan(&mut host, &store), (first, vec![]));
}

#[test]
fn a_scan_that_began_before_a_compaction_leaves_nothing_behind() {
    let mut host = SimHost::with_tree(5, tree());
    let store = store("/mem");
    let mut running = host.start(store.scan());
    let started = loop {
        match host.step(&mut running) {
            Progress::Working if host.reads.is_empty() => {}
            other => break other,
        }
    };
    assert!(matches!(started, Progress::Working));
    store.compacted();
    while !matches!(host.step(&mut running), Progress::Ended(Ok(_))) {}
    let (_, read) = scan(&mut host, &store);
    assert!(read.len() > 5, "{read:?}");
}
