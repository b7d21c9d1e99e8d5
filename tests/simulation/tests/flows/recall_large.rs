//! Recall in stores that no model could be shown: everything is looked at, however old (facts 4.4
//! limits what a model sees, not what is found).
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

use memdir_core::flow::Effect;
use memdir_core::report::ReportCode as Code;
use memdir_simulation::{OLD_MS, Session, Tree, codes, memory, paths};

const MANY: i64 = 10_000;

/// One memory about harbours, older than all others, and so many others.
fn tree(others: i64) -> Tree {
    let mut tree = Tree::new();
    tree.file(
        "/mem/old/harbour.md",
        memory("the harbour pipeline", "It builds images."),
    )
    .at(OLD_MS - 1);
    for number in 0..others {
        let text = format!("note number{number}\n");
        tree.file(format!("/mem/{}/{number:05}.md", number % 7), text)
            .at(OLD_MS + number);
    }
    tree
}

/// The lines of the list that the model was shown, by path.
fn shown(session: &Session) -> Vec<String> {
    let asked = session.asked(|effect| matches!(effect, Effect::Model { .. }));
    let [Effect::Model { request, .. }] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    let request: memdir_core::model::ModelRequest = serde_json::from_str(request).unwrap();
    let text = request.messages.first().unwrap().content.clone();
    let lines = text.lines().filter_map(|line| line.strip_prefix("- "));
    lines
        .map(|line| line.strip_prefix("[project] ").unwrap_or(line))
        .filter_map(|line| line.split(' ').next().map(str::to_owned))
        .collect()
}

fn newest(count: i64) -> Vec<String> {
    let numbers = (0..count).map(|back| MANY - 1 - back);
    numbers
        .map(|number| format!("{}/{number:05}.md", number % 7))
        .collect()
}

#[test]
fn of_ten_thousand_the_best_and_the_newest_are_shown_to_the_model() {
    let mut session = Session::new(tree(MANY), "/mem");
    let recall = session.recall("harbour pipeline").unwrap();
    assert_eq!(paths(&recall), ["old/harbour.md"], "found without a model");
    assert_eq!(codes(&recall), [], "nothing is beyond a limit");

    let mut session = session.saying(r#"{"selected_memories": ["old/harbour.md"]}"#);
    let recall = session.recall("harbour pipeline").unwrap();
    assert_eq!(paths(&recall), ["old/harbour.md"]);
    assert_eq!(codes(&recall), []);
    // One is found by its words; the newest fill up to 200, in the order of time.
    let mut wanted = newest(199);
    wanted.push("old/harbour.md".to_owned());
    assert_eq!(shown(&session), wanted);

    // What is not in the list cannot be chosen, though it is in the store.
    let mut session = session.saying(r#"["1/00001.md", "old/harbour.md"]"#);
    let recall = session.recall("harbour pipeline").unwrap();
    assert_eq!(paths(&recall), ["old/harbour.md"]);
    assert_eq!(codes(&recall), [("", Code::ModelAnswerCut)]);

    // A warm recall reads the chosen memory and the counts, and nothing else.
    session.host.clock_ms += 10_000;
    let recall = session.recall("harbour pipeline").unwrap();
    assert_eq!(paths(&recall), ["old/harbour.md"]);
    assert_eq!(
        session.read(),
        ["/mem/.memdir/uses.json", "/mem/old/harbour.md"]
    );
}

#[test]
fn at_least_fifty_places_are_the_newest_ones() {
    let mut tree = tree(1_000);
    for number in 0..300 {
        tree.file(format!("/mem/lanterns/{number:03}.md"), "lantern oil\n")
            .at(OLD_MS - 1_000 + number);
    }
    let mut session = Session::new(tree, "/mem").saying("[]");
    session.recall("lantern oil").unwrap();
    let shown = shown(&session);
    let fits = shown
        .iter()
        .filter(|path| path.starts_with("lanterns/"))
        .count();
    // 150 of the 300 that fit equally well, by path; 50 of the newest.
    assert_eq!((shown.len(), fits), (200, 150));
    let newest: Vec<String> = (950..1_000)
        .rev()
        .map(|number| format!("{}/{number:05}.md", number % 7))
        .collect();
    assert_eq!(shown.get(..50).unwrap(), newest);
    assert!(
        shown.contains(&"lanterns/000.md".to_owned())
            && shown.contains(&"lanterns/149.md".to_owned())
    );
}

#[test]
fn up_to_two_hundred_are_all_shown() {
    for (others, lines) in [(10, 11), (199, 200), (200, 200)] {
        let mut session = Session::new(tree(others), "/mem").saying("[]");
        session.recall("harbour pipeline").unwrap();
        let shown = shown(&session);
        assert_eq!(shown.len(), lines);
        assert!(shown.contains(&"old/harbour.md".to_owned()));
    }
}
