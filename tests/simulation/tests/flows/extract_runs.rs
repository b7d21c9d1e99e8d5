//! When extractions run, and what becomes of them: one at a time for each conversation, each message once, nothing
//! lost when a run fails, is cancelled, or the store is closed (facts 6.1, 6.5).
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

use crate::common::turns;
use memdir_core::ErrorCode;
use memdir_core::conversation::Message;
use memdir_core::extract::{
    AgentRole, ExtractOptions, Extraction, ExtractionOutcome, ExtractionState, RunEnd, RunReport,
    Skip,
};
use memdir_core::flow::{Effect, FailureCode};
use memdir_core::model::Key;
use memdir_core::model::ModelOptions;
use memdir_core::store::{Features, OpenOptions, Store};
use memdir_simulation::{
    Attempt, Folder, Network, Progress, Running, STORE, SimHost, answering, call, extract_options,
    extract_tree, said, turn,
};
use serde_json::{Value, json};

const MEMORY: &str = "---\nname: Small commits\ndescription: commits are small\ntype: feedback\n---\nKeep commits small.\n";
/// How long extractions rest when a provider has no more to give, milliseconds: 15 minutes.
const PAUSE_MS: i64 = 900_000;

fn store(features: Features) -> Store {
    Store::new(extract_options(features))
}

fn extract(host: &mut SimHost, store: &Store, messages: &Vec<Message>) -> Extraction {
    host.run(store.extract(messages, ExtractOptions::default()))
        .unwrap()
}

fn skipped(result: &Extraction) -> Option<Skip> {
    let is_skipped = result.outcome == ExtractionOutcome::Skipped;
    assert_eq!(is_skipped, result.reason.is_some(), "{result:?}");
    result.reason
}

fn write(path: &str) -> Value {
    turn(&[call(
        "Write",
        &json!({"file_path": path, "content": MEMORY}),
    )])
}

/// Which questions a model was shown in a request that begins a run.
fn shown(request: &Value) -> Vec<usize> {
    let text = request["messages"][0].to_string();
    (1..100)
        .filter(|number| text.contains(&format!("question number {number} of mine")))
        .collect()
}

/// Goes on until a flow has just done an effect that fits.
fn until<T: Send + 'static>(
    host: &mut SimHost,
    running: &mut Running<T>,
    fits: impl Fn(&Effect) -> bool,
) {
    loop {
        let before = host.trace.len();
        assert!(matches!(host.step(running), Progress::Working), "it ended");
        if host
            .trace
            .get(before)
            .is_some_and(|traced| fits(&traced.effect))
        {
            return;
        }
    }
}

fn is_model(effect: &Effect) -> bool {
    matches!(effect, Effect::Model { .. })
}

fn end<T: Send + 'static>(host: &mut SimHost, running: &mut Running<T>) -> T {
    loop {
        match host.step(running) {
            Progress::Working => {}
            Progress::Ended(result) => return result.unwrap(),
            Progress::Crashed => panic!("it crashed"),
        }
    }
}

#[test]
fn a_model_that_has_nothing_to_say_has_looked_all_the_same() {
    for nothing in [
        json!(""),
        json!({"content": []}),
        json!("\n"),
        json!({"content": [{"type": "text", "text": ""}]}),
    ] {
        let (mut host, _) = answering(extract_tree(), vec![nothing.clone()]);
        let before = Folder::new(&host.tree, STORE).files();
        let result = extract(&mut host, &store(Features::default()), &turns(1));
        assert_eq!(result.outcome, ExtractionOutcome::Done, "{nothing}");
        assert_eq!((result.turns, result.ended), (1, Some(RunEnd::Answered)));
        assert_eq!(result.state.cursor.as_deref(), Some("a1"));
        assert_eq!(result.notice, None);
        assert_eq!(Folder::new(&host.tree, STORE).files(), before);
    }
}

#[test]
fn where_it_must_not_run_nothing_happens() {
    let options = |agent, interactive, remote| ExtractOptions {
        agent,
        interactive,
        remote,
        ..ExtractOptions::default()
    };
    let main = AgentRole::Main;
    for (why, options) in [
        (Skip::SubAgent, options(AgentRole::Sub, true, false)),
        (Skip::NotInteractive, options(main, false, false)),
        (Skip::Remote, options(main, true, true)),
    ] {
        let (mut host, asked) = answering(extract_tree(), Vec::new());
        let result = host
            .run(store(Features::default()).extract(&turns(1), options))
            .unwrap();
        assert_eq!(skipped(&result), Some(why));
        assert_eq!(asked.all(), [Value::Null; 0]);
    }
    // The environment says so.
    for (name, why) in [
        ("CLAUDE_CODE_REMOTE", Skip::Remote),
        ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", Skip::Disabled),
    ] {
        let (mut host, asked) = answering(extract_tree(), Vec::new());
        let mut options = extract_options(Features::default());
        options.env.insert(name.to_owned(), "1".to_owned());
        // Without one a remote session has no memory at all.
        let folder = "CLAUDE_CODE_REMOTE_MEMORY_DIR".to_owned();
        options.env.insert(folder, "/remote".to_owned());
        let result = extract(&mut host, &Store::new(options), &turns(1));
        assert_eq!(skipped(&result), Some(why));
        assert_eq!(asked.all(), [Value::Null; 0]);
    }
    // Off means off: nothing is even looked at.
    let (mut host, _) = answering(extract_tree(), Vec::new());
    let store = Store::new(OpenOptions {
        features: Features::default(),
        ..extract_options(Features::default())
    });
    let result = extract(&mut host, &store, &turns(1));
    assert_eq!(skipped(&result), Some(Skip::Off));
    assert_eq!(host.trace, []);
}

#[test]
fn nobody_at_the_other_end_but_asked_for() {
    let (mut host, _) = answering(extract_tree(), Vec::new());
    let store = store(Features {
        extract_non_interactive: true,
        ..Features::default()
    });
    let options = ExtractOptions {
        interactive: false,
        ..ExtractOptions::default()
    };
    let result = host.run(store.extract(&turns(1), options)).unwrap();
    assert_eq!(result.outcome, ExtractionOutcome::Done);
}

#[test]
fn every_third_turn() {
    let (mut host, asked) = answering(extract_tree(), Vec::new());
    let store = store(Features {
        extract_every: 3,
        ..Features::default()
    });
    let mut seen = Vec::new();
    for count in 1..=7 {
        let result = extract(&mut host, &store, &turns(count));
        seen.push(skipped(&result));
    }
    let (wait, run) = (Some(Skip::Throttled), None);
    assert_eq!(seen, [wait, wait, run, wait, wait, run, wait]);
    let shown: Vec<Vec<usize>> = asked.all().iter().map(shown).collect();
    assert_eq!(shown, [vec![1, 2, 3], vec![4, 5, 6]]);
}

#[test]
fn what_comes_meanwhile_is_looked_at_behind_it() {
    let (mut host, asked) = answering(
        extract_tree(),
        vec![
            write("/mem/one.md"),
            json!("Done."),
            write("/mem/two.md"),
            json!("Done."),
        ],
    );
    let store = store(Features {
        extract_every: 2,
        ..Features::default()
    });
    assert_eq!(
        skipped(&extract(&mut host, &store, &turns(1))),
        Some(Skip::Throttled)
    );
    let mut first = host.start(store.extract(&turns(2), ExtractOptions::default()));
    until(&mut host, &mut first, is_model);
    // The newest is kept, and is not counted.
    for count in [3, 4] {
        let queued = extract(&mut host, &store, &turns(count));
        assert_eq!(
            (queued.outcome, queued.reason),
            (ExtractionOutcome::Queued, None)
        );
        assert_eq!(queued.state, ExtractionState::default());
    }
    let result = end(&mut host, &mut first);
    assert_eq!(result.outcome, ExtractionOutcome::Done);
    assert_eq!(result.paths, ["one.md", "two.md"]);
    assert_eq!(
        result.notice.as_deref(),
        Some("Memory updated in one.md, two.md")
    );
    assert_eq!(result.turns, 4);
    assert_eq!(
        result.state,
        ExtractionState {
            cursor: Some("a4".to_owned()),
            turns: 0
        }
    );
    let begun: Vec<Vec<usize>> = asked.all().iter().map(shown).collect();
    assert_eq!(begun, [vec![1, 2], vec![1, 2], vec![3, 4], vec![3, 4]]);
    assert_eq!(
        skipped(&extract(&mut host, &store, &turns(4))),
        Some(Skip::NothingNew)
    );
}

#[test]
fn what_comes_meanwhile_and_says_too_little_is_no_run() {
    let (mut host, asked) = answering(extract_tree(), vec![write("/mem/one.md")]);
    let store = store(Features::default());
    let mut first = host.start(store.extract(&turns(1), ExtractOptions::default()));
    until(&mut host, &mut first, is_model);
    let mut more = turns(1);
    more.extend(said(&[("u2", "user", "ok"), ("a2", "", "Good.")]));
    extract(&mut host, &store, &more);
    let result = end(&mut host, &mut first);
    assert_eq!(
        (result.outcome, result.reason),
        (ExtractionOutcome::Done, None)
    );
    assert_eq!(result.paths, ["one.md"]);
    assert_eq!(result.state.cursor.as_deref(), Some("a1"));
    assert_eq!(asked.all().len(), 2);
    // It counts with the next ones.
    more.extend(turns(3).split_off(4));
    extract(&mut host, &store, &more);
    assert!(asked.all()[2]["messages"][0].to_string().contains("Good."));
}

/// Another call of the same conversation does not take away what the first one will tell.
#[test]
fn a_call_between_two_runs_takes_nothing_away() {
    for agent in [AgentRole::Sub, AgentRole::Main] {
        let (mut host, asked) = answering(
            extract_tree(),
            vec![write("/mem/one.md"), json!("Done."), write("/mem/two.md")],
        );
        let store = store(Features::default());
        let mut first = host.start(store.extract(&turns(1), ExtractOptions::default()));
        until(&mut host, &mut first, is_model);
        extract(&mut host, &store, &turns(2));
        while asked.all().len() < 3 {
            until(&mut host, &mut first, is_model);
        }
        let options = ExtractOptions {
            agent,
            ..ExtractOptions::default()
        };
        let mut unfinished = turns(2);
        unfinished.extend(said(&[("u3", "user", "and then there was more")]));
        let other = host.run(store.extract(&unfinished, options)).unwrap();
        let why = match agent {
            AgentRole::Sub => Skip::SubAgent,
            AgentRole::Main => Skip::NotFinal,
        };
        assert_eq!(skipped(&other), Some(why), "{other:?}");
        assert!(other.paths.is_empty());
        let result = end(&mut host, &mut first);
        assert_eq!(result.paths, ["one.md", "two.md"]);
    }
}

/// A call that comes when the first run is over and the one behind it has not begun is not a third one.
#[test]
fn no_run_comes_between_a_run_and_the_one_behind_it() {
    let count = |at: Option<usize>| {
        let (mut host, asked) = answering(extract_tree(), Vec::new());
        let store = store(Features::default());
        let mut first = host.start(store.extract(&turns(1), ExtractOptions::default()));
        until(&mut host, &mut first, is_model);
        extract(&mut host, &store, &turns(2));
        let mut steps = 0;
        let mut third = None;
        let result = loop {
            if Some(steps) == at {
                third = Some(host.start(store.extract(&turns(3), ExtractOptions::default())));
            }
            if let Some(running) = &mut third
                && let Progress::Ended(result) = host.step(running)
            {
                let outcome = result.unwrap().outcome;
                assert!(
                    matches!(outcome, ExtractionOutcome::Queued | ExtractionOutcome::Done),
                    "{at:?}: {outcome:?}"
                );
                third = None;
            }
            match host.step(&mut first) {
                Progress::Working => steps += 1,
                Progress::Ended(result) => break result.unwrap(),
                Progress::Crashed => panic!("it crashed"),
            }
        };
        if let Some(mut running) = third {
            end(&mut host, &mut running);
        }
        if at.is_some() {
            extract(&mut host, &store, &turns(3));
        }
        assert_eq!(result.outcome, ExtractionOutcome::Done, "{at:?}");
        let mut all: Vec<usize> = asked.all().iter().flat_map(shown).collect();
        all.sort_unstable();
        let wanted: &[usize] = if at.is_some() { &[1, 2, 3] } else { &[1, 2] };
        assert_eq!(all, wanted, "{at:?}");
        steps
    };
    let steps = count(None);
    for at in 0..=steps {
        count(Some(at));
    }
}

#[test]
fn what_a_cancelled_run_leaves_is_not_told_later() {
    // Cancelled in the second run, that of what came meanwhile.
    let (mut host, asked) = answering(extract_tree(), vec![write("/mem/one.md"), json!("Done.")]);
    let store = store(Features::default());
    let mut first = host.start(store.extract(&turns(1), ExtractOptions::default()));
    until(&mut host, &mut first, is_model);
    extract(&mut host, &store, &turns(2));
    while asked.all().len() < 3 {
        until(&mut host, &mut first, is_model);
    }
    first.cancel();
    let error = loop {
        match host.step(&mut first) {
            Progress::Working => {}
            Progress::Ended(result) => break result.unwrap_err(),
            Progress::Crashed => panic!("it crashed"),
        }
    };
    assert_eq!(error.code, ErrorCode::Aborted);
    let result = extract(&mut host, &store, &turns(3));
    assert_eq!(
        (result.outcome, result.paths.len()),
        (ExtractionOutcome::Done, 0),
        "{result:?}"
    );
    let last = asked.all().len() - 1;
    assert_eq!(
        shown(&asked.all()[last]),
        [2, 3],
        "the first run had succeeded"
    );
}

#[test]
fn what_waits_behind_a_run_that_dies_is_not_shown_twice() {
    for is_cancelled in [true, false] {
        let (mut host, asked) = answering(extract_tree(), Vec::new());
        let store = store(Features::default());
        let mut first = host.start(store.extract(&turns(1), ExtractOptions::default()));
        until(&mut host, &mut first, is_model);
        extract(&mut host, &store, &turns(2));
        if is_cancelled {
            first.cancel();
            while matches!(host.step(&mut first), Progress::Working) {}
        }
        drop(first);
        let result = extract(&mut host, &store, &turns(3));
        assert_eq!(result.outcome, ExtractionOutcome::Done);
        assert_eq!(result.state.cursor.as_deref(), Some("a3"));
        let begun: Vec<Vec<usize>> = asked.all().iter().map(shown).collect();
        assert_eq!(begun, [vec![1], vec![1, 2, 3]], "{is_cancelled}");
    }
}

#[test]
fn a_run_that_fails_is_done_again_with_what_came_since() {
    let (mut host, asked) = answering(extract_tree(), Vec::new());
    let mut answer = host.model.take().unwrap();
    let mut count = 0;
    host.model = Some(Box::new(move |request| {
        count += 1;
        let answer = answer(request);
        if count == 1 { Attempt::hang() } else { answer }
    }));
    let store = store(Features::default());
    let result = extract(&mut host, &store, &turns(1));
    assert_eq!(
        (result.outcome, result.code),
        (ExtractionOutcome::Failed, Some(ErrorCode::Timeout))
    );
    assert_eq!(result.state.cursor, None);
    assert_eq!(host.events.last().unwrap().kind, "warning");
    let result = extract(&mut host, &store, &turns(2));
    assert_eq!(result.outcome, ExtractionOutcome::Done);
    assert_eq!(shown(&asked.all()[1]), [1, 2]);
}

#[test]
fn a_provider_that_has_no_more_to_give_is_left_alone() {
    for (status, code) in [(429, ErrorCode::ModelBusy), (401, ErrorCode::ModelAuth)] {
        let mut host = SimHost::with_tree(3, extract_tree());
        let key = format!("sk-ant-api03-{}", "q7".repeat(20));
        let echoed = key.clone();
        host.network = Some(Network::serving(move |_| {
            let body = json!({"error": {"message": format!("no more for {echoed}")}});
            Attempt::http(status, &[], &body.to_string())
        }));
        let store = Store::new(OpenOptions {
            model: Some(ModelOptions {
                name: "anthropic/claude-x".to_owned(),
                api_key: Some(Key(key.clone())),
                base_url: None,
            }),
            ..extract_options(Features::default())
        });
        let result = extract(&mut host, &store, &turns(1));
        assert_eq!(
            (result.outcome, result.code),
            (ExtractionOutcome::Failed, Some(code))
        );
        let told = format!("{result:?} {:?}", host.events);
        assert!(!told.contains(&key), "{told}");
        let answer = json!({"content": [{"type": "text", "text": "Nothing."}]}).to_string();
        host.network = Some(Network::serving(move |_| Attempt::http(200, &[], &answer)));
        let asked = |host: &SimHost| {
            let asked = host.trace.iter();
            asked
                .filter(|traced| matches!(traced.effect, Effect::Http { .. }))
                .count()
        };
        let before = asked(&host);
        let failed_at = host.clock_ms;
        assert_eq!(
            skipped(&extract(&mut host, &store, &turns(2))),
            Some(Skip::Paused)
        );
        host.clock_ms = failed_at + PAUSE_MS - 1;
        assert_eq!(
            skipped(&extract(&mut host, &store, &turns(2))),
            Some(Skip::Paused)
        );
        // Not even turns are counted.
        assert_eq!(asked(&host), before);
        host.clock_ms = failed_at + PAUSE_MS;
        let result = extract(&mut host, &store, &turns(2));
        assert_eq!(
            (result.outcome, result.code),
            (ExtractionOutcome::Done, None)
        );
        assert_eq!(result.state.cursor.as_deref(), Some("a2"));
    }
}

#[test]
fn a_clock_that_is_set_back_does_not_pause_for_ever() {
    let mut host = SimHost::with_tree(3, extract_tree());
    host.network = Some(Network::serving(move |_| Attempt::http(401, &[], "")));
    let store = Store::new(OpenOptions {
        model: Some(ModelOptions {
            name: "anthropic/claude-x".to_owned(),
            api_key: Some(Key("k".repeat(20))),
            base_url: None,
        }),
        ..extract_options(Features::default())
    });
    extract(&mut host, &store, &turns(1));
    host.clock_ms -= 1_000_000_000;
    assert_eq!(skipped(&extract(&mut host, &store, &turns(1))), None);
}

#[test]
fn draining_waits_and_then_stops() {
    let (mut host, asked) = answering(
        extract_tree(),
        vec![write("/mem/one.md"), write("/mem/two.md")],
    );
    let store = store(Features::default());
    // Nothing is under way.
    assert_eq!(host.run(store.drain(None)), Ok(true));
    let mut first = host.start(store.extract(&turns(1), ExtractOptions::default()));
    until(&mut host, &mut first, is_model);
    let before = host.clock_ms;
    assert_eq!(host.run(store.drain(Some(1_000))), Ok(false));
    assert_eq!(host.clock_ms - before, 1_000);
    let result = end(&mut host, &mut first);
    assert_eq!(
        (result.outcome, result.ended),
        (ExtractionOutcome::Failed, Some(RunEnd::Stopped))
    );
    assert_eq!(result.code, Some(ErrorCode::Aborted));
    assert!(
        result.paths.is_empty() && result.state.cursor.is_none(),
        "{result:?}"
    );
    assert_eq!(asked.all().len(), 1);
    assert!(
        !Folder::new(&host.tree, STORE)
            .files()
            .contains_key("one.md")
    );
    // The next one looks at the same messages.
    let result = extract(&mut host, &store, &turns(1));
    assert_eq!(result.paths, ["two.md"]);
    // A run that ends in time.
    let mut second = host.start(store.extract(&turns(2), ExtractOptions::default()));
    until(&mut host, &mut second, is_model);
    let mut drain = host.start(store.drain(None));
    let mut is_over = false;
    loop {
        if let Progress::Ended(result) = host.step(&mut drain) {
            assert_eq!(result, Ok(true));
            assert!(is_over);
            break;
        }
        is_over = is_over || matches!(host.step(&mut second), Progress::Ended(Ok(_)));
    }
}

#[test]
fn closing_lets_a_run_come_to_its_end_and_takes_no_more() {
    let (mut host, _) = answering(
        extract_tree(),
        vec![write("/mem/one.md"), json!("Done."), write("/mem/two.md")],
    );
    let store = store(Features::default());
    let mut first = host.start(store.extract(&turns(1), ExtractOptions::default()));
    until(&mut host, &mut first, is_model);
    extract(&mut host, &store, &turns(2));
    let mut close = host.start(store.close());
    let refused = host.run(store.extract(&turns(3), ExtractOptions::default()));
    assert_eq!(refused.unwrap_err().code, ErrorCode::Closed);
    let mut result = None;
    loop {
        if let Progress::Ended(closed) = host.step(&mut close) {
            closed.unwrap();
            break;
        }
        if result.is_none()
            && let Progress::Ended(ended) = host.step(&mut first)
        {
            result = Some(ended.unwrap());
        }
    }
    // Both runs were over before it was closed.
    let closed = Folder::new(&host.tree, STORE).everything();
    assert!(closed.contains_key("one.md") && closed.contains_key("two.md"));
    let result = result.unwrap_or_else(|| end(&mut host, &mut first));
    assert_eq!(result.paths, ["one.md", "two.md"]);
    assert_eq!(Folder::new(&host.tree, STORE).everything(), closed);
}

#[test]
fn two_conversations_do_not_wait_for_each_other() {
    let (mut host, asked) = answering(extract_tree(), Vec::new());
    let store = store(Features::default());
    let options = |session: &str| ExtractOptions {
        session: session.to_owned(),
        ..ExtractOptions::default()
    };
    let mut one = host.start(store.extract(&turns(2), options("one")));
    until(&mut host, &mut one, is_model);
    let mut two = host.start(store.extract(&turns(1), options("two")));
    until(&mut host, &mut two, is_model);
    let (one, two) = (end(&mut host, &mut one), end(&mut host, &mut two));
    assert_eq!(one.state.cursor.as_deref(), Some("a2"));
    assert_eq!(two.state.cursor.as_deref(), Some("a1"));
    assert_eq!(asked.all().len(), 2);
    let again = host
        .run(store.extract(&turns(1), options("three")))
        .unwrap();
    assert_eq!(again.outcome, ExtractionOutcome::Done);
}

#[test]
fn after_a_restart_it_goes_on_where_it_was() {
    let (mut host, asked) = answering(extract_tree(), Vec::new());
    let result = extract(&mut host, &store(Features::default()), &turns(2));
    let options = ExtractOptions {
        state: Some(result.state),
        ..ExtractOptions::default()
    };
    let restarted = store(Features::default());
    let again = host
        .run(restarted.extract(&turns(2), options.clone()))
        .unwrap();
    assert_eq!(skipped(&again), Some(Skip::NothingNew));
    // From then on the store knows better than what it was told at the start.
    for count in [3, 4] {
        host.run(restarted.extract(&turns(count), options.clone()))
            .unwrap();
        assert_eq!(shown(asked.all().last().unwrap()), [count]);
    }
}

#[test]
fn turns_that_were_counted_before_a_restart_count_once() {
    let (mut host, _) = answering(extract_tree(), Vec::new());
    let store = store(Features {
        extract_every: 3,
        ..Features::default()
    });
    let options = ExtractOptions {
        state: Some(ExtractionState {
            cursor: None,
            turns: 1,
        }),
        ..ExtractOptions::default()
    };
    let first = host.run(store.extract(&turns(1), options.clone())).unwrap();
    assert_eq!(
        (skipped(&first), first.state.turns),
        (Some(Skip::Throttled), 2)
    );
    let second = host.run(store.extract(&turns(2), options)).unwrap();
    assert_eq!(second.outcome, ExtractionOutcome::Done, "{second:?}");
}

#[test]
fn after_a_compaction_all_is_new() {
    let (mut host, asked) = answering(extract_tree(), Vec::new());
    let store = store(Features::default());
    extract(&mut host, &store, &turns(2));
    store.compacted();
    let compacted: Vec<Message> = turns(4).split_off(4);
    let result = extract(&mut host, &store, &compacted);
    assert_eq!(result.state.cursor.as_deref(), Some("a4"));
    assert_eq!(shown(&asked.all()[1]), [3, 4]);
}

#[test]
fn a_run_by_hand() {
    let (mut host, asked) = answering(extract_tree(), Vec::new());
    let store = store(Features::default());
    let begin = |host: &mut SimHost, count: usize| {
        host.run(store.begin_extraction(&turns(count), ExtractOptions::default()))
            .unwrap()
    };
    let write = |path: &str| json!({"file_path": path, "content": MEMORY}).to_string();
    let step = begin(&mut host, 1);
    assert_eq!(step.result, None);
    let task = step.task.unwrap();
    assert_eq!((task.max_turns, task.max_tokens), (5, 200_000));
    assert!(task.prompt.contains("question number 1 of mine"));
    let queued = begin(&mut host, 2).result.unwrap();
    assert_eq!(queued.outcome, ExtractionOutcome::Queued);
    let reply = host.run(store.call_tool(task.run, "Write".to_owned(), write("/mem/one.md")));
    assert!(!reply.unwrap().is_error);
    let reply = host.run(store.call_tool(task.run, "Task".to_owned(), "{}".to_owned()));
    assert!(reply.unwrap().is_error);
    let reply = host.run(store.call_tool(task.run, "Write".to_owned(), "no JSON".to_owned()));
    assert!(reply.unwrap().is_error);

    // There is another one behind it.
    let report = RunReport {
        turns: 2,
        ..RunReport::default()
    };
    let next = host
        .run(store.end_extraction(task.run, report.clone()))
        .unwrap();
    assert_eq!(next.result, None);
    let behind = next.task.unwrap();
    assert_ne!(behind.run, task.run);
    assert!(behind.prompt.contains("question number 2 of mine"));
    assert!(!behind.prompt.contains("question number 1 of mine"));
    let late = host.run(store.call_tool(task.run, "Read".to_owned(), "{}".to_owned()));
    assert_eq!(late.unwrap_err().code, ErrorCode::NotFound);
    host.run(store.call_tool(behind.run, "Write".to_owned(), write("/mem/two.md")))
        .unwrap();
    let last = host
        .run(store.end_extraction(behind.run, report.clone()))
        .unwrap();
    let result = last.result.unwrap();
    assert_eq!(result.paths, ["one.md", "two.md"]);
    assert_eq!(
        (result.turns, result.state.cursor.as_deref()),
        (4, Some("a2"))
    );
    for run in [task.run, behind.run, 99] {
        let late = host.run(store.end_extraction(run, report.clone()));
        assert_eq!(late.unwrap_err().code, ErrorCode::NotFound);
        let late = host.run(store.call_tool(run, "Write".to_owned(), write("/mem/three.md")));
        assert_eq!(late.unwrap_err().code, ErrorCode::NotFound);
    }
    assert!(
        !Folder::new(&host.tree, STORE)
            .files()
            .contains_key("three.md")
    );
    assert_eq!(
        asked.all(),
        [Value::Null; 0],
        "the caller's own model is asked"
    );
}

#[test]
fn a_run_by_hand_that_fails() {
    let (mut host, _) = answering(extract_tree(), Vec::new());
    let store = store(Features::default());
    let options = ExtractOptions::default();
    let step = host
        .run(store.begin_extraction(&turns(1), options.clone()))
        .unwrap();
    let run = step.task.unwrap().run;
    let report = RunReport {
        error: Some("the model is gone".to_owned()),
        ..RunReport::default()
    };
    let result = host
        .run(store.end_extraction(run, report))
        .unwrap()
        .result
        .unwrap();
    assert_eq!(
        (result.outcome, result.code),
        (ExtractionOutcome::Failed, Some(ErrorCode::Other))
    );
    assert_eq!(result.message.as_deref(), Some("the model is gone"));
    assert_eq!(result.state.cursor, None);
    // The same messages again.
    let step = host
        .run(store.begin_extraction(&turns(1), options))
        .unwrap();
    assert!(
        step.task
            .unwrap()
            .prompt
            .contains("question number 1 of mine")
    );
}

#[test]
fn a_run_by_hand_that_was_stopped_has_not_succeeded() {
    let (mut host, _) = answering(extract_tree(), Vec::new());
    let store = store(Features::default());
    let options = ExtractOptions::default();
    let step = host
        .run(store.begin_extraction(&turns(1), options))
        .unwrap();
    let run = step.task.unwrap().run;
    assert_eq!(host.run(store.drain(Some(10))), Ok(false));
    let input = json!({"file_path": "/mem/one.md", "content": MEMORY}).to_string();
    let reply = host
        .run(store.call_tool(run, "Write".to_owned(), input))
        .unwrap();
    assert!(reply.is_error, "{reply:?}");
    let step = host
        .run(store.end_extraction(run, RunReport::default()))
        .unwrap();
    let result = step.result.unwrap();
    assert_eq!(
        (result.outcome, result.ended),
        (ExtractionOutcome::Failed, Some(RunEnd::Stopped))
    );
    assert_eq!(
        result.state.cursor, None,
        "what it could not do is done again"
    );
}

#[test]
fn a_disk_that_fails_while_a_run_is_prepared_leaves_the_conversation_free() {
    for code in [FailureCode::Permission, FailureCode::Other] {
        let mut at = 0;
        loop {
            let (host, _) = answering(extract_tree(), Vec::new());
            let mut host = host.with_fault(at, memdir_simulation::FaultKind::Fail(code));
            let store = store(Features::default());
            let _ = host.run(store.extract(&turns(1), ExtractOptions::default()));
            if host.trace.len() <= at {
                break;
            }
            host.faults.clear();
            host.clock_ms += PAUSE_MS;
            let result = extract(&mut host, &store, &turns(2));
            assert_eq!(result.outcome, ExtractionOutcome::Done, "{code:?} at {at}");
            assert_eq!(result.state.cursor.as_deref(), Some("a2"));
            at += 1;
        }
    }
}

/// Flows that are begun at once need not decide in their order: no message is shown twice.
#[test]
fn an_older_call_that_comes_later_has_nothing_to_add() {
    for is_over in [false, true] {
        let (mut host, asked) = answering(extract_tree(), Vec::new());
        let store = store(Features::default());
        let mut older = host.start(store.extract(&turns(1), ExtractOptions::default()));
        let mut newer = host.start(store.extract(&turns(2), ExtractOptions::default()));
        let mut result = None;
        if is_over {
            result = Some(end(&mut host, &mut newer));
        } else {
            until(&mut host, &mut newer, is_model);
        }
        let outdated = end(&mut host, &mut older);
        assert_eq!(skipped(&outdated), Some(Skip::NothingNew), "{is_over}");
        let result = result.unwrap_or_else(|| end(&mut host, &mut newer));
        assert_eq!(result.state.cursor.as_deref(), Some("a2"));
        assert_eq!(
            skipped(&extract(&mut host, &store, &turns(2))),
            Some(Skip::NothingNew)
        );
        let begun: Vec<Vec<usize>> = asked.all().iter().map(shown).collect();
        assert_eq!(begun, [vec![1, 2]], "{is_over}");
    }
}

/// What was asked for before a run was over is looked at from where that run came to.
#[test]
fn a_call_that_waited_is_shown_only_what_is_new_by_then() {
    let (mut host, asked) = answering(extract_tree(), Vec::new());
    let store = store(Features::default());
    let mut first = host.start(store.extract(&turns(1), ExtractOptions::default()));
    let mut second = host.start(store.extract(&turns(2), ExtractOptions::default()));
    end(&mut host, &mut first);
    end(&mut host, &mut second);
    let begun: Vec<Vec<usize>> = asked.all().iter().map(shown).collect();
    assert_eq!(begun, [vec![1], vec![2]]);
}
