//! Every flow over a store, with a failure of every kind, a cancellation and a crash at each of
//! its effects in turn.
#![expect(clippy::panic, reason = "helpers of tests fail as tests do")]

use std::fmt::Debug;

use crate::common::store;
use memdir_core::error::{Error, ErrorCode};
use memdir_core::flow::{Effect, FailureCode, Flow};
use memdir_core::memory::MemoryHeader;
use memdir_core::report::{ReportCode, ReportEntry};
use memdir_core::store::{Lint, MemoryFile, OpenOptions, Opened, PromptOptions, Scan, Store};
use memdir_simulation::{Body, FaultKind, SimHost, Traced, Tree};

const SEEDS: u64 = 6;
const DIRECTORY: &str = "/home/ada/memory";

/// A store that makes a scan use every effect that it knows.
fn tree() -> Tree {
    let mut tree = Tree::new();
    let at = |name: &str| format!("{DIRECTORY}/{name}");
    tree.file(
        at("MEMORY.md"),
        "- [A](a.md) first\n- [Long](long.md) second\n",
    )
    .at(9);
    tree.file(
        at("a.md"),
        "---\nname: a\ndescription: first\ntype: user\n---\nA\n",
    )
    .at(8);
    let long = "l".repeat(5000);
    tree.file(
        at("long.md"),
        format!("---\nname: long\ndescription: {long}\ntype: project\n---\nL\n"),
    )
    .at(7);
    tree.file(at("sub/c.md"), "---\nname: c\ndescription: third\n---\nC\n")
        .at(6);
    tree.file(
        at("team/t.md"),
        "---\nname: t\ndescription: fourth\n---\nT\n",
    )
    .at(5);
    tree.file(at("team/deep/d.md"), "no frontmatter\n").at(4);
    tree.link(at("in.md"), "sub/c.md").at(3);
    tree.link(at("out.md"), "/etc/secret.md").at(2);
    tree.file("/etc/secret.md", "secret").at(1);
    tree.file(at(".memdir/lock"), "{}").at(1);
    tree
}

/// The same machine without a memory folder.
fn tree_without_folder() -> Tree {
    let mut tree = Tree::new();
    tree.put("/home/ada", Body::Folder);
    tree
}

/// Every failure code. The match stops the build when one is added and missing here.
fn failure_codes() -> Vec<FailureCode> {
    use FailureCode as C;
    let next = |code: FailureCode| {
        Some(match code {
            C::NotFound => C::Exists,
            C::Exists => C::Permission,
            C::Permission => C::ReadOnly,
            C::ReadOnly => C::NoSpace,
            C::NoSpace => C::NotADirectory,
            C::NotADirectory => C::IsADirectory,
            C::IsADirectory => C::NotEmpty,
            C::NotEmpty => C::Loop,
            C::Loop => C::NameTooLong,
            C::NameTooLong => C::InvalidName,
            C::InvalidName => C::TooLarge,
            C::TooLarge => C::TooManyOpen,
            C::TooManyOpen => C::CrossDevice,
            C::CrossDevice => C::Busy,
            C::Busy => C::Unsupported,
            C::Unsupported => C::Timeout,
            C::Timeout => C::Network,
            C::Network => C::Aborted,
            C::Aborted => C::Other,
            C::Other => return None,
        })
    };
    std::iter::successors(Some(C::NotFound), |code| next(*code)).collect()
}

/// One run without a fault: its result, its effects and the disk after it.
struct Plain<T> {
    result: T,
    trace: Vec<Traced>,
    after: Tree,
}

fn plain<T: Send + Debug + 'static>(seed: u64, tree: &Tree, flow: fn() -> Flow<T>) -> Plain<T> {
    let mut host = SimHost::with_tree(seed, tree.clone());
    match host.run(flow()) {
        Ok(result) => Plain {
            result,
            trace: host.trace,
            after: host.tree,
        },
        Err(error) => panic!("without a fault: {error}"),
    }
}

/// Fails each effect with each code; `check` gets the effect, the code and what came of it.
fn fail_everywhere<T: Send + Debug + 'static>(
    tree: &Tree,
    flow: fn() -> Flow<T>,
    check: impl Fn(&Plain<T>, &Effect, FailureCode, Result<T, Error>, &SimHost),
) {
    for seed in 0..SEEDS {
        let plain = plain(seed, tree, flow);
        for (at, traced) in plain.trace.iter().enumerate() {
            if traced.outcome.is_none() {
                continue;
            }
            for code in failure_codes() {
                let mut host =
                    SimHost::with_tree(seed, tree.clone()).with_fault(at, FaultKind::Fail(code));
                let result = host.run(flow());
                assert_eq!(
                    host.trace.get(..at),
                    plain.trace.get(..at),
                    "the seed replays the run"
                );
                check(&plain, &traced.effect, code, result, &host);
            }
        }
    }
}

/// Cancels and crashes at each effect: nothing changes but the folder that the flow creates, and
/// a run after the crash gives what it would have given without.
fn stop_everywhere<T: Send + Debug + PartialEq + 'static>(tree: &Tree, flow: fn() -> Flow<T>) {
    for seed in 0..SEEDS {
        let plain = plain(seed, tree, flow);
        for at in 0..plain.trace.len() {
            let unchanged = |host: &SimHost| host.tree == *tree || host.tree == plain.after;

            let mut host = SimHost::with_tree(seed, tree.clone()).with_fault(at, FaultKind::Cancel);
            let result = host.run(flow());
            assert_eq!(
                result.map_err(|error| error.code),
                Err(ErrorCode::Aborted),
                "cancelled at {at}"
            );
            assert!(unchanged(&host), "cancelled at {at}: {:?}", host.tree);

            let mut host = SimHost::with_tree(seed, tree.clone()).with_fault(at, FaultKind::Crash);
            assert!(host.run_to_end(flow()).is_none());
            assert!(unchanged(&host), "crashed at {at}: {:?}", host.tree);
            let mut host = SimHost::with_tree(seed, host.tree);
            assert_eq!(
                host.run(flow()).as_ref(),
                Ok(&plain.result),
                "after a crash at {at}"
            );
            assert_eq!(host.tree, plain.after, "after a crash at {at}");
        }
    }
}

fn scan() -> Flow<Scan> {
    store(DIRECTORY).scan()
}

fn manifest() -> Flow<String> {
    store(DIRECTORY).manifest()
}

fn read() -> Flow<MemoryFile> {
    store(DIRECTORY).read("in.md".into())
}

fn prompt() -> Flow<Option<String>> {
    store(DIRECTORY).prompt(PromptOptions::default())
}

fn lint() -> Flow<Lint> {
    store(DIRECTORY).lint()
}

/// The second scan of a store that changed since the first.
fn warm_scan() -> Flow<Scan> {
    let store = store(DIRECTORY);
    if let Err(error) = SimHost::with_tree(0, tree()).run(store.scan()) {
        panic!("the first scan: {error}");
    }
    store.scan()
}

/// What has changed: one memory is another, one is new, one is gone.
fn changed_tree() -> Tree {
    let mut tree = tree();
    let at = |name: &str| format!("{DIRECTORY}/{name}");
    tree.file(at("a.md"), "---\nname: a\ndescription: other\n---\nA\n")
        .at(18);
    tree.file(at("n.md"), "---\nname: n\ndescription: new\n---\nN\n")
        .at(17);
    tree.take(at("team/t.md"));
    tree
}

/// Opens the store of the project that a worktree belongs to.
fn open() -> Flow<Opened> {
    open_store().open()
}

fn open_store() -> Store {
    Store::new(OpenOptions {
        cwd: Some("/code/wt/src".to_owned()),
        home: Some("/home/ada".to_owned()),
        ..OpenOptions::default()
    })
}

const MAIN_KEY: &str = "-code-main";
const OTHER: &str = "/work:main";

/// A worktree with settings in every place; the slug of its project is taken by another one.
fn tree_with_worktree() -> Tree {
    let mut tree = Tree::new();
    tree.put("/code/wt/src", Body::Folder);
    tree.file("/code/wt/.git", "gitdir: /code/main/.git/worktrees/wt\n");
    tree.file("/code/main/.git/worktrees/wt/commondir", "../..\n");
    tree.file("/code/main/.git/worktrees/wt/gitdir", "/code/wt/.git\n");
    for path in [
        "/etc/claude-code/managed-settings.json",
        "/home/ada/.claude/settings.json",
        "/code/wt/.claude/settings.json",
        "/code/wt/.claude/settings.local.json",
    ] {
        tree.file(path, "{}");
    }
    tree.file(
        format!("/home/ada/.claude/projects/{MAIN_KEY}/memory/.memdir/origin"),
        format!("{{\"path\": \"{OTHER}\"}}"),
    );
    tree
}

/// The same with a directory that the user's settings choose.
fn tree_with_chosen_directory() -> Tree {
    let mut tree = tree_with_worktree();
    tree.file(
        "/home/ada/.claude/settings.json",
        "{\"autoMemoryDirectory\": \"~/notes\"}",
    );
    tree
}

/// The settings file that an effect is about.
fn settings_file(effect: &Effect) -> Option<&str> {
    let (Effect::RealPath { path } | Effect::Lstat { path } | Effect::Read { path, .. }) = effect
    else {
        return None;
    };
    path.contains("settings").then_some(path)
}

/// Whether a failed effect on a settings file says that there is none.
fn says_missing(effect: &Effect, code: FailureCode) -> bool {
    let may_be_missing = match effect {
        Effect::RealPath { .. } => true,
        Effect::List { path, .. } => {
            path.ends_with("/.memdir/conflicts") || path.ends_with("/.memdir/inbox")
        }
        _ => false,
    };
    may_be_missing && matches!(code, FailureCode::NotFound | FailureCode::NotADirectory)
}

/// Whether an effect stands between a scan and this memory.
fn concerns(effect: &Effect, path: &str) -> bool {
    let full = format!("{DIRECTORY}/{path}");
    match effect {
        effect if settings_file(effect).is_some() => false,
        Effect::Now => false,
        Effect::List { path, .. } => full.starts_with(&format!("{}/", path.trim_end_matches('/'))),
        // The link is read where it leads.
        Effect::ReadMany { paths, .. } => {
            let file = if path == "in.md" {
                format!("{DIRECTORY}/sub/c.md")
            } else {
                full
            };
            paths.contains(&file)
        }
        Effect::Read { path, .. } => full == *path,
        // Only links are resolved, and only one memory is a link.
        Effect::RealPath { .. } | Effect::Lstat { .. } => path == "in.md",
        other => panic!("a scan does not need {other:?}"),
    }
}

#[test]
fn a_scan_survives_each_failure_and_names_what_is_missing() {
    fail_each_effect_of_a_scan(&tree(), scan);
}

#[test]
fn a_warm_scan_survives_each_failure_and_shows_nothing_old() {
    let plain = plain(0, &changed_tree(), warm_scan);
    let read: Vec<&Effect> = plain
        .trace
        .iter()
        .map(|traced| &traced.effect)
        .filter(|effect| matches!(effect, Effect::Read { .. } | Effect::ReadMany { .. }))
        .collect();
    assert!(
        matches!(read.as_slice(), [Effect::ReadMany { paths, .. }] if paths.len() == 2),
        "{read:?}"
    );
    fail_each_effect_of_a_scan(&changed_tree(), warm_scan);
}

fn fail_each_effect_of_a_scan(tree: &Tree, scan: fn() -> Flow<Scan>) {
    fail_everywhere(tree, scan, |plain, effect, code, result, host| {
        assert_eq!(host.tree, *tree);
        if *effect == Effect::HostInfo {
            assert_eq!(result.map_err(|error| error.code), Err(code.into()));
            return;
        }
        let scan = result.unwrap_or_else(|error| panic!("{effect:?} {code:?}: {error}"));
        // Without a clock the scan is whole; what settings say is in the report of `open`.
        let silent = settings_file(effect).is_some() || *effect == Effect::Now;
        assert_eq!(
            scan.report == plain.result.report,
            silent,
            "{effect:?} {code:?}: {:?}",
            scan.report
        );
        for memory in &plain.result.memories {
            if scan.memories.contains(memory) {
                continue;
            }
            assert!(
                concerns(effect, &memory.path),
                "{effect:?} {code:?} costs {}",
                memory.path
            );
            assert!(
                scan.report
                    .iter()
                    .any(|entry| entry.path == memory.path || is_above(&entry.path, &memory.path)),
                "{effect:?} {code:?}: nothing says that {} is missing",
                memory.path
            );
        }
        let known = |memory: &MemoryHeader| plain.result.memories.contains(memory);
        assert!(
            scan.memories.iter().all(known),
            "{effect:?} {code:?}: {:?}",
            scan.memories
        );
    });
}

fn is_above(folder: &str, path: &str) -> bool {
    folder.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
}

#[test]
fn the_plain_scan_is_what_it_should_be() {
    let Plain { result, trace, .. } = plain(0, &tree(), scan);
    let paths: Vec<&str> = result
        .memories
        .iter()
        .map(|memory| memory.path.as_str())
        .collect();
    // The link's own time does not count, that of its target does.
    assert_eq!(
        paths,
        [
            "a.md",
            "long.md",
            "in.md",
            "sub/c.md",
            "team/t.md",
            "team/deep/d.md"
        ]
    );
    let report: Vec<_> = result
        .report
        .iter()
        .map(|entry| (entry.path.as_str(), entry.code))
        .collect();
    assert_eq!(report, [("out.md", ReportCode::LinkOutside)]);
    let kinds = ["List", "RealPath", "Lstat", "ReadMany", "Read {"];
    for kind in kinds {
        assert!(
            trace
                .iter()
                .any(|traced| format!("{:?}", traced.effect).starts_with(kind)),
            "{kind}"
        );
    }
}

#[test]
fn a_manifest_survives_each_failure() {
    fail_everywhere(&tree(), manifest, |plain, effect, code, result, _| {
        match (effect, result) {
            (Effect::HostInfo, result) => {
                assert_eq!(result.map_err(|error| error.code), Err(code.into()))
            }
            (_, Ok(text)) => {
                assert!(
                    text.lines()
                        .all(|line| plain.result.lines().any(|known| known == line)),
                    "{text}"
                );
                assert!(
                    plain
                        .result
                        .lines()
                        .all(|line| text.contains(line) || concerns(effect, path_of(line))),
                    "{effect:?} {code:?}: {text}"
                );
            }
            (_, Err(error)) => panic!("{effect:?} {code:?}: {error}"),
        }
    });
}

fn path_of(line: &str) -> &str {
    line.split(" (")
        .next()
        .and_then(|start| start.rsplit(' ').next())
        .unwrap_or_default()
}

#[test]
fn reading_one_memory_fails_with_the_code_of_the_failed_effect() {
    fail_everywhere(&tree(), read, |plain, effect, code, result, host| {
        assert_eq!(host.tree, plain.after);
        if settings_file(effect).is_some() {
            assert_eq!(result.as_ref(), Ok(&plain.result), "{effect:?} {code:?}");
            return;
        }
        assert_eq!(
            result.map_err(|error| error.code),
            Err(code.into()),
            "{effect:?}"
        );
    });
}

#[test]
fn a_prompt_survives_each_failure_and_warns() {
    for tree in [tree(), tree_without_folder()] {
        fail_everywhere(&tree, prompt, |plain, effect, code, result, host| {
            if *effect == Effect::HostInfo {
                assert_eq!(result.map_err(|error| error.code), Err(code.into()));
                return;
            }
            let text = result
                .unwrap_or_else(|error| panic!("{effect:?} {code:?}: {error}"))
                .unwrap_or_default();
            assert!(text.contains(DIRECTORY), "{text}");
            let warned = !host.events.is_empty();
            match effect {
                Effect::MakeDir { .. } => assert!(warned && host.tree == tree, "{code:?}"),
                effect if settings_file(effect).is_some() => {
                    assert_eq!(Some(&text), plain.result.as_ref(), "{effect:?} {code:?}");
                }
                // That there is no index is nothing to warn of.
                _ if code == FailureCode::NotFound || tree == tree_without_folder() => {}
                _ => assert!(warned, "{effect:?} {code:?}"),
            }
            let index = "- [A](a.md) first";
            assert!(!text.contains(index) || Some(text) == plain.result);
        });
    }
}

#[test]
fn open_survives_each_failure_and_never_goes_astray() {
    for tree in [tree_with_worktree(), tree_with_chosen_directory()] {
        fail_everywhere(&tree, open, |plain, effect, code, result, host| {
            assert_eq!(host.tree, tree, "open creates nothing");
            if *effect == Effect::HostInfo {
                assert_eq!(result.map_err(|error| error.code), Err(code.into()));
                return;
            }
            let opened = result.unwrap_or_else(|error| panic!("{effect:?} {code:?}: {error}"));
            assert!(opened.enabled);
            if let Some(file) = settings_file(effect) {
                assert_eq!(opened.project_root, plain.result.project_root);
                let named = opened.report.iter().any(|entry| {
                    entry.code == ReportCode::SettingsUnreadable && entry.message.contains(file)
                });
                assert_eq!(named, !says_missing(effect, code), "{effect:?} {code:?}");
                if !file.starts_with("/home/ada") {
                    assert_eq!(opened.directory, plain.result.directory);
                }
                return;
            }
            let is_git = matches!(effect, Effect::Stat { path } if path.ends_with("/.git"));
            let is_there_no = [
                FailureCode::NotFound,
                FailureCode::NotADirectory,
                FailureCode::Loop,
            ];
            if is_git && !is_there_no.contains(&code) {
                let doubt = |entry: &ReportEntry| entry.code == ReportCode::Unreadable;
                assert!(opened.report.iter().any(doubt), "{effect:?} {code:?}");
            }
            // Without its git files the worktree stands for itself, or the start does.
            let root = opened.project_root.as_deref().unwrap_or_default();
            assert!(
                ["/code/main", "/code/wt", "/code/wt/src"].contains(&root),
                "{effect:?} {code:?}: {root}"
            );
            assert!(opened.directory.starts_with("/home/ada/"), "{opened:?}");
            if plain.result.chosen_file.is_some() {
                assert_eq!(opened.directory, plain.result.directory);
            }
        });
    }
}

#[test]
fn the_plain_open_is_what_it_should_be() {
    let Plain { result, trace, .. } = plain(0, &tree_with_worktree(), open);
    assert_eq!(result.project_root.as_deref(), Some("/code/main"));
    let key = result.project_key.unwrap_or_default();
    assert!(
        key.starts_with(MAIN_KEY) && key != MAIN_KEY,
        "a colliding slug gets a key of its own, not {key}"
    );
    let codes: Vec<ReportCode> = result.report.iter().map(|entry| entry.code).collect();
    assert_eq!(codes, [ReportCode::SlugCollision]);
    for kind in ["HostInfo", "RealPath", "Lstat", "Read {"] {
        assert!(
            trace
                .iter()
                .any(|traced| format!("{:?}", traced.effect).starts_with(kind)),
            "{kind}"
        );
    }
    let chosen = plain(0, &tree_with_chosen_directory(), open).result;
    assert_eq!(chosen.directory, "/home/ada/notes/");
    assert_eq!(
        chosen.chosen_file.as_deref(),
        Some("/home/ada/.claude/settings.json")
    );
}

#[test]
fn lint_survives_each_failure_and_says_what_it_could_not_see() {
    fail_everywhere(&tree(), lint, |plain, effect, code, result, host| {
        assert_eq!(host.tree, tree());
        if *effect == Effect::HostInfo {
            assert_eq!(result.map_err(|error| error.code), Err(code.into()));
            return;
        }
        let findings = result
            .unwrap_or_else(|error| panic!("{effect:?} {code:?}: {error}"))
            .findings;
        // Without a clock nothing is missing; what is not found may not be there, such as the
        // index of the team, for which it does not matter where the store really is.
        let root = matches!(effect, Effect::RealPath { path } if path.ends_with('/'));
        let silent = *effect == Effect::Now || root || says_missing(effect, code);
        assert!(
            silent || findings != plain.result.findings,
            "{effect:?} {code:?}: {findings:?}"
        );
        // A failure never makes lint accuse the index of what it could not look at.
        assert!(
            findings
                .iter()
                .filter(|finding| finding.code == ReportCode::IndexLinkBroken)
                .all(|finding| code == FailureCode::NotFound
                    || plain.result.findings.contains(finding)),
            "{effect:?} {code:?}: {findings:?}"
        );
    });
}

#[test]
fn a_store_is_usable_after_a_failed_or_cancelled_scan() {
    let seed = 1;
    let plain = plain(seed, &changed_tree(), warm_scan);
    for at in 0..plain.trace.len() {
        for kind in [FaultKind::Cancel, FaultKind::Fail(FailureCode::Busy)] {
            let store = store(DIRECTORY);
            let mut first = SimHost::with_tree(seed, tree());
            assert!(first.run(store.scan()).is_ok());
            let mut host = SimHost::with_tree(seed, changed_tree()).with_fault(at, kind);
            // How it ends is not the question here.
            let _ = host.run(store.scan());
            let again = host.run(store.scan());
            assert_eq!(again.as_ref(), Ok(&plain.result), "{kind:?} at {at}");
        }
    }
}

#[test]
fn open_cancelled_or_crashed_anywhere() {
    stop_everywhere(&tree_with_worktree(), open);
    stop_everywhere(&tree_with_chosen_directory(), open);
}

#[test]
fn lint_cancelled_or_crashed_anywhere() {
    stop_everywhere(&tree(), lint);
    stop_everywhere(&tree_without_folder(), lint);
}

#[test]
fn warm_scan_cancelled_or_crashed_anywhere() {
    stop_everywhere(&changed_tree(), warm_scan);
}

#[test]
fn scan_cancelled_or_crashed_anywhere() {
    stop_everywhere(&tree(), scan);
    stop_everywhere(&tree_without_folder(), scan);
}

#[test]
fn manifest_cancelled_or_crashed_anywhere() {
    stop_everywhere(&tree(), manifest);
}

#[test]
fn read_cancelled_or_crashed_anywhere() {
    stop_everywhere(&tree(), read);
}

#[test]
fn prompt_cancelled_or_crashed_anywhere() {
    stop_everywhere(&tree(), prompt);
    stop_everywhere(&tree_without_folder(), prompt);
    // With an event as its last effect.
    let mut strange = tree();
    strange.file(format!("{DIRECTORY}/MEMORY.md"), b"\xFF");
    stop_everywhere(&strange, prompt);
}

#[test]
fn the_order_of_the_effects_does_not_show() {
    let first = plain(0, &tree(), scan);
    let mut orders = vec![];
    for seed in 1..20 {
        let other = plain(seed, &tree(), scan);
        assert_eq!(other.result, first.result);
        assert_eq!(
            plain(seed, &tree(), scan).trace,
            other.trace,
            "a seed replays its run"
        );
        orders.push(other.trace);
    }
    assert!(orders.iter().any(|trace| *trace != first.trace));
}

#[test]
fn a_host_that_breaks_its_word_costs_only_what_it_left_out() {
    use memdir_core::flow::{Bytes, Head, Outcome};
    for heads in [
        vec![],
        vec![Head::Content(Bytes(b"x".to_vec()))],
        vec![Head::Content(Bytes(vec![])); 300],
    ] {
        let count = heads.len();
        let mut host = SimHost::with_tree(0, tree());
        host.script = Some(Box::new(move |effect, _| {
            matches!(effect, Effect::ReadMany { .. }).then(|| Outcome::Heads(heads.clone()))
        }));
        let scan = host.run(scan()).unwrap();
        assert_eq!(scan.memories.len(), count.min(6));
        let lost = scan
            .report
            .iter()
            .filter(|entry| entry.code == ReportCode::Unreadable)
            .count();
        assert_eq!(lost, 6 - count.min(6));
    }
}
