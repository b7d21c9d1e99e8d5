//! The prompt over a simulated disk: the folder that it creates and the index that it loads.

use crate::common::store;
use memdir_core::flow::Effect;
use memdir_core::limits::FILE_MAX_BYTES;
use memdir_core::store::{Features, OpenOptions, PromptOptions, Store};
use memdir_simulation::{Body, Progress, Running, SimHost, Tree};

const INDEX: &str = "/home/ada/memory/MEMORY.md";

fn prompt(host: &mut SimHost) -> String {
    let flow = store("/home/ada/memory/").prompt(PromptOptions::default());
    host.run(flow).ok().flatten().unwrap_or_default()
}

fn host(index: &[u8]) -> SimHost {
    let mut tree = Tree::new();
    tree.file(INDEX, index);
    SimHost::with_tree(0, tree)
}

#[test]
fn a_missing_folder_is_created_for_its_owner_alone() {
    let mut host = SimHost::new(0);
    host.tree.put("/home/ada", Body::Folder);
    let text = prompt(&mut host);
    assert!(
        text.contains("/home/ada/memory/") && text.contains("currently empty"),
        "{text}"
    );
    let node = host.tree.nodes().get(&b"/home/ada/memory"[..]).unwrap();
    assert_eq!((&node.body, node.mode), (&Body::Folder, 0o700));
    assert_eq!(host.events, []);
    assert_eq!(host.tree.nodes().len(), 4, "nothing else was made");
}

#[test]
fn an_existing_folder_keeps_its_mode() {
    let mut host = host(b"- [a](a.md) x\n");
    prompt(&mut host);
    assert_eq!(
        host.tree
            .nodes()
            .get(&b"/home/ada/memory"[..])
            .unwrap()
            .mode,
        0o755
    );
}

#[test]
fn a_folder_that_cannot_be_created_is_an_event_and_still_a_prompt() {
    let mut read_only = SimHost::new(0);
    read_only.tree.put("/home/ada", Body::Folder).mode(0o500);
    let mut in_the_way = SimHost::new(0);
    in_the_way.tree.file("/home/ada/memory", "a file");
    for host in [&mut read_only, &mut in_the_way] {
        let before = host.tree.clone();
        let text = prompt(host);
        assert!(text.contains("/home/ada/memory/"), "{text}");
        assert!(
            host.events
                .iter()
                .any(|event| event.kind == "warning" && event.path.is_none()),
            "{:?}",
            host.events
        );
        assert_eq!(host.tree, before);
    }
}

#[test]
fn a_missing_or_empty_index_is_said_to_be_empty_without_a_warning() {
    let mut missing = host(b"");
    missing.tree.take(INDEX);
    for mut host in [
        missing,
        host(b""),
        host(b" \r\n\n"),
        host("\u{FEFF}".as_bytes()),
    ] {
        let text = prompt(&mut host);
        assert!(text.contains("MEMORY.md is currently empty"), "{text}");
        assert_eq!(host.events, []);
    }
}

#[test]
fn an_index_of_201_lines_is_cut_and_says_so() {
    let index: String = (1..=201)
        .map(|number| format!("- [m{number}](m{number}.md) x\n"))
        .collect();
    let text = prompt(&mut host(index.as_bytes()));
    assert!(
        text.contains("(m200.md)") && !text.contains("(m201.md)"),
        "{text}"
    );
    assert!(
        text.contains("WARNING") && text.contains("201 lines"),
        "{text}"
    );
}

#[test]
fn without_the_index_nothing_is_read() {
    let mut host = host(b"- [a](a.md) x\n");
    let text = host
        .run(store("/home/ada/memory").prompt(PromptOptions {
            index: false,
            ..PromptOptions::default()
        }))
        .unwrap()
        .unwrap();
    assert!(!text.contains("(a.md)"));
    assert!(host.trace.iter().all(|traced| match &traced.effect {
        Effect::HostInfo | Effect::MakeDir { .. } => true,
        Effect::RealPath { path } => path.contains("settings"),
        _ => false,
    }));
}

#[test]
fn an_index_that_cannot_be_used_is_left_out_with_a_warning() {
    let mut outside = host(b"");
    outside.tree.file("/etc/secret.md", "secret");
    outside.tree.link(INDEX, "/etc/secret.md");
    let mut closed = host(b"");
    closed
        .tree
        .put(INDEX, Body::File(b"secret".to_vec()))
        .mode(0);
    let mut fifo = host(b"");
    fifo.tree.put(INDEX, Body::Other);
    let mut folder = host(b"");
    folder.tree.put(INDEX, Body::Folder);
    let mut circle = host(b"");
    circle.tree.link(INDEX, "MEMORY.md");
    let latin = host(b"- Caf\xE9 secret\n");
    for mut host in [outside, closed, fifo, folder, circle, latin] {
        let text = prompt(&mut host);
        assert!(
            text.contains("/home/ada/memory/") && !text.contains("secret"),
            "{text}"
        );
        let [event] = host.events.as_slice() else {
            panic!("one warning, not {:?}", host.events)
        };
        assert_eq!(
            (event.kind.as_str(), event.path.as_deref()),
            ("warning", Some("MEMORY.md"))
        );
        assert!(!host.reads.contains_key("/etc/secret.md"));
        assert!(
            host.reads.values().all(|read| *read < 100),
            "{:?}",
            host.reads
        );
    }
}

#[test]
fn an_index_of_one_gigabyte_is_read_only_so_far_and_says_so() {
    let mut host = host(b"");
    host.tree.put(
        INDEX,
        Body::Sparse(b"- [a](a.md) first\n".to_vec(), 1 << 30),
    );
    let text = prompt(&mut host);
    assert!(
        text.contains("(a.md)") && text.contains("WARNING") && text.len() < 50_000,
        "{}",
        text.len()
    );
    let [event] = host.events.as_slice() else {
        panic!("one warning, not {:?}", host.events)
    };
    assert_eq!(
        (event.kind.as_str(), event.path.as_deref()),
        ("warning", Some("MEMORY.md"))
    );
    assert!(
        host.reads.values().all(|read| *read <= FILE_MAX_BYTES),
        "{:?}",
        host.reads
    );
}

#[test]
fn an_index_that_is_a_link_inside_the_store_is_read() {
    let mut host = host(b"");
    host.tree
        .file("/home/ada/memory/team/INDEX", "- [a](a.md) x\n");
    host.tree.link(INDEX, "team/INDEX");
    assert!(prompt(&mut host).contains("- [a](a.md) x"));
    assert_eq!(host.events, []);
}

/// A project whose default store has an index of one line.
fn project(features: Features) -> (SimHost, Store) {
    let mut tree = Tree::new();
    tree.put("/code/shop/.git", Body::Folder);
    tree.file(SHOP_INDEX, "- [a](a.md) first\n");
    let store = Store::new(OpenOptions {
        cwd: Some("/code/shop/src".to_owned()),
        home: Some("/home/ada".to_owned()),
        features,
        ..OpenOptions::default()
    });
    (SimHost::with_tree(0, tree), store)
}

const SHOP_INDEX: &str = "/home/ada/.claude/projects/-code-shop/memory/MEMORY.md";

fn ask(host: &mut SimHost, store: &Store, options: &PromptOptions) -> String {
    let prompt = host.run(store.prompt(options.clone()));
    prompt.ok().flatten().unwrap_or_default()
}

#[test]
fn one_step_saving_has_no_index_and_reads_none() {
    let (mut host, store) = project(Features {
        one_step: true,
        ..Features::default()
    });
    let text = ask(&mut host, &store, &PromptOptions::default());
    assert!(text.contains("feedback_testing.md"), "{text}");
    assert!(
        !text.contains("Step 2") && !text.contains("(a.md)") && !text.contains("## MEMORY.md"),
        "{text}"
    );
    assert!(!host.reads.contains_key(SHOP_INDEX));

    let (mut host, store) = project(Features::default());
    let text = ask(&mut host, &store, &PromptOptions::default());
    assert!(
        text.contains("Step 2") && text.contains("- [a](a.md) first"),
        "{text}"
    );
}

#[test]
fn guidelines_and_the_past_are_there_when_asked_for() {
    let (mut host, store) = project(Features::default());
    let options = PromptOptions {
        past_context: true,
        guidelines: vec!["Never save names.".to_owned(), " ".to_owned()],
        ..PromptOptions::default()
    };
    let text = ask(&mut host, &store, &options);
    let place = |what: &str| text.find(what).unwrap_or(usize::MAX);
    // The store of the project for memories; transcripts are kept per working directory.
    let wanted = [
        place("Never save names."),
        place("/home/ada/.claude/projects/-code-shop/memory/' --include"),
        place("/home/ada/.claude/projects/-code-shop-src' --include"),
        place("- [a](a.md) first"),
    ];
    assert!(
        wanted.is_sorted() && !wanted.contains(&usize::MAX),
        "{text}"
    );
    let plain = ask(&mut host, &store, &PromptOptions::default());
    assert!(!plain.contains("Never save names.") && !plain.contains("--include"));

    let (mut host, _) = project(Features::default());
    let store = Store::new(OpenOptions {
        directory: Some("/home/ada/notes".to_owned()),
        env: [(
            "CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES".to_owned(),
            "From outside.".to_owned(),
        )]
        .into(),
        ..OpenOptions::default()
    });
    let text = ask(&mut host, &store, &options);
    let place = |what: &str| text.find(what).unwrap_or(usize::MAX);
    assert!(
        place("From outside.") < place("Never save names."),
        "{text}"
    );
    assert!(
        !text.contains("jsonl"),
        "no project, no transcripts: {text}"
    );
}

#[test]
fn a_prompt_is_computed_once_and_stays_the_same_to_the_byte() {
    let (mut host, store) = project(Features::default());
    let whole = PromptOptions::default();
    let short = PromptOptions {
        index: false,
        ..PromptOptions::default()
    };
    let first = ask(&mut host, &store, &whole);
    let other = ask(&mut host, &store, &short);
    assert_ne!(first, other);
    let performed = host.trace.len();

    host.tree.file(SHOP_INDEX, "- [b](b.md) second\n");
    assert_eq!(ask(&mut host, &store, &whole), first);
    host.tree.take("/home/ada/.claude");
    host.tree.file(
        "/home/ada/.claude/settings.json",
        "{\"autoMemoryEnabled\": false}",
    );
    assert_eq!(ask(&mut host, &store.clone(), &whole), first);
    assert_eq!(ask(&mut host, &store, &short), other);
    assert_eq!(host.trace.len(), performed, "nothing is asked again");

    store.compacted();
    assert_eq!(
        host.run(store.prompt(whole.clone())),
        Ok(None),
        "off by now"
    );
    host.tree.take("/home/ada/.claude/settings.json");
    store.compacted();
    let text = ask(&mut host, &store, &whole);
    assert!(text.contains("currently empty"), "{text}");
    let folder = SHOP_INDEX.trim_end_matches("/MEMORY.md");
    assert!(host.tree.node(folder).is_some(), "created anew");
}

#[test]
fn after_a_compaction_the_index_is_read_again() {
    let (mut host, store) = project(Features::default());
    let options = PromptOptions::default();
    let first = ask(&mut host, &store, &options);
    host.tree.file(SHOP_INDEX, "- [b](b.md) second\n");
    store.compacted();
    let second = ask(&mut host, &store, &options);
    assert!(first.contains("(a.md)") && !first.contains("(b.md)"));
    assert!(second.contains("(b.md)") && !second.contains("(a.md)"));
}

/// Drives a prompt until it has read the index.
fn until_read(host: &mut SimHost, store: &Store) -> Running<Option<String>> {
    let mut running = host.start(store.prompt(PromptOptions::default()));
    while !host.reads.contains_key(SHOP_INDEX) {
        assert!(matches!(host.step(&mut running), Progress::Working));
    }
    running
}

fn finish(host: &mut SimHost, mut running: Running<Option<String>>) -> String {
    loop {
        match host.step(&mut running) {
            Progress::Working => {}
            Progress::Ended(result) => return result.ok().flatten().unwrap_or_default(),
            Progress::Crashed => return String::new(),
        }
    }
}

#[test]
fn a_prompt_that_began_before_a_compaction_is_not_kept() {
    let (mut host, store) = project(Features::default());
    let running = until_read(&mut host, &store);
    host.tree.file(SHOP_INDEX, "- [b](b.md) second\n");
    store.compacted();
    assert!(finish(&mut host, running).contains("(a.md)"));
    assert!(ask(&mut host, &store, &PromptOptions::default()).contains("(b.md)"));
}

#[test]
fn two_prompts_at_once_are_the_same() {
    let (mut host, store) = project(Features::default());
    let slow = until_read(&mut host, &store);
    host.tree.file(SHOP_INDEX, "- [b](b.md) second\n");
    let fast = ask(&mut host, &store, &PromptOptions::default());
    assert!(fast.contains("(b.md)"));
    assert_eq!(finish(&mut host, slow), fast, "the first to be done stays");
}

#[test]
fn a_compaction_while_the_store_is_being_found_is_not_lost() {
    const SETTINGS: &str = "/home/ada/.claude/settings.json";
    let (mut host, store) = project(Features::default());
    host.tree.file(SETTINGS, "{}");
    let mut running = host.start(store.prompt(PromptOptions::default()));
    while !host.reads.contains_key(SETTINGS) {
        assert!(matches!(host.step(&mut running), Progress::Working));
    }
    host.tree
        .file(SETTINGS, "{\"autoMemoryDirectory\": \"/srv/b\"}");
    store.compacted();
    assert!(finish(&mut host, running).contains("-code-shop/memory/"));
    let next = ask(&mut host, &store, &PromptOptions::default());
    assert!(next.contains("`/srv/b/`"), "{next}");
}
