//! What a background run proposes: how it is shown, what comes of applying and dropping it, and that nothing is
//! lost or done twice whatever happens on the way.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::BTreeMap;

use memdir_core::ErrorCode;
use memdir_core::cli::{CommandOptions, command};
use memdir_core::flow::{Effect, Failure, FailureCode, Outcome as Answer};
use memdir_core::inbox::{
    InboxChange, InboxChangeKind as Kind, InboxItem, InboxResult, Proposal, ProposedChange,
};
use memdir_core::report::ReportCode;
use memdir_core::store::{OpenOptions, Store};
use memdir_core::team::checksum;
use memdir_core::write::WriteOutcome as Outcome;
use memdir_simulation::{
    B, Body, FAILURES, Fault, FaultKind, Folder, INDEX, OLD, Random, STORE, SimHost, Tree,
    new_modes, written_tree,
};

/// When every simulated clock begins.
const NOW_MS: i64 = 1_773_570_600_000;
const NEW: &str = "---\nname: New\ndescription: new hook\ntype: project\n---\nnew body\n";
const BETTER: &str = "---\nname: Old\ndescription: old hook\ntype: project\n---\nbetter body\n";
const BETTER_INDEX: &str = "# Index\n- [Old](a.md) — better hook\n- [New](sub/new.md) — new hook\n";

fn store() -> Store {
    Store::new(OpenOptions {
        directory: Some(STORE.to_owned()),
        ..OpenOptions::default()
    })
}

fn change(path: &str, old: Option<&str>, new: Option<&str>) -> ProposedChange {
    ProposedChange {
        path: path.to_owned(),
        before: old.map(checksum),
        old: old.map(str::to_owned),
        new: new.map(str::to_owned),
    }
}

fn proposal(changes: Vec<ProposedChange>) -> Proposal {
    Proposal {
        purpose: "extract".to_owned(),
        at_ms: NOW_MS,
        changes,
    }
}

/// One of everything, the index first: it is applied last all the same.
fn everything() -> Proposal {
    proposal(vec![
        change("MEMORY.md", Some(INDEX), Some(BETTER_INDEX)),
        change("sub/new.md", None, Some(NEW)),
        change("a.md", Some(OLD), Some(BETTER)),
        change("b.md", Some(B), None),
    ])
}

/// What the store is afterwards.
fn applied() -> BTreeMap<String, String> {
    let files = [
        ("MEMORY.md", BETTER_INDEX),
        ("a.md", BETTER),
        ("sub/new.md", NEW),
    ];
    files
        .map(|(path, text)| (path.to_owned(), text.to_owned()))
        .into()
}

/// A machine where this waits, and its id.
fn waiting_in(tree: Tree, proposal: Proposal) -> (SimHost, String) {
    let mut host = SimHost::with_tree(3, tree);
    let id = host.run(store().propose(proposal)).unwrap().unwrap();
    host.trace.clear();
    (host, id)
}

fn waiting(proposal: Proposal) -> (SimHost, String) {
    waiting_in(written_tree(), proposal)
}

fn apply(host: &mut SimHost, id: &str) -> InboxResult {
    host.run(store().apply_proposal(id.to_owned(), None))
        .unwrap()
}

fn apply_some(host: &mut SimHost, id: &str, paths: &[&str]) -> InboxResult {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    host.run(store().apply_proposal(id.to_owned(), Some(paths)))
        .unwrap()
}

fn drop_some(host: &mut SimHost, id: &str, paths: &[&str]) -> Vec<String> {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    host.run(store().drop_proposal(id.to_owned(), Some(paths)))
        .unwrap()
}

fn items(host: &mut SimHost) -> Vec<InboxItem> {
    let inbox = host.run(store().inbox()).unwrap();
    assert_eq!(inbox.report, []);
    inbox.items
}

fn outcomes(result: &InboxResult) -> Vec<(&str, Outcome)> {
    let results = result.results.iter();
    results
        .map(|result| (result.path.as_deref().unwrap(), result.outcome))
        .collect()
}

fn files(host: &SimHost) -> BTreeMap<String, String> {
    Folder::new(&host.tree, STORE).files()
}

fn edit(host: &mut SimHost, path: &str, text: &str) {
    let now = host.clock_ms;
    host.tree.overwrite(format!("{STORE}/{path}"), text, now);
}

#[test]
fn what_waits_changes_nothing_and_is_shown() {
    let (mut host, id) = waiting(everything());
    assert_eq!(files(&host), Folder::new(&written_tree(), STORE).files());
    for (path, mode) in new_modes(&written_tree(), &host.tree) {
        let is_folder = path == "/mem/.memdir/inbox";
        assert_eq!(mode, if is_folder { 0o700 } else { 0o600 }, "{path}");
    }
    assert!(id.starts_with(&format!("{NOW_MS:015}-")), "{id}");
    let shown = |path: &str, kind, (added, removed), diff: &str| InboxChange {
        path: path.to_owned(),
        kind,
        diff: diff.to_owned(),
        added,
        removed,
        is_stale: false,
    };
    let expected = vec![
        shown(
            "MEMORY.md",
            Kind::Changed,
            (2, 2),
            "--- a/MEMORY.md\n+++ b/MEMORY.md\n@@ -1,3 +1,3 @@\n # Index\n-- [Old](a.md) — old hook\n\
             -- [B](b.md) — b\n+- [Old](a.md) — better hook\n+- [New](sub/new.md) — new hook\n",
        ),
        shown(
            "sub/new.md",
            Kind::Created,
            (6, 0),
            "--- /dev/null\n+++ b/sub/new.md\n@@ -0,0 +1,6 @@\n+---\n+name: New\n\
             +description: new hook\n+type: project\n+---\n+new body\n",
        ),
        shown(
            "a.md",
            Kind::Changed,
            (1, 1),
            "--- a/a.md\n+++ b/a.md\n@@ -3,4 +3,4 @@\n description: old hook\n type: project\n ---\n\
             -old body\n+better body\n",
        ),
        shown(
            "b.md",
            Kind::Deleted,
            (0, 6),
            "--- a/b.md\n+++ /dev/null\n@@ -1,6 +0,0 @@\n----\n-name: B\n-description: b\n-type: user\n\
             ----\n-b\n",
        ),
    ];
    let item = InboxItem {
        id,
        purpose: "extract".to_owned(),
        at_ms: NOW_MS,
        changes: expected,
    };
    assert_eq!(items(&mut host), [item]);
}

/// Of lines that are all different only one shortest diff can be made, whoever makes it.
#[test]
fn a_diff_is_that_of_the_program() {
    let folder = std::env::temp_dir().join(format!("memdir-diff-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (a, b) = (folder.join("a"), folder.join("b"));
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let (mut old, mut new) = ("begin\n".to_owned(), "begin\n".to_owned());
        for number in 0..random.below(60) {
            let line = format!("line {number}\n");
            let kind = random.below(8);
            old.push_str(if kind == 1 { "" } else { &line });
            new.push_str(if kind == 2 { "" } else { &line });
        }
        let end = if random.percent(50) { "end" } else { "" };
        (old, new) = (old + end, new + end);
        if old == new {
            continue;
        }
        std::fs::write(&a, &old).unwrap();
        std::fs::write(&b, &new).unwrap();
        let program = std::process::Command::new("diff")
            .arg("-u")
            .args([&a, &b])
            .output();
        let Ok(output) = program else {
            // There is no such program on this machine.
            break;
        };
        let without_names = |diff: &str| -> String { diff.split_inclusive('\n').skip(2).collect() };
        let mut tree = written_tree();
        tree.file("/mem/x.md", &old);
        let (mut host, _) =
            waiting_in(tree, proposal(vec![change("x.md", Some(&old), Some(&new))]));
        assert_eq!(
            without_names(&items(&mut host)[0].changes[0].diff),
            without_names(&String::from_utf8(output.stdout).unwrap()),
            "seed {seed}"
        );
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn older_proposals_come_first() {
    let mut host = SimHost::with_tree(3, written_tree());
    let mut ids = Vec::new();
    for at_ms in [NOW_MS, 5, NOW_MS, -1] {
        let later = Proposal {
            at_ms,
            ..everything()
        };
        ids.push(host.run(store().propose(later)).unwrap().unwrap());
    }
    let shown: Vec<String> = items(&mut host).into_iter().map(|item| item.id).collect();
    ids.sort();
    assert_eq!(shown, ids);
    assert_eq!(shown[0].get(..16), Some("000000000000000-"));
    assert_eq!(shown[1].get(..16), Some("000000000000005-"));
}

#[test]
fn two_of_the_same_time_without_a_random_source_are_two() {
    let mut host = SimHost::with_tree(3, written_tree());
    host.script = Some(Box::new(|effect, _| {
        matches!(effect, Effect::Random { .. })
            .then(|| Answer::Failed(Failure::new(FailureCode::Unsupported, "none")))
    }));
    for _ in 0..2 {
        host.run(store().propose(everything())).unwrap().unwrap();
    }
    assert_eq!(items(&mut host).len(), 2);
}

#[test]
fn all_of_it_is_applied_memories_first() {
    let (mut host, id) = waiting(everything());
    let result = apply(&mut host, &id);
    let expected = ["sub/new.md", "a.md", "b.md", "MEMORY.md"];
    assert_eq!(
        outcomes(&result),
        expected.map(|path| (path, Outcome::Written))
    );
    assert_eq!(result.left, [""; 0]);
    assert_eq!(files(&host), applied());
    assert_eq!(items(&mut host), []);
    // What was replaced or forgotten can be had back.
    let folder = Folder::new(&host.tree, STORE);
    assert!(folder.holds(OLD) && folder.holds(B));
    assert_eq!(folder.left_over(), [""; 0]);
    let again = host.run(store().apply_proposal(id, None));
    assert_eq!(again.unwrap_err().code, ErrorCode::NotFound);
}

#[test]
fn the_first_proposal_of_a_project_may_come_before_its_store() {
    let first = proposal(vec![
        change("MEMORY.md", None, Some("- [New](new.md)\n")),
        change("new.md", None, Some(NEW)),
    ]);
    let (mut host, id) = waiting_in(Tree::new(), first);
    assert_eq!(files(&host), BTreeMap::new());
    let result = apply(&mut host, &id);
    assert_eq!(result.left, [""; 0]);
    assert_eq!(files(&host)["MEMORY.md"], "- [New](new.md)\n");
    assert_eq!(files(&host)["new.md"], NEW);
}

#[test]
fn what_a_person_has_changed_since_stays_theirs() {
    let (mut host, id) = waiting(everything());
    edit(&mut host, "a.md", "mine\n");
    edit(&mut host, "b.md", "mine too\n");
    edit(&mut host, "sub/new.md", "mine as well\n");
    let stale: Vec<(String, bool)> = items(&mut host)[0]
        .changes
        .iter()
        .map(|change| (change.path.clone(), change.is_stale))
        .collect();
    let expected = [
        ("MEMORY.md", false),
        ("sub/new.md", true),
        ("a.md", true),
        ("b.md", true),
    ];
    assert_eq!(
        stale,
        expected.map(|(path, stale)| (path.to_owned(), stale))
    );
    let result = apply(&mut host, &id);
    let expected = [
        ("sub/new.md", Outcome::Conflict),
        ("a.md", Outcome::Conflict),
        ("b.md", Outcome::Conflict),
        ("MEMORY.md", Outcome::Written),
    ];
    assert_eq!(outcomes(&result), expected);
    // The index cannot be done with as long as memories wait whose lines come or go.
    assert_eq!(result.left, ["MEMORY.md", "sub/new.md", "a.md", "b.md"]);
    let files = files(&host);
    assert_eq!(files["a.md"], "mine\n");
    assert_eq!(files["b.md"], "mine too\n");
    assert_eq!(files["sub/new.md"], "mine as well\n");
    assert_eq!(
        files["MEMORY.md"],
        "# Index\n- [Old](a.md) — better hook\n- [B](b.md) — b\n"
    );
    // Nothing that was looked at is done by itself later.
    assert_eq!(outcomes(&apply(&mut host, &id))[1].1, Outcome::Conflict);
    let left = drop_some(&mut host, &id, &["a.md", "b.md", "sub/new.md"]);
    assert_eq!(left, ["MEMORY.md"]);
    let result = apply(&mut host, &id);
    assert_eq!(outcomes(&result), [("MEMORY.md", Outcome::Unchanged)]);
    assert_eq!(items(&mut host), []);
}

#[test]
fn what_is_already_so_is_done() {
    let (mut host, id) = waiting(everything());
    edit(&mut host, "a.md", BETTER);
    edit(&mut host, "MEMORY.md", BETTER_INDEX);
    host.tree.take("/mem/b.md");
    let is_stale = |change: &InboxChange| change.is_stale;
    assert!(!items(&mut host)[0].changes.iter().any(is_stale));
    let result = apply(&mut host, &id);
    let expected = [
        ("sub/new.md", Outcome::Written),
        ("a.md", Outcome::Unchanged),
        ("b.md", Outcome::Unchanged),
        ("MEMORY.md", Outcome::Unchanged),
    ];
    assert_eq!(outcomes(&result), expected);
    assert!(result.results.iter().all(|result| result.code.is_none()));
    assert_eq!(files(&host), applied());
    assert_eq!(items(&mut host), []);
}

#[test]
fn an_index_that_others_have_changed_is_merged() {
    let (mut host, id) = waiting(everything());
    edit(&mut host, "c.md", NEW);
    edit(
        &mut host,
        "MEMORY.md",
        "# Index\n\nMine.\n- [Old](a.md) — my hook\n- [B](b.md) — b\n- [C](c.md)\n",
    );
    let result = apply(&mut host, &id);
    assert_eq!(result.left, [""; 0]);
    // Both have written the entry of a.md anew: what is there stands.
    let lines: Vec<String> = files(&host)["MEMORY.md"]
        .lines()
        .map(str::to_owned)
        .collect();
    for line in [
        "Mine.",
        "- [Old](a.md) — my hook",
        "- [C](c.md)",
        "- [New](sub/new.md) — new hook",
    ] {
        let times = lines.iter().filter(|known| *known == line).count();
        assert_eq!(times, 1, "{line}: {lines:?}");
    }
    assert!(!lines.iter().any(|line| line.contains("b.md")), "{lines:?}");
}

#[test]
fn an_index_that_is_gone_gets_what_is_new() {
    let (mut host, id) = waiting(everything());
    host.tree.take("/mem/MEMORY.md");
    let result = apply(&mut host, &id);
    assert_eq!(result.left, [""; 0]);
    let index = &files(&host)["MEMORY.md"];
    assert!(
        index.contains("- [New](sub/new.md) — new hook\n"),
        "{index}"
    );
    assert!(!index.contains("b.md"), "{index}");

    let (mut host, id) = waiting(proposal(vec![
        change("b.md", Some(B), None),
        change(
            "MEMORY.md",
            Some(INDEX),
            Some("# Index\n- [Old](a.md) — old hook\n"),
        ),
    ]));
    host.tree.take("/mem/MEMORY.md");
    let result = apply(&mut host, &id);
    assert_eq!(outcomes(&result)[1], ("MEMORY.md", Outcome::Unchanged));
    assert_eq!(
        (result.left, files(&host).contains_key("MEMORY.md")),
        (vec![], false)
    );
}

#[test]
fn a_secret_does_not_get_into_the_team() {
    let secret = format!(
        "ghp_{}",
        "aB3dE5gH7j".repeat(4).get(..36).unwrap_or_default()
    );
    let (mut host, id) = waiting(proposal(vec![
        change(
            "team/MEMORY.md",
            None,
            Some("- [Key](key.md)\n- [Fine](fine.md)\n"),
        ),
        change("team/key.md", None, Some(&format!("the key is {secret}\n"))),
        change("team/fine.md", None, Some(NEW)),
        change("team/me.md", None, Some(B)),
    ]));
    let result = apply(&mut host, &id);
    let expected = [
        ("team/key.md", Outcome::Refused),
        ("team/fine.md", Outcome::Written),
        ("team/me.md", Outcome::Refused),
        ("team/MEMORY.md", Outcome::Written),
    ];
    assert_eq!(outcomes(&result), expected);
    assert_eq!(result.results[0].code, Some(ErrorCode::SecretFound));
    assert_eq!(result.results[2].code, Some(ErrorCode::UserPrivate));
    assert!(!format!("{result:?}").contains(&secret));
    assert_eq!(result.left, ["team/MEMORY.md", "team/key.md", "team/me.md"]);
    let files = files(&host);
    assert!(!files.contains_key("team/key.md"));
    // A line that leads to nothing would be no better.
    assert_eq!(files["team/MEMORY.md"], "- [Fine](fine.md)\n");
}

#[test]
fn a_part_of_it_is_applied_or_dropped() {
    let (mut host, id) = waiting(everything());
    let result = apply_some(&mut host, &id, &["a.md", "MEMORY.md"]);
    assert_eq!(
        outcomes(&result),
        [("a.md", Outcome::Written), ("MEMORY.md", Outcome::Written)]
    );
    assert_eq!(result.left, ["MEMORY.md", "sub/new.md", "b.md"]);
    assert_eq!(
        files(&host)["MEMORY.md"],
        "# Index\n- [Old](a.md) — better hook\n- [B](b.md) — b\n"
    );
    assert_eq!(
        drop_some(&mut host, &id, &["sub/new.md"]),
        ["MEMORY.md", "b.md"]
    );
    assert_eq!(apply(&mut host, &id).left, [""; 0]);
    let files = files(&host);
    assert_eq!(files["MEMORY.md"], "# Index\n- [Old](a.md) — better hook\n");
    assert_eq!(files.keys().collect::<Vec<_>>(), ["MEMORY.md", "a.md"]);
}

#[test]
fn what_is_dropped_takes_its_lines_along() {
    let index = format!("{INDEX}- [New](new.md)\n");
    let (mut host, id) = waiting(proposal(vec![
        change("new.md", None, Some(NEW)),
        change("MEMORY.md", Some(INDEX), Some(&index)),
    ]));
    assert_eq!(drop_some(&mut host, &id, &["new.md"]), [""; 0]);
    assert_eq!(items(&mut host), []);
    assert_eq!(files(&host), Folder::new(&written_tree(), STORE).files());
}

#[test]
fn a_path_that_was_not_proposed_is_not_chosen() {
    let (mut host, id) = waiting(everything());
    for path in ["c.md", "../a.md", ""] {
        let paths = Some(vec!["a.md".to_owned(), path.to_owned()]);
        let apply = host.run(store().apply_proposal(id.clone(), paths.clone()));
        assert_eq!(apply.unwrap_err().code, ErrorCode::NotFound, "{path}");
        let drop = host.run(store().drop_proposal(id.clone(), paths));
        assert_eq!(drop.unwrap_err().code, ErrorCode::NotFound, "{path}");
    }
    assert_eq!(files(&host), Folder::new(&written_tree(), STORE).files());
    assert_eq!(apply_some(&mut host, &id, &[]).left.len(), 4);
    assert_eq!(items(&mut host)[0].changes.len(), 4);
}

#[test]
fn a_text_is_known_by_its_bytes() {
    let odd = "\u{FEFF}# odd\r\nno end";
    let mut tree = written_tree();
    tree.file("/mem/odd.md", odd);
    tree.file("/mem/latin.md", b"caf\xE9");
    let latin = change("latin.md", Some("another text"), Some("café\n"));
    let (mut host, id) = waiting_in(
        tree,
        proposal(vec![change("odd.md", Some(odd), Some("# odd\n")), latin]),
    );
    let result = apply(&mut host, &id);
    let expected = [
        ("odd.md", Outcome::Written),
        ("latin.md", Outcome::Conflict),
    ];
    assert_eq!(outcomes(&result), expected);
    assert_eq!(files(&host)["odd.md"], "# odd\n");
}

#[test]
fn nothing_is_no_proposal() {
    let mut host = SimHost::with_tree(3, written_tree());
    for changes in [
        vec![],
        vec![
            change("a.md", Some(OLD), Some(OLD)),
            change("x.md", None, None),
        ],
    ] {
        let id = host.run(store().propose(proposal(changes)));
        assert_eq!(id, Ok(None));
    }
    assert_eq!(host.tree, written_tree());
}

/// Changes that no run can make, and how they are refused.
fn impossible() -> Vec<(ErrorCode, Vec<ProposedChange>)> {
    let new = |path: &str| vec![change(path, None, Some("x\n"))];
    let mut lying = change("a.md", Some(OLD), Some("x\n"));
    lying.before = Some(checksum("what nobody was shown"));
    let mut unseen = change("a.md", Some(OLD), Some("x\n"));
    unseen.before = None;
    // What would go is to be shown.
    let mut hiding = change("a.md", Some(OLD), Some("x\n"));
    hiding.old = None;
    vec![
        (ErrorCode::InvalidArgument, vec![hiding]),
        (ErrorCode::InvalidArgument, new("agents/a.md")),
        (ErrorCode::InvalidArgument, new("x\u{1B}[2J.md")),
        (ErrorCode::PathOutsideStore, new("../a.md")),
        (ErrorCode::PathOutsideStore, new("/etc/a.md")),
        (ErrorCode::PathOutsideStore, new(".memdir/a.md")),
        (ErrorCode::PathOutsideStore, new("team/.memdir/a.md")),
        (ErrorCode::PathEmpty, new("")),
        (ErrorCode::PathNul, new("a\0.md")),
        (ErrorCode::InvalidArgument, new("a.txt")),
        (ErrorCode::InvalidArgument, new("sub/.md")),
        (
            ErrorCode::InvalidArgument,
            [new("x.md"), new("x.md")].concat(),
        ),
        (ErrorCode::InvalidArgument, vec![lying]),
        (ErrorCode::InvalidArgument, vec![unseen]),
        (
            ErrorCode::TooLarge,
            vec![change("x.md", None, Some(&"x".repeat(4 * 1024 * 1024 + 1)))],
        ),
    ]
}

#[test]
fn what_no_run_can_do_is_not_kept() {
    for (code, changes) in impossible() {
        let mut host = SimHost::with_tree(3, written_tree());
        let error = host.run(store().propose(proposal(changes))).unwrap_err();
        assert_eq!(error.code, code, "{error:?}");
        assert_eq!(host.tree, written_tree());
    }
}

#[test]
fn a_damaged_proposal_is_told_and_can_only_be_dropped() {
    let whole =
        |change: &ProposedChange| serde_json::to_string(&proposal(vec![change.clone()])).unwrap();
    let usual = whole(&change("a.md", Some(OLD), Some(BETTER)));
    let mut broken = vec![
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        "null".to_owned(),
        usual.get(..usual.len() / 2).unwrap().to_owned(),
        // What is missing is not "it is to go".
        usual.replace("\"new\"", "\"neu\""),
        usual.replace("\"before\"", "\"vorher\""),
        usual.replace("\"extract\"", "3"),
    ];
    // Somebody else may have written it.
    let impossible = impossible().into_iter();
    broken
        .extend(impossible.map(|(_, changes)| serde_json::to_string(&proposal(changes)).unwrap()));
    let id = format!("{NOW_MS:015}-ab-000");
    let file = format!("{STORE}/.memdir/inbox/{id}.json");
    for json in broken {
        let (mut host, sound) = waiting(everything());
        host.tree.file(&file, &json);
        let before = host.tree.clone();
        let inbox = host.run(store().inbox()).unwrap();
        let ids: Vec<&str> = inbox.items.iter().map(|item| item.id.as_str()).collect();
        assert_eq!(ids, [sound.as_str()], "{json:.80}");
        assert_eq!(inbox.report.len(), 1);
        let entry = &inbox.report[0];
        assert_eq!(entry.code, ReportCode::InboxDamaged);
        assert_eq!(entry.path, format!(".memdir/inbox/{id}.json"));
        for paths in [None, Some(vec!["a.md".to_owned()])] {
            let apply = host.run(store().apply_proposal(id.clone(), paths));
            assert_eq!(apply.unwrap_err().code, ErrorCode::NotText, "{json:.80}");
        }
        let drop = host.run(store().drop_proposal(id.clone(), Some(vec!["a.md".to_owned()])));
        assert_eq!(drop.unwrap_err().code, ErrorCode::NotText);
        assert_eq!(host.tree, before, "{json:.80}");
        assert_eq!(
            host.run(store().drop_proposal(id.clone(), None)),
            Ok(vec![])
        );
        assert_eq!(items(&mut host).len(), 1);
    }
}

#[test]
fn an_id_leads_nowhere_else() {
    let (mut host, _) = waiting(everything());
    host.tree.file("/mem/.memdir/secret.json", "{}");
    let before = host.tree.clone();
    for (id, code) in [
        ("", ErrorCode::InvalidArgument),
        (".", ErrorCode::InvalidArgument),
        ("..", ErrorCode::InvalidArgument),
        ("../secret", ErrorCode::InvalidArgument),
        ("a/b", ErrorCode::InvalidArgument),
        ("a\\b", ErrorCode::InvalidArgument),
        ("/mem/.memdir/secret", ErrorCode::InvalidArgument),
        ("a\0", ErrorCode::InvalidArgument),
        ("\u{202E}a", ErrorCode::InvalidArgument),
        ("000001773570600000-ab-000.json", ErrorCode::InvalidArgument),
        ("000001773570600000-ab-000", ErrorCode::NotFound),
    ] {
        let apply = host.run(store().apply_proposal(id.to_owned(), None));
        assert_eq!(apply.unwrap_err().code, code, "{id:?}");
        for paths in [None, Some(Vec::new())] {
            let drop = host.run(store().drop_proposal(id.to_owned(), paths));
            assert_eq!(drop.unwrap_err().code, code, "{id:?}");
        }
    }
    assert_eq!(host.tree, before);
}

#[test]
fn a_link_leads_no_proposal_out_of_the_store() {
    let mut tree = written_tree();
    tree.put("/elsewhere", Body::Folder);
    tree.link("/mem/.memdir/inbox", "/elsewhere");
    let mut host = SimHost::with_tree(3, tree.clone());
    assert!(host.run(store().propose(everything())).is_err());
    assert_eq!(host.tree, tree);
}

#[test]
fn a_store_without_an_inbox_has_nothing_waiting() {
    for tree in [Tree::new(), written_tree()] {
        let mut host = SimHost::with_tree(3, tree.clone());
        assert_eq!(items(&mut host), []);
        assert_eq!(host.tree, tree);
    }
}

#[test]
fn what_is_off_or_closed_does_nothing() {
    let options = OpenOptions {
        directory: Some(STORE.to_owned()),
        env: [("CLAUDE_CODE_DISABLE_AUTO_MEMORY".to_owned(), "1".to_owned())].into(),
        ..OpenOptions::default()
    };
    let closed = store();
    let (mut host, id) = waiting(everything());
    host.run(closed.close()).unwrap();
    let before = host.tree.clone();
    for (store, code) in [
        (Store::new(options), ErrorCode::Disabled),
        (closed, ErrorCode::Closed),
    ] {
        let propose = host.run(store.propose(everything()));
        assert_eq!(propose.unwrap_err().code, code);
        assert_eq!(host.run(store.inbox()).unwrap_err().code, code);
        let apply = host.run(store.apply_proposal(id.clone(), None));
        assert_eq!(apply.unwrap_err().code, code);
        let drop = host.run(store.drop_proposal(id.clone(), None));
        assert_eq!(drop.unwrap_err().code, code);
    }
    assert_eq!(host.tree, before);
}

#[test]
fn lint_says_what_waits() {
    let lint = |host: &mut SimHost| {
        let findings = host.run(store().lint()).unwrap().findings;
        let waiting = findings
            .into_iter()
            .filter(|finding| finding.code == ReportCode::InboxWaiting);
        let waiting: Vec<_> = waiting.map(|found| (found.path, found.message)).collect();
        waiting
    };
    let (mut host, id) = waiting(everything());
    let one = "1 proposal of a background run waits".to_owned();
    assert_eq!(lint(&mut host), [(String::new(), one)]);
    host.run(store().propose(everything())).unwrap();
    let two = "2 proposals of background runs wait".to_owned();
    assert_eq!(lint(&mut host), [(String::new(), two)]);
    apply(&mut host, &id);
    assert_eq!(lint(&mut host).len(), 1);
    let id = items(&mut host)[0].id.clone();
    assert_eq!(host.run(store().drop_proposal(id, None)), Ok(vec![]));
    assert_eq!(lint(&mut host), []);
}

/// A line of the index leads to a memory at any time.
fn leads_somewhere(host: &SimHost) -> bool {
    let files = files(host);
    let index = files.get("MEMORY.md").map_or("", String::as_str);
    let is_there = |name: &&str| !index.contains(&format!("({name})")) || files.contains_key(*name);
    ["a.md", "b.md", "sub/new.md"].iter().all(is_there)
}

/// Whether a failure says of a file that it is not there, which is then taken for true.
fn is_told_to_be_gone(effect: Option<&Effect>, kind: FaultKind) -> bool {
    let code = match kind {
        FaultKind::Fail(code) => code,
        _ => return false,
    };
    matches!(effect, Some(Effect::Lstat { .. } | Effect::Read { .. }))
        && matches!(code, FailureCode::NotFound | FailureCode::NotADirectory)
}

#[test]
fn whatever_happens_while_it_is_applied_it_can_be_applied_again() {
    let count = {
        let (mut host, id) = waiting(everything());
        apply(&mut host, &id);
        host.trace.len()
    };
    assert!(count > 60, "{count}");
    let failures = FAILURES.into_iter().map(FaultKind::Fail);
    let kinds: Vec<FaultKind> = [FaultKind::Cancel, FaultKind::Crash, FaultKind::Tear]
        .into_iter()
        .chain(failures)
        .collect();
    for at in 0..count {
        for kind in &kinds {
            let (mut host, id) = waiting(everything());
            host.faults.push(Fault { at, kind: *kind });
            let result = host.run_to_end(store().apply_proposal(id.clone(), None));
            let effect = host.trace.get(at).map(|traced| traced.effect.clone());
            let what = format!("{kind:?} at {at}, {effect:?}: {result:?}");
            host.faults.clear();
            if is_told_to_be_gone(effect.as_ref(), *kind) {
                continue;
            }
            assert!(leads_somewhere(&host), "{what}");
            if matches!(kind, FaultKind::Cancel)
                && let Some(result) = &result
            {
                let code = result.as_ref().map_err(|error| error.code).map(|_| ());
                assert_eq!(code, Err(ErrorCode::Aborted), "{what}");
            }
            // A dead writer's lock is waited for.
            let again = host.run(store().apply_proposal(id, None));
            match again {
                Ok(again) => {
                    let is_done = |result: &&str| again.left.iter().all(|left| left != result);
                    assert!(
                        ["a.md", "b.md", "sub/new.md", "MEMORY.md"]
                            .iter()
                            .all(is_done),
                        "{what}: {again:?}"
                    );
                }
                // All of it was done, and only the answer is missing.
                Err(error) => assert_eq!(error.code, ErrorCode::NotFound, "{what}"),
            }
            assert_eq!(files(&host), applied(), "{what}");
            assert_eq!(items(&mut host), [], "{what}");
            // What came to the trash while there was no clock is too old for it when there is one again.
            let is_kept = |text| Folder::new(&host.tree, STORE).holds(text);
            let is_timeless = matches!(effect, Some(Effect::Now));
            assert!(is_timeless || (is_kept(OLD) && is_kept(B)), "{what}");
        }
    }
}

#[test]
fn whatever_happens_while_it_is_kept_it_is_whole_or_not_there() {
    let count = {
        let mut host = SimHost::with_tree(3, written_tree());
        host.run(store().propose(everything())).unwrap();
        host.trace.len()
    };
    let failures = FAILURES.into_iter().map(FaultKind::Fail);
    let kinds: Vec<FaultKind> = [FaultKind::Cancel, FaultKind::Crash, FaultKind::Tear]
        .into_iter()
        .chain(failures)
        .collect();
    for at in 0..count {
        for kind in &kinds {
            let mut host = SimHost::with_tree(3, written_tree()).with_fault(at, *kind);
            let result = host.run_to_end(store().propose(everything()));
            let what = format!("{kind:?} at {at}: {result:?}");
            host.faults.clear();
            assert_eq!(
                files(&host),
                Folder::new(&written_tree(), STORE).files(),
                "{what}"
            );
            let waiting = items(&mut host);
            match result {
                Some(Ok(id)) => {
                    let id = id.unwrap();
                    assert_eq!(waiting.len(), 1, "{what}");
                    assert_eq!(waiting[0].id, id, "{what}");
                }
                _ => assert!(waiting.len() <= 1, "{what}"),
            }
            assert!(waiting.iter().all(|item| item.changes.len() == 4), "{what}");
            // What is left of it goes with a later write.
            host.clock_ms += 120_000;
            host.run(store().log("later".to_owned())).unwrap();
            let left = Folder::new(&host.tree, STORE).left_over();
            let is_removal = matches!(host.trace[at].effect, Effect::Remove { .. });
            assert!(left.is_empty() || is_removal, "{what}: {left:?}");
        }
    }
}

fn run(host: &mut SimHost, args: &[&str]) -> (u8, String, String) {
    host.stdout.clear();
    host.stderr.clear();
    let args = ["--dir", STORE].iter().chain(args);
    let code = host.run(command(CommandOptions {
        args: args.map(|arg| (*arg).to_owned()).collect(),
        ..CommandOptions::default()
    }));
    (code.unwrap(), host.stdout.clone(), host.stderr.clone())
}

#[test]
fn the_command_line_lists_shows_applies_and_drops() {
    let (mut host, id) = waiting(everything());
    host.clock_ms += 3 * 86_400_000;
    edit(&mut host, "a.md", "mine\n");
    let (code, out, err) = run(&mut host, &["inbox"]);
    let listed = format!(
        "{id}  3 days ago  extract\n  changed  MEMORY.md  +2 -2\n  created  sub/new.md  +6 -0\n  \
         changed  a.md  +1 -1  (changed since)\n  deleted  b.md  +0 -6\n"
    );
    assert_eq!((code, out, err), (0, listed, "proposals: 1\n".to_owned()));

    let (code, out, err) = run(&mut host, &["inbox", "show", &id]);
    assert_eq!(code, 0);
    assert!(
        out.starts_with("--- a/MEMORY.md\n+++ b/MEMORY.md\n@@ -1,3 +1,3 @@\n"),
        "{out}"
    );
    assert_eq!(err, "a.md: it has changed since the run saw it\n");

    let (code, out, err) = run(&mut host, &["inbox", "apply", &id]);
    assert_eq!(code, 1);
    assert_eq!(
        out,
        "applied: sub/new.md\napplied: b.md\napplied: MEMORY.md\n"
    );
    let told = "conflict: a.md: a.md is not what was expected: it has changed; read it again [exists]\n\
                still waits: a.md\n";
    assert_eq!(err, told);

    let (code, out, err) = run(&mut host, &["inbox", "drop", &id, "./a.md"]);
    assert_eq!(
        (code, out, err),
        (0, format!("dropped: {id}\n"), String::new())
    );
    let (code, _, err) = run(&mut host, &["inbox", "drop", &id]);
    assert_eq!(code, 1);
    assert!(err.ends_with("[not-found]\n"), "{err}");
    let (code, out, err) = run(&mut host, &["inbox"]);
    assert_eq!(
        (code, out.as_str(), err.as_str()),
        (0, "", "proposals: 0\n")
    );
}

#[test]
fn the_command_line_gives_json() {
    let (mut host, id) = waiting(everything());
    let json = |out: &str| serde_json::from_str::<serde_json::Value>(out).unwrap();
    let (_, out, _) = run(&mut host, &["inbox", "--json"]);
    let list = json(&out);
    assert_eq!(list["report"], serde_json::json!([]));
    assert_eq!(list["items"][0]["id"], id);
    assert_eq!(list["items"][0]["atMs"], NOW_MS);
    assert_eq!(list["items"][0]["changes"][1]["kind"], "created");
    assert_eq!(list["items"][0]["changes"][1]["isStale"], false);
    let (_, out, _) = run(&mut host, &["inbox", "show", &id, "--json"]);
    assert_eq!(json(&out), list["items"][0]);
    let (_, out, _) = run(&mut host, &["inbox", "drop", &id, "b.md", "--json"]);
    assert_eq!(
        json(&out),
        serde_json::json!({ "left": ["MEMORY.md", "sub/new.md", "a.md"] })
    );
    let (code, out, _) = run(&mut host, &["inbox", "apply", &id, "--json"]);
    let result = json(&out);
    assert_eq!((code, &result["left"]), (0, &serde_json::json!([])));
    assert_eq!(result["results"][0]["outcome"], "written");
}

#[test]
fn a_terminal_sees_no_hostile_character() {
    let hostile = "red \u{1B}[31m, back \u{202E}wards\u{9B}\r\n";
    let (mut host, id) = waiting(proposal(vec![
        change("x.md", None, Some(hostile)),
        change("empty.md", None, Some("")),
    ]));
    assert!(
        items(&mut host)[0].changes[0]
            .diff
            .ends_with(&format!("+{hostile}"))
    );
    for args in [
        vec!["inbox"],
        vec!["inbox", "show", &id],
        vec!["inbox", "apply", &id],
    ] {
        let (code, out, err) = run(&mut host, &args);
        assert_eq!(code, 0, "{err}");
        let is_hostile = |c: char| (c.is_control() && c != '\n') || c == '\u{202E}';
        assert!(!(out + &err).contains(is_hostile), "{args:?}");
    }
}
