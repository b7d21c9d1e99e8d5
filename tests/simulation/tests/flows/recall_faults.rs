//! Recall and the close that writes its counts, with a failure of every kind, a cancellation and a
//! crash at each effect, without a model, with a function and with a provider.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

use memdir_core::error::{Error, ErrorCode};
use memdir_core::flow::{Effect, FailureCode, Flow};
use memdir_core::model::{Key, ModelOptions};
use memdir_core::report::ReportCode;
use memdir_core::store::{OpenOptions, Recall, RecallOptions, RecallReason, Store};
use memdir_simulation::{
    Attempt, Body, FaultKind, Network, OLD_MS, SimHost, Traced, Tree, codes, memory, paths, script,
};

const DIRECTORY: &str = "/home/ada/.claude/projects/-code-shop/memory";
const QUERY: &str = "harbour pipeline";

/// A store that makes a recall use every effect that it knows.
fn tree() -> Tree {
    let mut tree = Tree::new();
    tree.put("/code/shop/.git", Body::Folder);
    tree.file("/home/ada/.claude/settings.json", "{}");
    let long = format!("the harbour pipeline {}", "long ".repeat(1_000));
    for (name, text) in [
        (
            "best.md",
            memory("the harbour pipeline", "The harbour pipeline."),
        ),
        ("long.md", memory(&long, "Text.")),
        (
            "sub/good.md",
            memory("how it is deployed", "By the harbour pipeline."),
        ),
        ("one.md", memory("numbering of invoices", "Text.")),
        ("two.md", memory("colours of the brand", "Text.")),
        ("team/three.md", memory("who reviews", "Text.")),
        ("four.md", memory("tax of books", "Text.")),
    ] {
        tree.file(format!("{DIRECTORY}/{name}"), text).at(OLD_MS);
    }
    tree.link(format!("{DIRECTORY}/in.md"), "two.md").at(OLD_MS);
    tree
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Asked {
    Nobody,
    Function,
    Provider,
}

/// The orders of effects that are tried: what the model adds has but one.
fn seeds(asked: Asked) -> std::ops::Range<u64> {
    0..if asked == Asked::Nobody { 2 } else { 1 }
}

/// What runs, and in which state of the store.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Case {
    /// The first recall of a process.
    First,
    /// A recall after a minute, which writes the counts of it and of the first.
    Later,
    /// The end of a process that recalled.
    Close,
}

/// A machine and a flow on it, just before its first effect.
fn prepare(seed: u64, tree: &Tree, asked: Asked, case: Case) -> (SimHost, Store) {
    let name = match asked {
        Asked::Nobody => None,
        Asked::Function => Some("function"),
        Asked::Provider => Some("anthropic/claude-x"),
    };
    let store = Store::new(OpenOptions {
        cwd: Some("/code/shop".to_owned()),
        home: Some("/home/ada".to_owned()),
        model: name.map(|name| ModelOptions {
            name: name.to_owned(),
            api_key: Some(Key("sk-0451".to_owned())),
            base_url: None,
        }),
        ..OpenOptions::default()
    });
    if case != Case::First {
        let mut before = host(0, tree.clone());
        before.run(recall(&store)).unwrap();
        assert_eq!(before.tree, *tree, "the first recall writes nothing");
    }
    let mut host = host(seed, tree.clone());
    host.clock_ms += 60_000;
    (host, store)
}

fn host(seed: u64, tree: Tree) -> SimHost {
    let choice = r#"{"selected_memories": ["best.md", "in.md"]}"#;
    let body = serde_json::json!({"content": [{"type": "text", "text": choice}]}).to_string();
    let mut host = SimHost::with_tree(seed, tree);
    host.model = Some(Box::new(move |_| Attempt::answer(choice.to_owned())));
    // Busy once, then good as often as it is asked.
    let mut attempts = vec![Attempt::http(503, &[], "")];
    attempts.extend(vec![Attempt::http(200, &[], &body); 4]);
    host.network = Some(Network::serving(script(attempts)));
    host
}

fn recall(store: &Store) -> Flow<Recall> {
    store.recall(QUERY.to_owned(), RecallOptions::default())
}

fn flow(store: &Store, case: Case) -> Flow<Option<Recall>> {
    match case {
        Case::Close => store.close().map(|()| None),
        Case::First | Case::Later => recall(store).map(Some),
    }
}

fn plain(seed: u64, tree: &Tree, asked: Asked, case: Case) -> (Option<Recall>, Vec<Traced>, Tree) {
    let (mut host, store) = prepare(seed, tree, asked, case);
    let result = host.run(flow(&store, case)).unwrap();
    (result, host.trace, host.tree)
}

fn cases() -> Vec<(Asked, Case)> {
    let mut cases = vec![(Asked::Nobody, Case::Close)];
    for asked in [Asked::Nobody, Asked::Function, Asked::Provider] {
        cases.extend([(asked, Case::First), (asked, Case::Later)]);
    }
    cases
}

/// The counts on the disk: none, or whole.
fn check_disk(host: &SimHost, before: &Tree, crashed: bool, what: &str) {
    let own = format!("{DIRECTORY}/.memdir");
    let mut outside = host.tree.clone();
    outside.take(&own);
    let mut wanted = before.clone();
    wanted.take(&own);
    assert_eq!(outside.nodes(), wanted.nodes(), "{what}");
    let mut temporary = 0;
    for (path, node) in host.tree.nodes() {
        let path = String::from_utf8_lossy(path);
        temporary += usize::from(path.ends_with(".memdir-tmp"));
        if path.ends_with("/uses.json") {
            let Body::File(bytes) = &node.body else {
                panic!("{what}: {node:?}")
            };
            let json: serde_json::Value = serde_json::from_slice(bytes).unwrap();
            assert!(
                json["uses"]["best.md"]["count"].as_u64() >= Some(1),
                "{what}: {json}"
            );
        }
    }
    assert!(temporary <= usize::from(crashed), "{what}: {:?}", host.tree);
}

/// Every failure code; the wire names are those of the conformance cases.
fn failure_codes() -> Vec<FailureCode> {
    let names = [
        "not-found",
        "exists",
        "permission",
        "read-only",
        "no-space",
        "not-a-directory",
        "is-a-directory",
        "not-empty",
        "loop",
        "name-too-long",
        "invalid-name",
        "too-large",
        "too-many-open",
        "cross-device",
        "busy",
        "unsupported",
        "timeout",
        "network",
        "aborted",
        "other",
    ];
    let codes = names.map(|name| serde_json::from_value(name.into()).unwrap());
    codes.to_vec()
}

fn is_own(effect: &Effect) -> bool {
    match effect {
        Effect::Lstat { path } => path.ends_with("/.memdir"),
        Effect::MakeDir { path, .. } | Effect::Write { path, .. } => path.contains("/.memdir"),
        Effect::Random { .. } => true,
        _ => false,
    }
}

/// What a recall may do after this effect failed with this code.
fn check(
    plain: &Recall,
    asked: Asked,
    case: Case,
    (effect, first): (&Effect, bool),
    code: FailureCode,
    result: Result<Recall, Error>,
) {
    let what = format!("{asked:?} {case:?} {effect:?} {code:?}: {result:?}");
    let fails = |result: &Result<Recall, Error>| {
        result.as_ref().err().map(|error| error.code) == Some(code.into())
    };
    let by_words = |recall: &Recall| {
        codes(recall).contains(&("", ReportCode::ModelFailed))
            && paths(recall).first() == Some(&"best.md")
            && recall
                .memories
                .iter()
                .all(|one| one.reason == RecallReason::Lexical)
    };
    match (effect, result) {
        // Counting never shows.
        (effect, result) if is_own(effect) => assert_eq!(result.as_ref(), Ok(plain), "{what}"),
        (Effect::HostInfo, result) if case == Case::Later => {
            assert_eq!(result.as_ref(), Ok(plain), "{what}");
        }
        (Effect::HostInfo, result) => assert!(fails(&result), "{what}"),
        (Effect::Read { path, .. }, Ok(recall)) if path.ends_with("/uses.json") => {
            assert_eq!(recall.memories, plain.memories, "{what}");
            let missing = matches!(code, FailureCode::NotFound | FailureCode::NotADirectory);
            let said = codes(&recall).contains(&("", ReportCode::UsesUnreadable));
            // Read again before they are written, they are not spoken of again.
            assert_eq!(said, first && !missing, "{what}");
        }
        // Without the time there is no age; the model's clock is only the model's.
        (Effect::Now, result) => {
            let lives = result
                .as_ref()
                .is_ok_and(|recall| recall == plain || by_words(recall));
            assert!(fails(&result) || lives, "{what}");
        }
        (Effect::Model { .. }, Ok(recall)) => assert!(by_words(&recall), "{what}"),
        (Effect::Http { .. }, Ok(recall)) => {
            let passing = matches!(code, FailureCode::Timeout | FailureCode::Network);
            assert_eq!(recall == *plain, passing, "{what}");
            assert_eq!(by_words(&recall), !passing, "{what}");
        }
        (Effect::Sleep { .. }, result) => assert_eq!(result.as_ref(), Ok(plain), "{what}"),
        // The chosen cannot be read.
        (Effect::ReadMany { .. }, Err(error)) => assert_eq!(error.code, code.into(), "{what}"),
        (_, Ok(recall)) => {
            let missing = plain
                .memories
                .iter()
                .filter(|one| !paths(&recall).contains(&one.path.as_str()));
            for one in missing {
                let said = |(path, _): &(&str, ReportCode)| {
                    one.path == *path
                        || path.is_empty()
                        || one.path.starts_with(&format!("{path}/"))
                };
                assert!(codes(&recall).iter().any(said), "{what}: {}", one.path);
            }
        }
        (_, Err(_)) => panic!("{what}"),
    }
}

#[test]
fn a_recall_survives_each_failure_and_counting_never_shows() {
    let tree = tree();
    for (asked, case) in cases() {
        for seed in seeds(asked) {
            let (wanted, trace, _) = plain(seed, &tree, asked, case);
            for (at, traced) in trace.iter().enumerate() {
                for code in failure_codes() {
                    let (host, store) = prepare(seed, &tree, asked, case);
                    let mut host = host.with_fault(at, FaultKind::Fail(code));
                    let result = host.run(flow(&store, case));
                    let what = format!("{asked:?} {case:?} {:?} {code:?}", traced.effect);
                    check_disk(&host, &tree, false, &what);
                    match &wanted {
                        None => assert_eq!(result, Ok(None), "{what}"),
                        Some(wanted) => {
                            let result = result.map(Option::unwrap_or_default);
                            let earlier =
                                trace.iter().take(at).any(|one| one.effect == traced.effect);
                            let effect = (&traced.effect, !earlier);
                            check(wanted, asked, case, effect, code, result);
                            // The store is as good as before.
                            let again = host.run(recall(&store)).unwrap();
                            assert_eq!(paths(&again), paths(wanted), "{what}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_recall_can_be_cancelled_anywhere() {
    let tree = tree();
    for (asked, case) in cases() {
        for seed in seeds(asked) {
            let (wanted, trace, _) = plain(seed, &tree, asked, case);
            for at in 0..trace.len() {
                let (host, store) = prepare(seed, &tree, asked, case);
                let mut host = host.with_fault(at, FaultKind::Cancel);
                let began = host.clock_ms;
                let result = host.run(flow(&store, case));
                let what = format!("{asked:?} {case:?} cancelled at {at}");
                assert_eq!(
                    result.map_err(|error| error.code),
                    Err(ErrorCode::Aborted),
                    "{what}"
                );
                // At most the one pause before the second try was over.
                assert!(host.clock_ms - began <= 625, "{what}");
                check_disk(&host, &tree, false, &what);
                if let Some(wanted) = &wanted {
                    let again = host.run(recall(&store)).unwrap();
                    assert_eq!(paths(&again), paths(wanted), "{what}");
                }
            }
        }
    }
}

#[test]
fn a_crash_anywhere_tears_nothing() {
    let tree = tree();
    for (asked, case) in cases() {
        for seed in seeds(asked) {
            let (_, trace, _) = plain(seed, &tree, asked, case);
            for at in 0..trace.len() {
                for kind in [FaultKind::Crash, FaultKind::Tear] {
                    let (host, store) = prepare(seed, &tree, asked, case);
                    let mut host = host.with_fault(at, kind);
                    assert!(host.run_to_end(flow(&store, case)).is_none());
                    let what = format!("{asked:?} {case:?} {kind:?} at {at}");
                    check_disk(&host, &tree, true, &what);
                    // The next process finds what it always found, and counts.
                    let (_, next) = prepare(seed, &tree, asked, Case::First);
                    let mut host = self::host(seed, host.tree);
                    let found = host.run(recall(&next)).unwrap();
                    assert_eq!(paths(&found).first(), Some(&"best.md"), "{what}");
                    assert!(
                        !codes(&found)
                            .iter()
                            .any(|(_, code)| *code == ReportCode::UsesUnreadable),
                        "{what}"
                    );
                    host.run(next.close()).unwrap();
                    check_disk(&host, &tree, true, &what);
                }
            }
        }
    }
}

#[test]
fn what_a_stop_left_out_of_the_own_folder_is_made_good() {
    let tree = tree();
    let (_, trace, after) = plain(1, &tree, Asked::Nobody, Case::Close);
    for at in 0..trace.len() {
        for kind in [FaultKind::Cancel, FaultKind::Crash, FaultKind::Tear] {
            let (host, store) = prepare(1, &tree, Asked::Nobody, Case::Close);
            let mut host = host.with_fault(at, kind);
            // How it ends is not the question here.
            let _ = host.run_to_end(flow(&store, Case::Close));
            let (_, next) = prepare(1, &tree, Asked::Nobody, Case::First);
            let mut host = self::host(1, host.tree);
            host.run(recall(&next)).unwrap();
            host.run(next.close()).unwrap();
            for name in [".gitignore", "origin"] {
                let path = format!("{DIRECTORY}/.memdir/{name}");
                let body = |tree: &Tree| {
                    tree.nodes()
                        .get(path.as_bytes())
                        .map(|node| node.body.clone())
                };
                assert_eq!(body(&host.tree), body(&after), "{kind:?} at {at}: {name}");
            }
        }
    }
}

#[test]
fn the_plain_runs_are_what_they_should_be() {
    let seen = |trace: &[Traced]| -> Vec<String> {
        let names = trace.iter().map(|traced| format!("{:?}", traced.effect));
        names
            .map(|name| name.split([' ', '{']).next().unwrap_or_default().to_owned())
            .collect()
    };
    let (recall, trace, after) = plain(0, &tree(), Asked::Provider, Case::Later);
    let recall = recall.unwrap();
    assert_eq!(
        (paths(&recall), codes(&recall)),
        (vec!["best.md", "in.md"], vec![])
    );
    for kind in [
        "Http", "Sleep", "Random", "Now", "Read", "ReadMany", "List", "RealPath", "Lstat",
        "MakeDir", "Write", "HostInfo",
    ] {
        assert!(
            seen(&trace).contains(&kind.to_owned()),
            "{kind}: {:?}",
            seen(&trace)
        );
    }
    let count = |tree: &Tree| {
        tree.nodes()
            .keys()
            .filter(|path| path.ends_with(b"/uses.json"))
            .count()
    };
    assert_eq!(count(&after), 1);
    let (recall, _, after) = plain(0, &tree(), Asked::Nobody, Case::First);
    assert_eq!(
        paths(&recall.unwrap()),
        ["best.md", "sub/good.md", "long.md"]
    );
    assert_eq!(count(&after), 0);
    let (recall, trace, after) = plain(0, &tree(), Asked::Nobody, Case::Close);
    assert_eq!((recall, count(&after)), (None, 1));
    // The folder (a look, 1 made), .gitignore (a look, a name, a write), origin (the same, and the
    // host), the counts (read, a name, a write).
    assert_eq!(trace.len(), 2 + 3 + 4 + 3, "{:?}", seen(&trace));
}

#[test]
fn closing_after_a_compaction_survives_each_failure_too() {
    let run = |fault: Option<(usize, FailureCode)>| {
        let (mut host, store) = prepare(0, &tree(), Asked::Nobody, Case::Close);
        store.compacted();
        if let Some((at, code)) = fault {
            host = host.with_fault(at, FaultKind::Fail(code));
        }
        (host.run(store.close()), host)
    };
    let (result, plain) = run(None);
    assert_eq!(result, Ok(()));
    for (at, traced) in plain.trace.iter().enumerate() {
        for code in failure_codes() {
            let (result, _) = run(Some((at, code)));
            assert_eq!(result, Ok(()), "{:?} {code:?}", traced.effect);
        }
    }
}
