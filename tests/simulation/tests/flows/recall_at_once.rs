//! Several recalls over one store at once, and one that is cancelled: what they share holds for
//! all of them.

use memdir_core::flow::Effect;
use memdir_core::store::{Recall, RecallOptions};
use memdir_simulation::{OLD_MS, Progress, Random, Running, SimHost, Tree, memory, paths};

use crate::common::{QUERY, recalled_tree, same_as_fresh, session_on};

#[test]
fn two_recalls_at_once_find_what_each_finds_alone() {
    let other = "teal colours";
    let alone = |query: &str| session_on(recalled_tree()).recall(query).unwrap();
    for seed in 0..40 {
        let mut host = SimHost::with_tree(seed, recalled_tree());
        let store = session_on(recalled_tree()).store;
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
    let mut tree = recalled_tree();
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
    let mut session = session_on(recalled_tree());
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
