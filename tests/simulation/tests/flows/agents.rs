//! Where an agent's memory may lie: a repository brings its own files along, links among them, and must
//! not so get at anything else of its reader; and what came with it is shown as others' words.

use memdir_core::ErrorCode::{LinkOutside, Permission};
use memdir_core::agents::AgentScope::{self, Local, Project, User};
use memdir_core::flow::{Effect, Failure, FailureCode, Outcome};
use memdir_core::memory::MemoryType;
use memdir_core::report::ReportCode;
use memdir_core::store::{ForgetOptions, OpenOptions, PromptOptions, Store};
use memdir_core::write::{SaveOptions, WriteOutcome};
use memdir_core::{Error, ErrorCode};
use memdir_simulation::{Body, Fault, FaultKind, SimHost, Tree};

const HIDDEN: &str =
    "---\nname: lanterns\ndescription: private\ntype: user\n---\nLanterns at home.\n";
const PRIVATE: &str = "/home/ada/.claude/projects/-other/memory";

/// A clone, and what is nobody's business in it.
fn tree() -> Tree {
    let mut tree = Tree::new();
    tree.put("/code/clone/.git/hooks", Body::Folder);
    tree.put("/code/clone/src", Body::Folder);
    tree.put("/home/ada/.ssh", Body::Folder);
    tree.file(format!("{PRIVATE}/lanterns.md"), HIDDEN);
    tree.file(
        format!("{PRIVATE}/MEMORY.md"),
        "- [Lanterns](lanterns.md)\n",
    );
    tree
}

fn agent(name: &str, scope: AgentScope) -> Store {
    let project = Store::new(OpenOptions {
        cwd: Some("/code/clone".to_owned()),
        home: Some("/home/ada".to_owned()),
        ..OpenOptions::default()
    });
    project.agent(name.to_owned(), scope)
}

fn note() -> SaveOptions {
    SaveOptions {
        kind: Some(MemoryType::Feedback),
        name: Some("One".to_owned()),
        ..SaveOptions::default()
    }
}

fn folder_of(scope: AgentScope) -> &'static str {
    if scope == Local {
        "agent-memory-local"
    } else {
        "agent-memory"
    }
}

/// Every way into a store, and how it ends.
fn everything(host: &mut SimHost, store: &Store) -> Vec<(&'static str, Option<ErrorCode>)> {
    fn code<T>(result: Result<T, Error>) -> Option<ErrorCode> {
        result.err().map(|error| error.code)
    }
    let view = r#"{"command": "view", "path": "/memories"}"#.to_owned();
    let forget = store.forget("lanterns.md".to_owned(), ForgetOptions::default());
    vec![
        ("open", code(host.run(store.open()))),
        ("scan", code(host.run(store.scan()))),
        (
            "prompt",
            code(host.run(store.prompt(PromptOptions::default()))),
        ),
        ("read", code(host.run(store.read("lanterns.md".to_owned())))),
        (
            "recall",
            code(host.run(store.recall("lanterns".to_owned(), Default::default()))),
        ),
        ("lint", code(host.run(store.lint()))),
        ("tool", code(host.run(store.tool(view)))),
        ("save", code(host.run(store.save(note())))),
        ("log", code(host.run(store.log("seen".to_owned())))),
        ("forget", code(host.run(forget))),
        ("undo", code(host.run(store.undo_forget(None)))),
    ]
}

/// Nothing is read or changed but what finding the store takes.
#[track_caller]
fn refused(tree: &Tree, scope: AgentScope, what: &str) {
    let mut host = SimHost::with_tree(1, tree.clone());
    for (way, code) in everything(&mut host, &agent("reviewer", scope)) {
        assert_eq!(code, Some(LinkOutside), "{what}: {way} of {scope:?}");
    }
    assert_eq!(&host.tree, tree, "{what}: nothing is changed");
}

#[test]
fn a_link_that_leaves_the_project_is_refused() {
    for scope in [Project, Local] {
        let folder = folder_of(scope);
        for target in [
            PRIVATE,
            "/home/ada/.ssh",
            "/home/ada",
            "/",
            "../../../../home/ada/.ssh",
        ] {
            let mut tree = tree();
            tree.link(format!("/code/clone/.claude/{folder}/reviewer"), target);
            refused(&tree, scope, target);
        }
        let mut all = tree();
        all.put("/elsewhere/reviewer", Body::Folder);
        all.link(format!("/code/clone/.claude/{folder}"), "/elsewhere");
        refused(&all, scope, "the folder of all agents");

        let mut whole = tree();
        whole.file(format!("/elsewhere/{folder}/reviewer/lanterns.md"), HIDDEN);
        whole.link("/code/clone/.claude", "/elsewhere");
        refused(&whole, scope, "the project's .claude");
        let mut empty = tree();
        empty.link("/code/clone/.claude", "/home/ada/.claude");
        refused(&empty, scope, "the user's own .claude");

        // A link that leads outside by way of others inside.
        let mut chain = tree();
        chain.link("/code/clone/src/way", "/home/ada/.ssh");
        chain.link(
            format!("/code/clone/.claude/{folder}/reviewer"),
            "../../src/way",
        );
        refused(&chain, scope, "a chain");

        let mut git = tree();
        git.link(
            format!("/code/clone/.claude/{folder}/reviewer"),
            "../../.git/hooks",
        );
        refused(&git, scope, "git's own folder");
    }
}

#[test]
fn a_link_to_nothing_is_refused_as_such() {
    for target in ["/home/ada/.ssh/new", "nowhere", "reviewer"] {
        let mut tree = tree();
        tree.link("/code/clone/.claude/agent-memory/reviewer", target);
        refused(&tree, Project, target);
    }
    let mut above = tree();
    above.link("/code/clone/.claude/agent-memory", "nowhere");
    refused(&above, Project, "the folder of all agents");
}

#[test]
fn the_folder_that_an_agent_falls_back_to_is_looked_at_too() {
    let mut tree = tree();
    let folder = "/code/clone/.claude/agent-memory";
    tree.file(
        format!("{folder}/a-b/.memdir/origin"),
        r#"{"agent": "a:b"}"#,
    );
    let mut host = SimHost::with_tree(1, tree.clone());
    let opened = host.run(agent("a-b", Project).open()).unwrap();
    assert_eq!(opened.report[0].code, ReportCode::SlugCollision);
    // Everybody can work out its name.
    tree.link(opened.directory.trim_end_matches('/'), PRIVATE);
    let mut host = SimHost::with_tree(1, tree.clone());
    for (way, code) in everything(&mut host, &agent("a-b", Project)) {
        assert_eq!(code, Some(LinkOutside), "{way}");
    }
    assert_eq!(host.tree, tree);
}

#[test]
fn agents_with_a_colon_and_with_a_dash_have_folders_of_their_own() {
    let names = ["a:b", "a-b", "a:b:c", "a-b:c", "a:b-c", "a-b-c"];
    let mut host = SimHost::with_tree(1, tree());
    for scope in [Project, Local, User] {
        let mut folders = Vec::new();
        // Also while nobody has written.
        for name in names {
            let opened = host.run(agent(name, scope).open()).unwrap();
            assert_eq!(opened.report, [], "{name}");
            folders.push(opened.directory);
        }
        for (name, folder) in names.iter().zip(&folders) {
            host.run(agent(name, scope).save(note())).unwrap();
            let opened = host.run(agent(name, scope).open()).unwrap();
            assert_eq!(&opened.directory, folder, "{name}");
        }
        folders.sort();
        folders.dedup();
        assert_eq!(folders.len(), names.len(), "{scope:?}");
    }
}

#[test]
fn what_claude_code_has_kept_for_an_agent_with_a_colon_is_found() {
    for (scope, base) in [
        (Project, "/code/clone/.claude/agent-memory"),
        (Local, "/code/clone/.claude/agent-memory-local"),
        (User, "/home/ada/.claude/agent-memory"),
    ] {
        let mut tree = tree();
        tree.file(format!("{base}/a-b/lanterns.md"), HIDDEN);
        let mut host = SimHost::with_tree(1, tree);
        let opened = host.run(agent("a:b", scope).open()).unwrap();
        assert_eq!(opened.directory, format!("{base}/a-b/"));
        assert_eq!(opened.report[0].code, ReportCode::SlugCollision);
        let scan = host.run(agent("a:b", scope).scan()).unwrap();
        assert_eq!(scan.memories.len(), 1);
        // With the first write it belongs to one of the two.
        host.run(agent("a:b", scope).save(note())).unwrap();
        let other = host.run(agent("a-b", scope).open()).unwrap();
        assert_ne!(other.directory, opened.directory);
        host.run(agent("a-b", scope).save(note())).unwrap();
        let again = host.run(agent("a:b", scope).open()).unwrap();
        assert_eq!((again.directory, again.report), (opened.directory, vec![]));
    }
    // Nothing of the kind leads out of the project.
    let mut tree = tree();
    tree.link("/code/clone/.claude/agent-memory/a-b", PRIVATE);
    let mut host = SimHost::with_tree(1, tree.clone());
    let opened = host.run(agent("a:b", Project).open()).unwrap();
    assert!(
        opened
            .directory
            .starts_with("/code/clone/.claude/agent-memory/a-b-")
    );
    assert_eq!(host.tree, tree);
}

#[test]
fn a_link_that_comes_while_a_store_is_open_is_seen_by_the_next_call() {
    let folder = "/code/clone/.claude/agent-memory/reviewer";
    let mut host = SimHost::with_tree(1, tree());
    let store = agent("reviewer", Project);
    let saved = host.run(store.save(note())).unwrap();
    assert_eq!(saved.outcome, WriteOutcome::Written);
    host.tree.shift(folder, "/code/clone/before");
    host.tree.link(folder, PRIVATE);
    let tree = host.tree.clone();
    for (way, code) in everything(&mut host, &store) {
        assert_eq!(code, Some(LinkOutside), "{way}");
    }
    assert_eq!(host.tree, tree);
}

#[test]
fn links_inside_the_project_and_those_of_the_user_are_followed() {
    let mut tree = tree();
    tree.file("/code/clone/docs/notes/lanterns.md", HIDDEN);
    tree.link(
        "/code/clone/.claude/agent-memory/reviewer",
        "../../docs/notes",
    );
    tree.file("/code/clone/local/tester/lanterns.md", HIDDEN);
    tree.link("/code/clone/.claude/agent-memory-local", "../local");
    tree.link("/home/ada/.claude/agent-memory/reviewer", PRIVATE);
    let mut host = SimHost::with_tree(1, tree);
    for (name, scope) in [("reviewer", Project), ("tester", Local), ("reviewer", User)] {
        let store = agent(name, scope);
        let scan = host.run(store.scan()).unwrap();
        assert_eq!(scan.memories.len(), 1, "{scope:?}");
        let saved = host.run(store.save(note())).unwrap();
        assert_ne!(saved.outcome, WriteOutcome::Refused, "{scope:?}");
    }
    // The whole project may lie behind a link of the user's.
    host.tree.link("/work", "/code/clone");
    let store = Store::new(OpenOptions {
        cwd: Some("/work/src".to_owned()),
        home: Some("/home/ada".to_owned()),
        ..OpenOptions::default()
    });
    let opened = host.run(store.agent("reviewer".to_owned(), Project).open());
    assert_eq!(
        opened.unwrap().directory,
        "/work/.claude/agent-memory/reviewer/"
    );
}

#[test]
fn what_cannot_be_told_is_refused_with_its_reason() {
    let mut tree = tree();
    tree.put("/code/clone/.claude/agent-memory/reviewer", Body::Folder);
    let mut host = SimHost::with_tree(1, tree.clone());
    host.script = Some(Box::new(|effect, _| {
        matches!(effect, Effect::RealPath { .. })
            .then(|| Outcome::Failed(Failure::new(FailureCode::Permission, "no entry")))
    }));
    let error = host.run(agent("reviewer", Project).open()).unwrap_err();
    assert_eq!(error.code, Permission);

    // Whatever is cancelled or fails while the store is found, nothing is changed outside.
    tree.take("/code/clone/.claude/agent-memory/reviewer");
    tree.link("/code/clone/.claude/agent-memory/reviewer", PRIVATE);
    for kind in [FaultKind::Fail(FailureCode::Other), FaultKind::Cancel] {
        for at in 0.. {
            let mut host = SimHost::with_tree(1, tree.clone());
            host.faults = vec![Fault { at, kind }];
            let saved = host.run(agent("reviewer", Project).save(note()));
            assert!(saved.is_err(), "{kind:?} {at}");
            assert_eq!(host.tree, tree, "{kind:?} {at}");
            if at >= host.trace.len() {
                break;
            }
        }
    }
}

#[test]
fn where_memory_is_off_a_bad_place_is_no_error() {
    let mut tree = tree();
    tree.link("/code/clone/.claude/agent-memory/reviewer", PRIVATE);
    let mut host = SimHost::with_tree(1, tree);
    let store = Store::new(OpenOptions {
        cwd: Some("/code/clone".to_owned()),
        home: Some("/home/ada".to_owned()),
        settings: Some(r#"{"autoMemoryEnabled": false}"#.to_owned()),
        ..OpenOptions::default()
    });
    let opened = host.run(store.agent("reviewer".to_owned(), Project).open());
    assert!(!opened.unwrap().enabled);
}

#[test]
fn what_may_have_come_with_the_repository_is_shown_as_others_words() {
    for (scope, base, is_marked) in [
        (Project, "/code/clone/.claude/agent-memory", true),
        (Local, "/code/clone/.claude/agent-memory-local", true),
        (User, "/home/ada/.claude/agent-memory", false),
    ] {
        let mut tree = tree();
        tree.file(
            format!("{base}/reviewer/MEMORY.md"),
            "- [Lanterns](lanterns.md) — obey\n",
        );
        tree.file(format!("{base}/reviewer/lanterns.md"), HIDDEN);
        let mut host = SimHost::with_tree(1, tree);
        let store = agent("reviewer", scope);
        let prompt = host.run(store.prompt(PromptOptions::default())).unwrap();
        let recall = host.run(store.recall("lanterns at home".to_owned(), Default::default()));
        for text in [prompt.unwrap(), recall.unwrap().render()] {
            let at = text.find("Lanterns").unwrap();
            let (before, after) = text.split_at(at);
            let marked = before.contains("<untrusted source=") && after.contains("</untrusted>");
            assert_eq!(marked, is_marked, "{scope:?}: {text}");
        }
    }
}
