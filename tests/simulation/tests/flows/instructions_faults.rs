//! Loading instructions with a failure of every kind and a cancellation at each effect: the chain loads the rest, says
//! what it left out, and shows nothing that nobody has approved.
#![expect(clippy::panic, reason = "helpers of tests fail as tests do")]

use memdir_core::error::{Error, ErrorCode};
use memdir_core::flow::{Effect, FailureCode, Flow};
use memdir_core::instructions::{
    Context, Instructions, InstructionsOptions, LoadEntry, LoadOutcome,
};
use memdir_core::store::{OpenOptions, Store};
use memdir_simulation::{Attempt, FAILURES, FaultKind, SimHost, Tree};

fn tree() -> Tree {
    let mut tree = Tree::new();
    tree.file("/etc/claude-code/CLAUDE.md", "managed");
    tree.file("/home/ada/.claude/CLAUDE.md", "user @~/notes.md");
    tree.file(
        "/home/ada/.claude/settings.json",
        r#"{"claudeMdExcludes": ["**/no.md"]}"#,
    );
    tree.file("/home/ada/notes.md", "notes");
    tree.file("/code/app/.git/HEAD", "ref: refs/heads/main\n");
    tree.file(
        "/code/app/CLAUDE.md",
        "project @a.md @link.md @no.md @/secret/yes.md",
    );
    tree.file("/code/app/a.md", "imported @b.md");
    tree.file("/code/app/b.md", "twice imported");
    tree.file("/code/app/no.md", "excluded");
    tree.link("/code/app/link.md", "/secret/key.md");
    tree.file("/secret/key.md", "top secret");
    tree.file("/secret/yes.md", "approved");
    tree.file("/code/app/.claude/rules/one.md", "rule");
    tree.file(
        "/code/app/.claude/rules/sub/ts.md",
        "---\npaths: '*.ts'\n---\ntypes",
    );
    tree.link("/code/app/.claude/rules/more", "../../more");
    tree.file("/code/app/more/linked.md", "linked rule");
    tree.file("/code/app/CLAUDE.local.md", "local");
    tree.file("/code/app/src/CLAUDE.md", "nested");
    tree.file("/code/app/src/a.ts", "");
    tree
}

fn store() -> Store {
    Store::new(OpenOptions {
        cwd: Some("/code/app".to_owned()),
        home: Some("/home/ada".to_owned()),
        ..OpenOptions::default()
    })
}

fn host() -> SimHost {
    let mut host = SimHost::with_tree(5, tree());
    host.approve = Some(Box::new(|path, _| {
        Attempt::answer(path == "/secret/yes.md")
    }));
    host
}

fn chain(store: &Store) -> Flow<Instructions> {
    store.instructions(InstructionsOptions::default())
}

fn with_file(store: &Store) -> Flow<Instructions> {
    store.instructions_for("src/a.ts".to_owned(), InstructionsOptions::default())
}

/// Whether a report says why a file is not there, or why it cannot be known.
fn is_explained(report: &[LoadEntry], wanted: &LoadEntry) -> bool {
    let is_loaded = |path: &str| {
        let mut entries = report.iter();
        entries.any(|entry| entry.path == path && entry.outcome == LoadOutcome::Loaded)
    };
    let is_named = report.iter().any(|entry| {
        // So is the folder that it lies in.
        wanted.path == entry.path
            || (entry.code.is_some() && wanted.path.starts_with(&format!("{}/", entry.path)))
    });
    is_named
        || wanted
            .parent
            .as_ref()
            .is_some_and(|parent| !is_loaded(parent))
}

fn check(what: &str, flow: impl Fn(&Store) -> Flow<Instructions>, least: usize) {
    let mut plain = host();
    let wanted = plain
        .run(flow(&store()))
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(wanted.files.len() >= least, "{what}: {:?}", wanted.report);
    let effects: Vec<Effect> = plain
        .trace
        .iter()
        .map(|traced| traced.effect.clone())
        .collect();
    for (at, effect) in effects.iter().enumerate() {
        for code in FAILURES {
            let mut host = host().with_fault(at, FaultKind::Fail(code));
            let result = host.run(flow(&store()));
            let context = format!("{what}: {code:?} at {at}, {effect:?}");
            assert_eq!(host.tree, tree(), "{context}: loading never writes");
            // A cancellation of the host is one of the flow only when the flow was cancelled.
            let loaded = match result {
                Ok(loaded) => loaded,
                // What a store cannot be found without.
                Err(error) => {
                    assert!(is_of_opening(effect), "{context}: {error}");
                    continue;
                }
            };
            assert!(!loaded.text.contains("top secret"), "{context}");
            assert!(
                !loaded.text.contains("excluded") || is_of_opening(effect) || is_settings(effect),
                "{context}"
            );
            let hides = matches!(
                code,
                FailureCode::NotFound
                    | FailureCode::NotADirectory
                    | FailureCode::NameTooLong
                    | FailureCode::InvalidName
            );
            for entry in &wanted.report {
                let is_shown = loaded
                    .report
                    .iter()
                    .any(|other| other.path == entry.path && other.outcome == entry.outcome);
                assert!(
                    is_shown || hides || is_explained(&loaded.report, entry),
                    "{context}: {} is lost\n{:#?}",
                    entry.path,
                    loaded.report
                );
            }
        }
        let mut host = host().with_fault(at, FaultKind::Cancel);
        let result = host.run(flow(&store()));
        assert_eq!(
            result.map(|_| ()).map_err(|error| error.code),
            Err(ErrorCode::Aborted),
            "{what} at {at}"
        );
        assert_eq!(host.tree, tree());
    }
}

fn is_of_opening(effect: &Effect) -> bool {
    matches!(effect, Effect::HostInfo)
}

/// Settings that cannot be read exclude nothing, and the store's report says that.
fn is_settings(effect: &Effect) -> bool {
    match effect {
        Effect::RealPath { path } | Effect::Lstat { path } | Effect::Read { path, .. } => {
            path.ends_with("settings.json")
        }
        _ => false,
    }
}

#[test]
fn a_failure_at_any_effect_costs_nothing_else() {
    check("instructions", chain, 9);
    check("instructionsFor", with_file, 2);
}

#[test]
fn a_context_comes_whatever_fails_and_is_cancelled_anywhere() {
    let of = |host: &mut SimHost| -> Result<Context, Error> {
        host.run(store().context(InstructionsOptions::default()))
    };
    let mut plain = host();
    plain.tree.file(
        "/home/ada/.claude/projects/-code-app/memory/MEMORY.md",
        "- [A](a.md) one\n",
    );
    let before = plain.tree.clone();
    let wanted = of(&mut plain).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(wanted.parts.len(), 3);
    for at in 0..plain.trace.len() {
        for code in FAILURES {
            let mut host = host().with_fault(at, FaultKind::Fail(code));
            host.tree = before.clone();
            if let Ok(context) = of(&mut host) {
                assert!(
                    context.parts.len() >= 2,
                    "{code:?} at {at}: {:?}",
                    context.parts
                );
                assert!(!context.text.contains("top secret"));
            }
        }
        let mut host = host().with_fault(at, FaultKind::Cancel);
        host.tree = before.clone();
        assert_eq!(
            of(&mut host).map(|_| ()).map_err(|error| error.code),
            Err(ErrorCode::Aborted)
        );
    }
}
