//! Dreaming on the simulated machine with a scripted model: when it is time, what it may change, how it takes
//! effect, and the way back (facts 7).
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

use std::collections::BTreeMap;

use crate::common::token;
use memdir_core::ErrorCode;
use memdir_core::dream::{Awake, Dream, DreamOptions, DreamOutcome};
use memdir_core::extract::RunEnd;
use memdir_core::flow::{Effect, Failure, FailureCode, Outcome};
use memdir_core::store::{Features, OpenOptions, Store};
use memdir_simulation::{
    Asked, Attempt, Body, DREAM_LOCK, Folder, Progress, Running, SimHost, Tree, answering, at_once,
    call, dream_lock, dream_store, dream_store_options, dream_tree, end, extract_options, merging,
    results, turn,
};
use serde_json::{Value, json};

const DAY: i64 = 86_400_000;

fn host(turns: Vec<Value>) -> (SimHost, Asked) {
    answering(dream_tree(), turns)
}

fn files(host: &SimHost) -> BTreeMap<String, String> {
    Folder::new(&host.tree, "/mem").files()
}

fn dream(host: &mut SimHost, store: &Store) -> Dream {
    host.run(store.dream(at_once())).unwrap()
}

#[test]
fn it_takes_effect_at_its_end_and_is_taken_back_to_the_byte() {
    let (mut host, asked) = host(merging());
    let before = files(&host);
    let store = dream_store();
    let dreamt = dream(&mut host, &store);
    assert_eq!(dreamt.outcome, DreamOutcome::Done, "{dreamt:?}");
    assert_eq!(dreamt.improved, ["a.md", "new.md"], "{:?}", asked.all());
    assert_eq!(dreamt.removed, ["b.md"]);
    assert_eq!(dreamt.notice.as_deref(), Some("Improved 3 memories"));
    let after = files(&host);
    assert_eq!(
        after["MEMORY.md"],
        "- [A](a.md) — a and b\n- [N](new.md) — new\n- [C](c.md) — c\n- [P](pinned.md) — p\n"
    );
    assert!(!after.contains_key("b.md"));
    let undone = host.run(store.undo_dream()).unwrap();
    assert!(undone.conflicts.is_empty(), "{undone:?}");
    let mut back = files(&host);
    // The lock stays: its time is that of the last dream.
    back.remove(".consolidate-lock");
    assert_eq!(back, before);
    assert_eq!(host.run(store.undo_dream()).unwrap().id, None);
}

#[test]
fn a_dry_run_changes_nothing_and_shows_everything() {
    let (mut host, _) = host(merging());
    let before = files(&host);
    let options = DreamOptions {
        force: true,
        dry_run: true,
        ..DreamOptions::default()
    };
    let dreamt = host.run(dream_store().dream(options)).unwrap();
    let paths: Vec<&str> = dreamt
        .changes
        .iter()
        .map(|change| change.path.as_str())
        .collect();
    assert_eq!(paths, ["MEMORY.md", "a.md", "b.md", "new.md"]);
    assert!(dreamt.changes.iter().all(|change| !change.diff.is_empty()));
    assert_eq!(files(&host), before);
}

#[test]
fn what_is_pinned_stays() {
    let (mut host, asked) = host(vec![turn(&[
        call("Read", &json!({"file_path": "/mem/pinned.md"})),
        call(
            "Write",
            &json!({"file_path": "/mem/pinned.md", "content": "gone"}),
        ),
        call("Delete", &json!({"file_path": "/mem/pinned.md"})),
    ])]);
    let before = files(&host);
    let dreamt = dream(&mut host, &dream_store());
    assert!(
        dreamt.improved.is_empty() && dreamt.id.is_none(),
        "{dreamt:?}"
    );
    let answers = results(&asked.all()[1]);
    assert!(answers[1].1 && answers[2].1, "{answers:?}");
    let mut after = files(&host);
    after.remove(".consolidate-lock");
    assert_eq!(after, before);
}

#[test]
fn a_person_who_changes_a_memory_meanwhile_wins() {
    let (mut host, _) = host(merging());
    host.script = Some(Box::new(|effect, tree| {
        if let Effect::Model { request, .. } = effect
            && request.contains("Edited")
        {
            tree.file("/mem/a.md", "mine");
        }
        None
    }));
    let dreamt = dream(&mut host, &dream_store());
    if dreamt.conflicts.is_empty() {
        // The script came too late: say so instead of passing.
        assert_eq!(files(&host)["a.md"], "mine", "{dreamt:?}");
    }
    assert!(dreamt.conflicts.contains(&"a.md".to_owned()), "{dreamt:?}");
    assert_eq!(files(&host)["a.md"], "mine");
}

#[test]
fn it_waits_for_a_day_and_five_sessions() {
    let (mut host, _) = host(Vec::new());
    let store = dream_store();
    let ask = |host: &mut SimHost| host.run(store.dream(DreamOptions::default())).unwrap();
    // There are no transcripts where a directory was given.
    assert_eq!(ask(&mut host).reason, Some(Awake::FewSessions));
    assert_eq!(ask(&mut host).reason, Some(Awake::Counted));
    assert_eq!(dream(&mut host, &store).outcome, DreamOutcome::Done);
    assert_eq!(ask(&mut host).reason, Some(Awake::TooSoon));
    host.clock_ms += DAY;
    let before = host.trace.len();
    assert_eq!(ask(&mut host).reason, Some(Awake::FewSessions));
    assert!(host.trace.len() - before < 10);
}

#[test]
fn a_failure_changes_nothing_and_delays_nobody() {
    let (mut host, _) = host(Vec::new());
    let before = files(&host);
    let mut turns = merging().into_iter();
    host.model = Some(Box::new(move |_| match turns.next() {
        Some(turn) => Attempt::answer(turn.to_string()),
        None => Attempt::fail(FailureCode::Other),
    }));
    let dreamt = dream(&mut host, &dream_store());
    assert_eq!(dreamt.outcome, DreamOutcome::Failed, "{dreamt:?}");
    assert_eq!(files(&host), before);
}

const FOLDER: &str = "/home/ada/.claude/projects/-code-shop";

fn features() -> Features {
    Features {
        dream: true,
        ..Features::default()
    }
}

/// A store that is found by its project, so that it has transcripts.
fn project_store(features: Features) -> Store {
    Store::new(OpenOptions {
        directory: None,
        home: Some("/home/ada".to_owned()),
        ..extract_options(features)
    })
}

/// Its machine, with so many transcripts of now.
fn project(transcripts: usize) -> (SimHost, Asked) {
    let mut tree = Tree::new();
    for (path, content) in Folder::new(&dream_tree(), "/mem").files() {
        tree.file(format!("{FOLDER}/memory/{path}"), content);
    }
    tree.file("/code/shop/main.rs", "fn main() {}\n");
    for number in 0..transcripts {
        tree.file(format!("{FOLDER}/s{number:05}.jsonl"), "{}\n");
    }
    answering(tree, Vec::new())
}

fn ask(host: &mut SimHost, store: &Store, options: &DreamOptions) -> Dream {
    host.run(store.dream(options.clone())).unwrap()
}

fn reason(host: &mut SimHost, store: &Store) -> Option<Awake> {
    ask(host, store, &DreamOptions::default()).reason
}

/// Steps a flow until it has performed such an effect.
fn until<T: Send + 'static>(
    host: &mut SimHost,
    running: &mut Running<T>,
    fits: impl Fn(&Effect) -> bool,
) {
    loop {
        let before = host.trace.len();
        assert!(matches!(host.step(running), Progress::Working), "it ended");
        let done = host.trace.get(before);
        if done.is_some_and(|traced| fits(&traced.effect)) {
            return;
        }
    }
}

fn is_model(effect: &Effect) -> bool {
    matches!(effect, Effect::Model { .. })
}

#[test]
fn closed_gates_cost_two_looks_at_most() {
    let (mut host, asked) = project(3);
    let lock = format!("{FOLDER}/memory/.consolidate-lock");
    let before_file = format!("{FOLDER}/memory/.memdir/dream-before.json");
    let off = project_store(Features::default());
    host.run(off.open()).unwrap();
    let store = project_store(features());
    host.run(store.open()).unwrap();
    let daily = project_store(Features {
        daily_log: true,
        ..features()
    });
    host.run(daily.open()).unwrap();
    let remote = DreamOptions {
        remote: true,
        ..DreamOptions::default()
    };
    let plain = DreamOptions::default();
    let mut cost = |store: &Store, options: &DreamOptions, wanted: Awake, prior: Option<i64>| {
        let now = host.clock_ms;
        host.tree.take(&lock);
        if let Some(prior) = prior {
            host.tree.file(&lock, "").at(now - prior);
        }
        let before = (host.trace.len(), host.tree.clone());
        assert_eq!(ask(&mut host, store, options).reason, Some(wanted));
        assert_eq!(host.tree, before.1, "{wanted:?}");
        let done = host.trace[before.0..].iter();
        done.map(|traced| match &traced.effect {
            Effect::Now => "now",
            Effect::Lstat { path } if *path == lock => "stat",
            Effect::Lstat { path } if *path == before_file => "stat",
            Effect::List { path, .. } if *path == FOLDER => "list",
            other => panic!("{wanted:?}: {other:?}"),
        })
        .collect::<Vec<_>>()
    };
    assert_eq!(cost(&off, &plain, Awake::Off, None), [""; 0]);
    assert_eq!(cost(&store, &remote, Awake::Remote, None), ["now"]);
    assert_eq!(cost(&daily, &plain, Awake::DailyLog, None), ["now"]);
    assert_eq!(
        cost(&store, &plain, Awake::TooSoon, Some(DAY - 1)),
        ["now", "stat", "stat"]
    );
    assert_eq!(
        cost(&store, &plain, Awake::FewSessions, Some(DAY)),
        ["now", "stat", "stat", "list"]
    );
    assert_eq!(
        cost(&store, &plain, Awake::Counted, Some(DAY)),
        ["now", "stat", "stat"]
    );
    assert!(asked.all().is_empty());
}

#[test]
fn off_means_that_nothing_is_touched() {
    let (mut host, _) = project(9);
    let store = Store::new(OpenOptions {
        directory: None,
        home: Some("/home/ada".to_owned()),
        env: BTreeMap::from([("CLAUDE_CODE_DISABLE_AUTO_MEMORY".to_owned(), "1".to_owned())]),
        ..extract_options(features())
    });
    let before = host.tree.clone();
    assert_eq!(reason(&mut host, &store), Some(Awake::Disabled));
    assert_eq!(
        ask(&mut host, &store, &at_once()).reason,
        Some(Awake::Disabled)
    );
    assert_eq!(host.tree, before);
    // Somebody else's machine, by its environment.
    let store = Store::new(OpenOptions {
        env: BTreeMap::from([
            ("CLAUDE_CODE_REMOTE".to_owned(), "true".to_owned()),
            // Without it memory is off there.
            (
                "CLAUDE_CODE_REMOTE_MEMORY_DIR".to_owned(),
                "/base".to_owned(),
            ),
        ]),
        ..dream_store_options()
    });
    assert_eq!(reason(&mut host, &store), Some(Awake::Remote));
    assert_eq!(host.tree, before);
}

#[test]
fn settings_decide_before_the_feature() {
    let user = "/home/ada/.claude/settings.json";
    let project_file = "/code/shop/.claude/settings.json";
    let (on, off) = (
        r#"{"autoDreamEnabled": true}"#,
        r#"{"autoDreamEnabled": false}"#,
    );
    let no_flag = r#"{"autoDreamEnabled": "no"}"#;
    for (feature, files, given, is_on) in [
        (true, vec![(user, off)], None, false),
        (false, vec![(user, on)], None, true),
        (true, vec![(user, no_flag)], None, true),
        (false, vec![(user, no_flag)], None, false),
        // What comes with a repository switches nothing on that costs money.
        (false, vec![(project_file, on)], None, false),
        (true, vec![(project_file, off)], None, false),
        (false, vec![(project_file, off), (user, on)], None, false),
        (true, vec![(project_file, on), (user, off)], None, false),
        (false, vec![(user, off)], Some(on), true),
        (true, vec![(user, on)], Some(off), false),
    ] {
        let (mut host, _) = project(3);
        host.tree.put("/code/shop/.git", Body::Folder);
        for (path, text) in &files {
            host.tree.file(*path, *text);
        }
        let store = Store::new(OpenOptions {
            directory: None,
            home: Some("/home/ada".to_owned()),
            settings: given.map(str::to_owned),
            ..extract_options(Features {
                dream: feature,
                ..Features::default()
            })
        });
        let wanted = if is_on {
            Awake::FewSessions
        } else {
            Awake::Off
        };
        let what = format!("{feature}, {files:?}, {given:?}");
        assert_eq!(reason(&mut host, &store), Some(wanted), "{what}");
        assert_eq!(
            ask(&mut host, &store, &at_once()).outcome,
            DreamOutcome::Done,
            "{what}"
        );
    }
}

#[test]
fn five_other_sessions_since_the_last_time_count() {
    let current = |name: &str| DreamOptions {
        session: Some(name.to_owned()),
        ..DreamOptions::default()
    };
    let (mut host, _) = project(5);
    // What is no transcript of a session.
    host.tree.file(format!("{FOLDER}/notes.txt"), "");
    host.tree
        .put(format!("{FOLDER}/folder.jsonl"), Body::Folder);
    host.tree
        .link(format!("{FOLDER}/link.jsonl"), "/code/shop/main.rs");
    host.tree.put(format!("{FOLDER}/fifo.jsonl"), Body::Other);
    let store = project_store(features());
    let counted = ask(&mut host, &store, &current("s00003"));
    assert_eq!(counted.reason, Some(Awake::FewSessions));
    host.clock_ms += 10 * 60_000;
    let dreamt = ask(&mut host, &store, &current("elsewhere"));
    assert_eq!(
        (dreamt.outcome, dreamt.sessions),
        (DreamOutcome::Done, 5),
        "{dreamt:?}"
    );
    // A day later nothing new was said; then four sessions go on, then a fifth.
    host.clock_ms += DAY;
    assert_eq!(reason(&mut host, &store), Some(Awake::FewSessions));
    for number in 0..5 {
        let now = host.clock_ms;
        let path = format!("{FOLDER}/s{number:05}.jsonl");
        host.tree.overwrite(path, "{}\n{}\n", now);
        host.clock_ms += 10 * 60_000;
        let wanted = (number < 4).then_some(Awake::FewSessions);
        assert_eq!(reason(&mut host, &store), wanted, "{number}");
    }
    assert_eq!(reason(&mut host, &store), Some(Awake::TooSoon));
}

#[test]
fn the_prompt_says_what_day_it_is_and_what_was_said_since() {
    let prompt = |transcripts: usize, features: Features, logs: bool| {
        let (mut host, asked) = project(transcripts);
        // 23:30 on the 15th of March in UTC; it is the 16th where the user is, an hour ahead.
        host.clock_ms += 13 * 3_600_000;
        let options = DreamOptions { logs, ..at_once() };
        let dreamt = ask(&mut host, &project_store(features), &options);
        assert_eq!(dreamt.outcome, DreamOutcome::Done);
        asked.all()[0]["messages"][0].to_string()
    };
    let plain = prompt(3, features(), false);
    assert!(plain.contains("2026-03-16"), "{plain}");
    assert!(plain.contains(&format!("{FOLDER}/memory")), "{plain}");
    assert!(plain.contains("3 sessions"), "{plain}");
    for number in 0..3 {
        assert!(plain.contains(&format!("s{number:05}.jsonl")), "{plain}");
    }
    assert!(!plain.contains("team/"), "{plain}");
    let none = prompt(0, features(), false);
    assert!(!none.contains(".jsonl"), "{none}");
    let team = Features {
        team: true,
        ..features()
    };
    let team = prompt(3, team, false);
    assert!(team.contains("`team/`"), "{team}");
    let logs = prompt(3, features(), true);
    assert!(logs.contains("daily logs") && logs != plain, "{logs}");
}

#[test]
fn logs_are_distilled_when_somebody_asks_for_it() {
    let (mut host, asked) = project(0);
    let store = project_store(Features {
        daily_log: true,
        ..features()
    });
    assert_eq!(reason(&mut host, &store), Some(Awake::DailyLog));
    assert_eq!(
        ask(&mut host, &store, &at_once()).reason,
        Some(Awake::DailyLog)
    );
    assert!(asked.all().is_empty());
    let options = DreamOptions {
        logs: true,
        ..at_once()
    };
    assert_eq!(ask(&mut host, &store, &options).outcome, DreamOutcome::Done);
}

#[test]
fn a_dry_run_touches_nothing_at_all_and_waits_for_nobody() {
    let (mut host, _) = host(merging());
    // Another one is under way.
    host.processes.insert(77);
    let now = host.clock_ms;
    host.tree.file(DREAM_LOCK, "77").at(now);
    let before = host.tree.clone();
    let store = dream_store();
    let options = DreamOptions {
        dry_run: true,
        ..at_once()
    };
    let dreamt = ask(&mut host, &store, &options);
    assert_eq!((dreamt.changes.len(), dreamt.id), (4, None));
    assert_eq!(host.tree, before);
    assert_eq!(host.run(store.undo_dream()).unwrap().id, None);
}

#[test]
fn without_a_model_it_is_told_only_when_it_is_time() {
    let (mut host, _) = project(4);
    let store = Store::new(OpenOptions {
        directory: None,
        home: Some("/home/ada".to_owned()),
        model: None,
        ..extract_options(features())
    });
    let before = host.tree.clone();
    assert_eq!(reason(&mut host, &store), Some(Awake::FewSessions));
    let failed = host.run(store.dream(at_once())).unwrap_err();
    assert_eq!(failed.code, ErrorCode::NoModel);
    assert_eq!(host.tree, before);
}

#[test]
fn what_fails_before_the_run_delays_nobody() {
    type Breaks = fn(&Effect) -> bool;
    let breaks: [(&str, Breaks); 3] = [
        (
            "listing",
            |effect| matches!(effect, Effect::List { path, .. } if path == FOLDER),
        ),
        (
            "taking the lock",
            |effect| matches!(effect, Effect::Write { path, .. } if path.ends_with(".consolidate-lock")),
        ),
        (
            "keeping what it was",
            |effect| matches!(effect, Effect::Write { path, .. } if path.ends_with("dream-before.json")),
        ),
    ];
    for (what, is_it) in breaks {
        let (mut host, _) = project(5);
        let store = project_store(features());
        host.script = Some(Box::new(move |effect, _| {
            let failure = Failure::new(FailureCode::NoSpace, "no space");
            is_it(effect).then_some(Outcome::Failed(failure))
        }));
        let failed = host.run(store.dream(DreamOptions::default()));
        assert!(failed.is_err(), "{what}: {failed:?}");
        host.script = None;
        let dreamt = ask(&mut host, &store, &DreamOptions::default());
        assert_eq!(dreamt.outcome, DreamOutcome::Done, "{what}: {dreamt:?}");
    }
}

#[test]
fn a_dry_run_delays_nobody() {
    let (mut host, _) = project(5);
    let store = project_store(features());
    let options = DreamOptions {
        dry_run: true,
        ..DreamOptions::default()
    };
    assert_eq!(ask(&mut host, &store, &options).outcome, DreamOutcome::Done);
    assert_eq!(reason(&mut host, &store), None);
}

/// What the model is answered to these calls, and what the memories are afterwards.
fn tried(tree: Tree, calls: &[Value]) -> (Vec<(String, bool)>, BTreeMap<String, String>) {
    let (mut host, asked) = answering(tree, vec![turn(calls)]);
    dream(&mut host, &dream_store());
    let mut after = files(&host);
    after.retain(|path, _| path.ends_with(".md"));
    (results(&asked.all()[1]), after)
}

fn on(tool: &str, path: &str) -> Value {
    call(tool, &json!({"file_path": format!("/mem/{path}")}))
}

#[test]
fn the_entry_of_what_is_pinned_stays() {
    let entry = "- [P](pinned.md) — p\n";
    let input =
        |new: &str| json!({"file_path": "/mem/MEMORY.md", "old_string": entry, "new_string": new});
    let whole = json!({"file_path": "/mem/MEMORY.md", "content": "- [A](a.md) — a\n"});
    let shorter = "- [P](pinned.md) — shorter\n";
    let calls = [
        on("Read", "MEMORY.md"),
        call("Edit", &input("")),
        call("Write", &whole),
        call("Edit", &input(shorter)),
    ];
    let (answers, after) = tried(dream_tree(), &calls);
    let refused: Vec<bool> = answers.iter().map(|answer| answer.1).collect();
    assert_eq!(refused, [false, true, true, false], "{answers:?}");
    let before = files(&host(Vec::new()).0)["MEMORY.md"].clone();
    assert_eq!(after["MEMORY.md"], before.replace(entry, shorter));
}

#[test]
fn daily_logs_stay_as_they_are() {
    let log = "logs/2026/03/2026-03-14.md";
    let mut tree = dream_tree();
    tree.file(format!("/mem/{log}"), "- 10:00 something\n");
    let write = json!({"file_path": format!("/mem/{log}"), "content": "nothing"});
    let new = json!({"file_path": "/mem/logs/2026/03/2026-03-15.md", "content": "mine"});
    let edit =
        json!({"file_path": format!("/mem/{log}"), "old_string": "something", "new_string": ""});
    let calls = [
        on("Read", log),
        on("Delete", log),
        call("Write", &write),
        call("Write", &new),
        call("Edit", &edit),
    ];
    let before = Folder::new(&tree, "/mem").files();
    let (answers, after) = tried(tree, &calls);
    let refused: Vec<bool> = answers.iter().map(|answer| answer.1).collect();
    assert_eq!(refused, [false, true, true, true, true], "{answers:?}");
    assert_eq!(after, before);
}

#[test]
fn a_memory_is_not_emptied() {
    let write = |content: &str| {
        call(
            "Write",
            &json!({"file_path": "/mem/a.md", "content": content}),
        )
    };
    let edit = json!({"file_path": "/mem/a.md", "old_string": "a.\n", "new_string": ""});
    let calls = [
        on("Read", "a.md"),
        write(""),
        write(" \n"),
        write("---\nname: a\ndescription: about a\ntype: project\n---\n\n"),
        call("Edit", &edit),
    ];
    let before = files(&host(Vec::new()).0);
    let (answers, after) = tried(dream_tree(), &calls);
    let refused: Vec<bool> = answers.iter().map(|answer| answer.1).collect();
    assert_eq!(refused, [false, true, true, true, true], "{answers:?}");
    assert_eq!(after, before);
}

#[test]
fn a_model_that_makes_a_memory_again_is_told_that_its_entry_is_gone() {
    let again = json!({"file_path": "/mem/b.md", "content": "again"});
    let calls = [
        on("Read", "b.md"),
        on("Delete", "b.md"),
        call("Write", &again),
    ];
    let (answers, after) = tried(dream_tree(), &calls);
    assert!(answers[2].0.contains("add it again"), "{answers:?}");
    assert_eq!(after["b.md"], "again");
}

#[test]
fn ten_thousand_transcripts_are_counted_and_fifty_named() {
    let (mut host, asked) = project(10_000);
    let dreamt = ask(
        &mut host,
        &project_store(features()),
        &DreamOptions::default(),
    );
    assert_eq!(
        (dreamt.outcome, dreamt.sessions),
        (DreamOutcome::Done, 10_000)
    );
    let prompt = asked.all()[0]["messages"][0].to_string();
    assert_eq!(prompt.matches(".jsonl").count(), 50);
    assert!(prompt.contains("10000 sessions"), "{prompt}");
    assert!(host.trace.len() < 120, "{}", host.trace.len());
    assert!(host.reads.keys().all(|path| !path.ends_with(".jsonl")));
}

#[test]
fn what_a_memory_was_merged_into_is_written_before_it_goes() {
    let (mut host, _) = host(merging());
    let before = files(&host);
    host.script = Some(Box::new(|effect, tree| {
        if let Effect::Model { request, .. } = effect
            && request.contains("will be removed")
        {
            tree.file("/mem/a.md", "mine");
        }
        None
    }));
    let dreamt = dream(&mut host, &dream_store());
    assert_eq!(dreamt.conflicts, ["a.md", "b.md"], "{dreamt:?}");
    assert!(dreamt.removed.is_empty());
    assert_eq!(files(&host)["b.md"], before["b.md"]);
    assert!(files(&host)["MEMORY.md"].contains("(b.md)"));
}

#[test]
fn a_run_that_is_cut_removes_nothing() {
    let mut turns = merging();
    let read = turn(&[call("Read", &json!({"file_path": "/mem/a.md"}))]);
    turns.truncate(2);
    turns.extend(vec![read; 100]);
    let (mut host, _) = host(turns);
    let before = files(&host);
    let dreamt = dream(&mut host, &dream_store());
    assert_eq!(dreamt.ended, Some(RunEnd::Turns));
    assert!(dreamt.removed.is_empty(), "{dreamt:?}");
    assert_eq!(files(&host)["b.md"], before["b.md"]);
    assert!(files(&host)["MEMORY.md"].contains("(b.md)"));
}

#[test]
fn whoever_watches_hears_which_files_it_is_at() {
    let (mut host, _) = host(merging());
    dream(&mut host, &dream_store());
    let heard = host.events.iter().filter(|event| event.kind == "dream");
    let heard: Vec<_> = heard
        .filter_map(|event| Some((event.code.as_deref()?, event.path.as_deref()?)))
        .collect();
    assert!(heard.contains(&("updating", "a.md")), "{heard:?}");
    assert!(heard.contains(&("updating", "b.md")), "{heard:?}");
}

#[test]
fn whoever_watches_hears_what_the_model_says() {
    let say = |text: String| json!({"type": "text", "text": text});
    let turns = vec![
        turn(&[
            say("I look\nat both notes.".to_owned()),
            call("Read", &json!({"file_path": "/mem/a.md"})),
            call("Read", &json!({"file_path": "/mem/b.md"})),
        ]),
        turn(&[call("Read", &json!({"file_path": "/mem/MEMORY.md"}))]),
        turn(&[say(format!("{} is a key. {}", token(), "so ".repeat(200)))]),
    ];
    let (mut host, _) = host(turns);
    dream(&mut host, &dream_store());
    let said = host
        .events
        .iter()
        .filter(|event| event.code.as_deref() == Some("said"));
    let said: Vec<&str> = said.map(|event| event.message.as_str()).collect();
    let [first, last] = said.as_slice() else {
        panic!("{said:?}")
    };
    assert_eq!(*first, "dream: I look at both notes. (2 tools)");
    assert!(
        last.starts_with("dream: [secret removed: ") && last.contains("] is a key. so so"),
        "{last}"
    );
    assert_eq!(last.chars().count(), "dream: ".len() + 300);
}

#[test]
fn an_index_is_not_emptied() {
    let turns = vec![turn(&[
        call("Read", &json!({"file_path": "/mem/MEMORY.md"})),
        call(
            "Write",
            &json!({"file_path": "/mem/MEMORY.md", "content": ""}),
        ),
    ])];
    let (mut host, _) = host(turns);
    let before = files(&host);
    let dreamt = dream(&mut host, &dream_store());
    assert_eq!(dreamt.notice, None);
    assert_eq!(files(&host)["MEMORY.md"], before["MEMORY.md"]);
}

#[test]
fn tokens_end_it_and_what_was_written_takes_effect() {
    let mut turns = merging();
    turns[1]["usage"] = json!({"input_tokens": 199_000, "output_tokens": 1_000});
    let (mut host, asked) = host(turns);
    let dreamt = dream(&mut host, &dream_store());
    assert_eq!(dreamt.ended, Some(RunEnd::Tokens), "{dreamt:?}");
    assert_eq!(
        (dreamt.outcome, dreamt.improved.len()),
        (DreamOutcome::Done, 2)
    );
    assert_eq!((asked.all().len(), dreamt.usage.total()), (2, 200_000));
}

#[test]
fn turns_end_it_too() {
    let read = turn(&[call("Read", &json!({"file_path": "/mem/a.md"}))]);
    let (mut host, asked) = host(vec![read; 100]);
    let dreamt = dream(&mut host, &dream_store());
    assert_eq!(
        (dreamt.ended, dreamt.turns, asked.all().len()),
        (Some(RunEnd::Turns), 60, 60)
    );
}

#[test]
fn draining_stops_it_and_nothing_has_happened() {
    for is_closed in [false, true] {
        let (mut host, asked) = host(merging());
        let before = files(&host);
        let store = dream_store();
        let mut running = host.start(store.dream(at_once()));
        until(&mut host, &mut running, is_model);
        let then = host.clock_ms;
        if is_closed {
            host.run(store.close()).unwrap();
        } else {
            assert_eq!(host.run(store.drain(None)), Ok(false));
        }
        assert_eq!(host.clock_ms - then, 60_000);
        let dreamt = end(&mut host, &mut running).unwrap().unwrap();
        assert_eq!(
            (dreamt.outcome, dreamt.ended, dreamt.code),
            (
                DreamOutcome::Failed,
                Some(RunEnd::Stopped),
                Some(ErrorCode::Aborted)
            )
        );
        assert_eq!((files(&host), asked.all().len()), (before, 1));
    }
}

#[test]
fn closing_waits_for_the_very_end() {
    for turns in [merging(), vec![json!({"content": 7})]] {
        let (mut host, _) = host(turns);
        let store = dream_store();
        let mut running = host.start(store.dream(at_once()));
        until(&mut host, &mut running, is_model);
        // A dry run beside it ends before it does.
        let options = DreamOptions {
            dry_run: true,
            ..at_once()
        };
        ask(&mut host, &store, &options);
        let mut close = host.start(store.close());
        let mut dreamt = None;
        loop {
            if let Progress::Ended(closed) = host.step(&mut close) {
                closed.unwrap();
                break;
            }
            if dreamt.is_none()
                && let Progress::Ended(ended) = host.step(&mut running)
            {
                dreamt = Some(ended.unwrap());
            }
        }
        let body = dream_lock(&host).map(|(body, _)| body);
        assert!(body.is_none_or(|body| body.is_empty()), "{dreamt:?}");
        assert_eq!(
            host.run(store.dream(at_once())).unwrap_err().code,
            ErrorCode::Closed
        );
    }
}

#[test]
fn a_store_that_is_closed_in_the_beginning_does_not_dream() {
    for at in 1.. {
        let (mut host, asked) = host(merging());
        let before = files(&host);
        let store = dream_store();
        let mut running = host.start(store.dream(at_once()));
        for _ in 0..at {
            assert!(matches!(host.step(&mut running), Progress::Working));
        }
        if !asked.all().is_empty() {
            assert!(at > 20, "{at}");
            break;
        }
        let mut close = host.start(store.close());
        // Whoever closes it looks now and then; a step of each.
        let (mut ended, mut is_closed) = (None, false);
        while ended.is_none() || !is_closed {
            if !is_closed {
                is_closed = matches!(host.step(&mut close), Progress::Ended(_));
            }
            if ended.is_none()
                && let Progress::Ended(result) = host.step(&mut running)
            {
                ended = Some(result);
            }
        }
        match ended.unwrap() {
            // It had begun.
            Ok(dreamt) => assert_eq!(dreamt.outcome, DreamOutcome::Done, "{at}: {dreamt:?}"),
            Err(error) => {
                assert_eq!(error.code, ErrorCode::Closed, "{at}");
                assert_eq!(files(&host), before, "{at}");
                assert!(asked.all().is_empty(), "{at}");
            }
        }
    }
}
