//! Several recalls over one store at once, and one that is cancelled: what they share holds for
//! all of them.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use memdir_core::flow::Effect;
use memdir_core::store::{Features, OpenOptions, Recall, RecallOptions};
use memdir_simulation::{OLD_MS, Progress, Random, Running, Session, SimHost, Tree, memory, paths};

const QUERY: &str = "harbour pipeline";

/// Two memories that the query finds, and a few that it does not.
fn tree() -> Tree {
    let mut tree = Tree::new();
    for (name, description, body) in [
        (
            "best.md",
            "the harbour pipeline",
            "The harbour pipeline builds images.",
        ),
        (
            "good.md",
            "deployment",
            "It goes through the harbour pipeline.",
        ),
        ("one.md", "numbering of invoices", "They begin at 1000."),
        ("sub/two.md", "colours", "Teal and sand."),
        ("team/three.md", "reviewers", "Grace, then Edsger."),
        ("four.md", "products", "An inverted list finds them."),
    ] {
        tree.file(format!("/mem/{name}"), memory(description, body))
            .at(OLD_MS);
    }
    tree
}

/// Without use counts, so that a store that knows nothing gives the same to the last digit.
fn session_on(tree: Tree) -> Session {
    let options = OpenOptions {
        directory: Some("/mem".to_owned()),
        features: Features {
            count_uses: false,
            ..Features::default()
        },
        ..OpenOptions::default()
    };
    Session::with(SimHost::with_tree(5, tree), options)
}

/// What is found is what a store finds that knows nothing.
fn same_as_fresh(session: &mut Session, query: &str) -> Recall {
    let recall = session.recall(query).unwrap();
    assert_eq!(recall, session.fresh().recall(query).unwrap());
    recall
}

#[test]
fn two_recalls_at_once_find_what_each_finds_alone() {
    let other = "teal colours";
    let alone = |query: &str| session_on(tree()).recall(query).unwrap();
    for seed in 0..40 {
        let mut host = SimHost::with_tree(seed, tree());
        let store = session_on(tree()).store;
        let mut random = Random::new(seed);
        let start = |host: &SimHost, query: &str| {
            host.start(store.recall(query.to_owned(), RecallOptions::default()))
        };
        let mut first = start(&host, QUERY);
        let mut second = start(&host, other);
        let (mut one, mut two) = (None, None);
        while one.is_none() || two.is_none() {
            let (running, result) = if random.percent(50) {
                (&mut first, &mut one)
            } else {
                (&mut second, &mut two)
            };
            if result.is_none()
                && let Progress::Ended(ended) = host.step(running)
            {
                *result = Some(ended);
            }
        }
        assert_eq!(one, Some(Ok(alone(QUERY))), "{seed}");
        assert_eq!(two, Some(Ok(alone(other))), "{seed}");
    }
}

/// A hundred memories, so that they are read in two steps.
fn hundred() -> Tree {
    let mut tree = tree();
    for number in 0..100 {
        tree.file(
            format!("/mem/z{number:02}.md"),
            memory("filler", "Nothing."),
        )
        .at(OLD_MS - 1);
    }
    tree
}

/// Goes on until this many bulk reads are performed and the flow has taken their answers in.
fn read_chunks(host: &mut SimHost, running: &mut Running<Recall>, chunks: usize) {
    let reads = |host: &SimHost| {
        let read = |effect: &Effect| matches!(effect, Effect::ReadMany { .. });
        host.trace
            .iter()
            .filter(|traced| read(&traced.effect))
            .count()
    };
    let wanted = reads(host) + chunks;
    while reads(host) < wanted {
        assert!(matches!(host.step(running), Progress::Working));
    }
}

#[test]
fn the_slower_of_two_recalls_does_not_bring_back_what_was_there_before() {
    let mut session = session_on(hundred());
    session.host.run(session.store.open()).unwrap();
    let flow = || {
        session
            .store
            .recall(QUERY.to_owned(), RecallOptions::default())
    };
    let (mut slow, mut fast) = (session.host.start(flow()), session.host.start(flow()));
    // The slow one has read the first part, with the old text, when the file changes.
    read_chunks(&mut session.host, &mut slow, 1);
    session
        .host
        .tree
        .file("/mem/one.md", memory("lanterns", "Of oil."))
        .at(OLD_MS);
    read_chunks(&mut session.host, &mut fast, 1);
    // The fast one takes its first part in before, and ends after the slow one.
    assert!(matches!(session.host.step(&mut fast), Progress::Working));
    while !matches!(session.host.step(&mut slow), Progress::Ended(_)) {}
    while !matches!(session.host.step(&mut fast), Progress::Ended(_)) {}
    session.host.clock_ms += 60_000;
    let recall = same_as_fresh(&mut session, "lanterns");
    assert_eq!(paths(&recall), ["one.md"]);
}

#[test]
fn a_cancelled_recall_leaves_nothing_of_a_file_that_is_gone() {
    let mut session = session_on(tree());
    session.recall(QUERY).unwrap();
    session.host.clock_ms += 60_000;
    for number in 0..100 {
        let text = memory("harbour", "Pipeline.");
        session
            .host
            .tree
            .file(format!("/mem/z{number:02}.md"), text)
            .at(OLD_MS);
    }
    let flow = session
        .store
        .recall(QUERY.to_owned(), RecallOptions::default());
    let mut running = session.host.start(flow);
    read_chunks(&mut session.host, &mut running, 1);
    assert!(matches!(session.host.step(&mut running), Progress::Working));
    running.cancel();
    while !matches!(session.host.step(&mut running), Progress::Ended(_)) {}
    for number in 0..100 {
        session.host.tree.take(format!("/mem/z{number:02}.md"));
    }
    same_as_fresh(&mut session, QUERY);
}
