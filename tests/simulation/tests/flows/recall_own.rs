//! memdir's own folder in a store: what is in it, where it is made, where it is not.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use memdir_core::flow::Effect;
use memdir_core::report::ReportCode as Code;
use memdir_core::store::{OpenOptions, Opened};
use memdir_simulation::{Body, OLD_MS, Session, SimHost, Tree, codes, memory, paths};

const STORE: &str = "/home/ada/.claude/projects/-code-shop/memory";
const OWN: &str = "/home/ada/.claude/projects/-code-shop/memory/.memdir";

fn tree(store: &str) -> Tree {
    let mut tree = Tree::new();
    for project in ["/code/shop/.git", "/code-shop/.git", "/home/ada"] {
        tree.put(project, Body::Folder);
    }
    tree.file(
        format!("{store}/a.md"),
        memory("the harbour pipeline", "Text."),
    )
    .at(OLD_MS);
    tree.file(
        format!("{store}/b.md"),
        memory("numbering of invoices", "Text."),
    )
    .at(OLD_MS);
    tree
}

fn options(cwd: &str, env: &[(&str, &str)]) -> OpenOptions {
    OpenOptions {
        cwd: Some(cwd.to_owned()),
        home: Some("/home/ada".to_owned()),
        env: env
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..OpenOptions::default()
    }
}

fn session(tree: Tree, options: OpenOptions) -> Session {
    Session::with(SimHost::with_tree(3, tree), options)
}

fn use_it(session: &mut Session) -> Opened {
    let recall = session.recall("harbour pipeline").unwrap();
    assert_eq!((paths(&recall), codes(&recall)), (vec!["a.md"], vec![]));
    let opened = session.host.run(session.store.open()).unwrap();
    session.close().unwrap();
    opened
}

fn own(session: &Session, store: &str) -> Vec<String> {
    let inside = format!("{store}/.memdir/");
    let paths = session.host.tree.nodes().keys();
    paths
        .filter_map(|path| std::str::from_utf8(path).ok()?.strip_prefix(&inside))
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_folder_named_after_a_project_says_whose_it_is() {
    let mut shop = session(tree(STORE), options("/code/shop/src", &[]));
    shop.host.tree.put("/code/shop/src", Body::Folder);
    assert_eq!(use_it(&mut shop).directory, format!("{STORE}/"));
    assert_eq!(own(&shop, STORE), [".gitignore", "origin", "uses.json"]);
    let origin = shop.file(&format!("{OWN}/origin")).unwrap();
    let origin: serde_json::Value = serde_json::from_str(&origin).unwrap();
    assert_eq!(origin, serde_json::json!({"path": "/code/shop"}));
    assert_eq!(
        shop.file(&format!("{OWN}/.gitignore")).as_deref(),
        Some("*\n")
    );

    // The project itself comes back; one whose name gives the same slug gets a folder of its own.
    shop.restart();
    assert_eq!(use_it(&mut shop).report, []);
    let mut other = session(shop.host.tree.clone(), options("/code-shop", &[]));
    let opened = other.host.run(other.store.open()).unwrap();
    assert_ne!(opened.directory, format!("{STORE}/"));
    let said: Vec<Code> = opened.report.iter().map(|entry| entry.code).collect();
    assert_eq!(said, [Code::SlugCollision]);
    let recall = other.recall("harbour pipeline").unwrap();
    assert_eq!(
        paths(&recall),
        [""; 0],
        "another project's memories stay its own"
    );

    // Its own folder says so as well.
    let directory = opened.directory.trim_end_matches('/').to_owned();
    let text = memory("the harbour pipeline", "Text.");
    other
        .host
        .tree
        .file(format!("{directory}/a.md"), text)
        .at(OLD_MS);
    other
        .host
        .tree
        .file(format!("{directory}/b.md"), memory("else", "Text."))
        .at(OLD_MS);
    use_it(&mut other);
    let origin = other.file(&format!("{directory}/.memdir/origin")).unwrap();
    let origin: serde_json::Value = serde_json::from_str(&origin).unwrap();
    assert_eq!(origin, serde_json::json!({"path": "/code-shop"}));
}

#[test]
fn a_sandbox_without_processes_says_nothing_of_its_paths() {
    let mut session = session(tree(STORE), options("/code/shop", &[]));
    session.host.pid = None;
    use_it(&mut session);
    assert_eq!(own(&session, STORE), [".gitignore", "uses.json"]);
}

#[test]
fn a_folder_that_was_chosen_belongs_to_no_project() {
    let chosen = "/home/ada/notes";
    let by_option = OpenOptions {
        directory: Some(chosen.to_owned()),
        ..options("/code/shop", &[])
    };
    let by_settings = OpenOptions {
        settings: Some(format!("{{\"autoMemoryDirectory\": \"{chosen}\"}}")),
        ..options("/code/shop", &[])
    };
    let by_env = options(
        "/code/shop",
        &[("CLAUDE_COWORK_MEMORY_PATH_OVERRIDE", chosen)],
    );
    for options in [by_option, by_settings, by_env] {
        let mut session = session(tree(chosen), options);
        assert_eq!(use_it(&mut session).directory, format!("{chosen}/"));
        assert_eq!(own(&session, chosen), [".gitignore", "uses.json"]);
    }
    // A name that several projects share says nothing of one.
    let shared = "/cfg/projects/shared/memory";
    let env = [
        ("CLAUDE_CONFIG_DIR", "/cfg"),
        ("CLAUDE_CODE_PROJECT_DIR_NAME", "shared"),
    ];
    let mut session = session(tree(shared), options("/code/shop", &env));
    assert_eq!(use_it(&mut session).directory, format!("{shared}/"));
    assert_eq!(own(&session, shared), [".gitignore", "uses.json"]);
}

#[test]
fn what_is_in_the_folder_already_stays() {
    let mut tree = tree(STORE);
    tree.file(format!("{OWN}/.gitignore"), "!uses.json\n");
    tree.file(format!("{OWN}/lock"), "{}");
    let mut session = session(tree, options("/code/shop", &[]));
    use_it(&mut session);
    assert_eq!(
        session.file(&format!("{OWN}/.gitignore")).as_deref(),
        Some("!uses.json\n")
    );
    assert_eq!(session.file(&format!("{OWN}/lock")).as_deref(), Some("{}"));
}

#[test]
fn what_is_no_folder_of_the_store_is_not_written_to() {
    for body in [
        Body::Link(b"/etc/own".to_vec()),
        Body::Link(b"../../../../../../etc/own".to_vec()),
        Body::Link(b"nowhere".to_vec()),
        Body::Link(b".memdir".to_vec()),
        Body::File(b"mine".to_vec()),
        Body::Other,
    ] {
        let mut tree = tree(STORE);
        tree.put("/etc/own", Body::Folder);
        tree.put(OWN, body.clone());
        let mut session = session(tree.clone(), options("/code/shop", &[]));
        for _ in 0..2 {
            let recall = session.recall("harbour pipeline").unwrap();
            assert_eq!(paths(&recall), ["a.md"], "{body:?}");
            session.host.clock_ms += 60_000;
        }
        session.close().unwrap();
        assert_eq!(session.host.tree, tree, "{body:?}");
    }
}

#[test]
fn nothing_is_read_through_a_link_either() {
    let mut tree = tree(STORE);
    tree.file("/etc/own/uses.json", "of somebody else");
    tree.link(OWN, "/etc/own");
    let mut session = session(tree, options("/code/shop", &[]));
    let recall = session.recall("harbour pipeline").unwrap();
    assert_eq!(codes(&recall), [("", Code::UsesUnreadable)]);
    let own = session
        .host
        .reads
        .keys()
        .filter(|path| path.contains("uses.json"));
    assert_eq!(own.count(), 0);
}

#[test]
fn a_store_that_cannot_be_written_to_is_silent() {
    for closed in [STORE, OWN] {
        let mut tree = tree(STORE);
        if closed == OWN {
            tree.put(OWN, Body::Folder);
        }
        tree.node(closed).unwrap().mode(0o500);
        let mut session = session(tree.clone(), options("/code/shop", &[]));
        for _ in 0..4 {
            let recall = session.recall("harbour pipeline").unwrap();
            assert_eq!((paths(&recall), codes(&recall)), (vec!["a.md"], vec![]));
            session.host.clock_ms += 60_000;
        }
        // What failed once is not tried with every recall.
        let tries = session.host.trace.iter().filter(|traced| {
            matches!(traced.effect, Effect::MakeDir { .. } | Effect::Write { .. })
        });
        assert_eq!(tries.count(), 1, "{closed}");
        session.close().unwrap();
        assert_eq!((&session.host.events, &session.host.tree), (&vec![], &tree));
    }
}

#[test]
fn a_store_that_went_away_is_not_made_again() {
    let mut session = session(tree(STORE), options("/code/shop", &[]));
    session.recall("harbour pipeline").unwrap();
    session.host.tree.take(STORE);
    let before = session.host.tree.clone();
    session.close().unwrap();
    assert_eq!(session.host.tree, before);
}
