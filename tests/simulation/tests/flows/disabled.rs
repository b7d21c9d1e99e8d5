//! Off means off (facts 2): nothing is created and nothing read beyond what says so. And a closed
//! store does nothing at all.

use memdir_core::ErrorCode;
use memdir_core::flow::Effect;
use memdir_core::paths::EnabledBecause as Because;
use memdir_core::report::ReportCode as Code;
use memdir_core::store::{OpenOptions, PromptOptions, Store};
use memdir_simulation::{Body, SimHost, Tree};

const STORE: &str = "/home/ada/.claude/projects/-code-app/memory";
const OFF: &str = "{\"autoMemoryEnabled\": false}";
const GOOD: &str = "---\nname: good\ndescription: d\ntype: user\n---\nBody\n";

fn options(pairs: &[(&str, &str)]) -> OpenOptions {
    let pairs = pairs.iter();
    OpenOptions {
        cwd: Some("/code/app".to_owned()),
        home: Some("/home/ada".to_owned()),
        env: pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..OpenOptions::default()
    }
}

fn tree(files: &[(&str, &str)]) -> Tree {
    let mut tree = Tree::new();
    tree.put("/code/app/.git", Body::Folder);
    tree.put("/home/ada", Body::Folder);
    for (path, text) in files {
        tree.file(path, text);
    }
    tree
}

/// A store with something in it.
fn full(files: &[(&str, &str)]) -> Tree {
    let mut tree = tree(files);
    tree.file(format!("{STORE}/MEMORY.md"), "- [good](good.md)\n");
    tree.file(format!("{STORE}/good.md"), GOOD);
    tree.file(format!("{STORE}/.memdir/origin"), "{\"path\": \"/other\"}");
    tree
}

/// How a store is opened, with which settings files, and why memory is then off.
type Off = (
    OpenOptions,
    &'static [(&'static str, &'static str)],
    Because,
);

/// Every way in which memory is off, and what the store then says decided it.
fn off() -> Vec<Off> {
    let given = OpenOptions {
        directory: Some(STORE.to_owned()),
        ..options(&[("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1")])
    };
    let flag = OpenOptions {
        settings: Some(OFF.to_owned()),
        ..options(&[])
    };
    vec![
        (
            options(&[("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1")]),
            &[],
            Because::EnvDisabled,
        ),
        (
            options(&[("CLAUDE_CODE_DISABLE_AUTO_MEMORY", " YES ")]),
            &[],
            Because::EnvDisabled,
        ),
        (given, &[], Because::EnvDisabled),
        (
            options(&[("CLAUDE_CODE_SIMPLE", "1")]),
            &[],
            Because::SimpleMode,
        ),
        (
            options(&[("CLAUDE_CODE_SAFE_MODE", "true")]),
            &[],
            Because::SafeMode,
        ),
        (
            options(&[("CLAUDE_CODE_REMOTE", "on")]),
            &[],
            Because::RemoteWithoutFolder,
        ),
        (flag, &[], Because::SettingsFlag),
        (
            options(&[]),
            &[("/home/ada/.claude/settings.json", OFF)],
            Because::SettingsUser,
        ),
        (
            options(&[]),
            &[("/code/app/.claude/settings.json", OFF)],
            Because::SettingsProject,
        ),
    ]
}

/// Whether an effect only finds out whether memory is on, and for which project.
fn is_about_the_switch(effect: &Effect) -> bool {
    match effect {
        Effect::HostInfo => true,
        Effect::RealPath { path }
        | Effect::Stat { path }
        | Effect::Lstat { path }
        | Effect::Read { path, .. } => path.contains("settings") || path.ends_with("/.git"),
        _ => false,
    }
}

#[test]
fn a_store_that_is_off_is_not_looked_into() {
    for (options, files, because) in off() {
        for tree in [tree(files), full(files)] {
            let mut host = SimHost::with_tree(1, tree.clone());
            let store = Store::new(options.clone());
            let opened = host.run(store.open()).unwrap();
            assert_eq!((opened.enabled, opened.because), (false, because));
            assert_eq!(opened.directory, format!("{STORE}/"), "{because:?}");

            assert_eq!(host.run(store.prompt(PromptOptions::default())), Ok(None));
            let scan = host.run(store.scan()).unwrap();
            assert_eq!(scan.memories, []);
            let codes: Vec<Code> = scan.report.iter().map(|entry| entry.code).collect();
            assert_eq!(codes, [Code::Disabled], "{because:?}");
            assert_eq!(host.run(store.manifest()).unwrap(), "");
            let error = host.run(store.read("good.md".into())).unwrap_err();
            assert_eq!(error.code, ErrorCode::Disabled, "{because:?}");
            assert!(error.message.contains(&because.name()), "{}", error.message);
            let findings = host.run(store.lint()).unwrap().findings;
            let codes: Vec<Code> = findings.iter().map(|finding| finding.code).collect();
            assert_eq!(codes, [Code::Disabled], "{because:?}");

            assert_eq!(host.tree, tree, "{because:?}: nothing is created");
            for traced in &host.trace {
                assert!(
                    is_about_the_switch(&traced.effect),
                    "{because:?}: {:?}",
                    traced.effect
                );
            }
            assert_eq!(host.events, []);
        }
    }
}

#[test]
fn a_false_word_forces_memory_on() {
    for word in ["0", "false", "No", " off "] {
        let options = options(&[
            ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", word),
            ("CLAUDE_CODE_SIMPLE", "1"),
            ("CLAUDE_CODE_REMOTE", "1"),
        ]);
        let mut tree = tree(&[
            ("/home/ada/.claude/settings.json", OFF),
            ("/etc/claude-code/managed-settings.json", OFF),
        ]);
        tree.file(format!("{STORE}/good.md"), GOOD);
        let mut host = SimHost::with_tree(1, tree);
        let store = Store::new(options);
        let opened = host.run(store.open()).unwrap();
        assert_eq!(
            (opened.enabled, opened.because),
            (true, Because::EnvForced),
            "{word:?}"
        );
        assert_eq!(host.run(store.scan()).unwrap().memories.len(), 1);
        let prompt = host.run(store.prompt(PromptOptions::default())).unwrap();
        assert!(prompt.is_some_and(|text| text.contains(STORE)), "{word:?}");
        assert!(host.run(store.read("good.md".into())).is_ok());
    }
    // Neither word decides.
    for word in ["", " ", "2", "enabled"] {
        let options = options(&[("CLAUDE_CODE_DISABLE_AUTO_MEMORY", word)]);
        let opened = SimHost::with_tree(1, tree(&[])).run(Store::new(options).open());
        assert_eq!(opened.unwrap().because, Because::Default, "{word:?}");
    }
}

#[test]
fn memory_that_is_kept_out_of_the_context_has_no_prompt() {
    let tree = full(&[]);
    let mut host = SimHost::with_tree(1, tree.clone());
    let store = Store::new(OpenOptions {
        directory: Some(STORE.to_owned()),
        ..options(&[("CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1")])
    });
    assert_eq!(host.run(store.prompt(PromptOptions::default())), Ok(None));
    assert_eq!(host.tree, tree);
    assert_eq!(host.run(store.scan()).unwrap().memories.len(), 1);
}

#[test]
fn a_closed_store_does_nothing() {
    for used in [false, true] {
        let mut host = SimHost::with_tree(1, full(&[]));
        let store = Store::new(options(&[]));
        if used {
            assert!(host.run(store.scan()).is_ok());
            assert!(host.run(store.prompt(PromptOptions::default())).is_ok());
        }
        let waiting = store.scan();
        let performed = host.trace.len();
        let copy = store.clone();
        for _ in 0..2 {
            assert_eq!(host.run(store.close()), Ok(()));
        }
        let closed = |result: Option<ErrorCode>| assert_eq!(result, Some(ErrorCode::Closed));
        closed(host.run(waiting).err().map(|error| error.code));
        for store in [store, copy] {
            closed(host.run(store.open()).err().map(|error| error.code));
            closed(host.run(store.scan()).err().map(|error| error.code));
            closed(host.run(store.manifest()).err().map(|error| error.code));
            closed(host.run(store.lint()).err().map(|error| error.code));
            let read = host.run(store.read("good.md".into()));
            closed(read.err().map(|error| error.code));
            let prompt = host.run(store.prompt(PromptOptions::default()));
            closed(prompt.err().map(|error| error.code));
            store.compacted();
        }
        assert_eq!(host.trace.len(), performed, "nothing is asked of the host");
    }
}
