//! The prompt over a simulated disk: the folder that it creates and the index that it loads.

mod common;

use common::store;
use memdir_core::flow::Effect;
use memdir_core::limits::FILE_MAX_BYTES;
use memdir_core::store::PromptOptions;
use memdir_simulation::{Body, SimHost, Tree};

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
        .run(store("/home/ada/memory").prompt(PromptOptions { index: false }))
        .unwrap()
        .unwrap();
    assert!(!text.contains("(a.md)"));
    assert!(
        host.trace
            .iter()
            .all(|traced| matches!(traced.effect, Effect::HostInfo | Effect::MakeDir { .. }))
    );
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
