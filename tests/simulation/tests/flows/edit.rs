//! `memdir edit`, `memdir instructions` and `memdir context` on the simulated machine.

use memdir_core::cli::{CommandOptions, command};
use memdir_core::flow::{Effect, Failure, FailureCode, Outcome};
use memdir_core::instructions::{ContextKind, InstructionsOptions, LoadKind, LoadOutcome};
use memdir_core::report::ReportCode;
use memdir_core::store::{Features, OpenOptions, Store};
use memdir_simulation::{FaultKind, SimHost, Tree};

const STORE: &str = "/home/ada/.claude/projects/-code-app/memory";

fn tree() -> Tree {
    let mut tree = Tree::new();
    tree.file("/code/app/.git/HEAD", "ref: refs/heads/main\n");
    tree.file("/code/app/CLAUDE.md", "project @docs/a.md @gone.md");
    tree.file("/code/app/docs/a.md", "a\nb");
    tree.file(
        "/code/app/.claude/rules/ts.md",
        "---\npaths: '*.ts'\n---\nrule",
    );
    tree.file(format!("{STORE}/MEMORY.md"), "- [Tea](tea.md) likes tea\n");
    tree.file(
        format!("{STORE}/tea.md"),
        "---\nname: Tea\ndescription: d\ntype: user\n---\nx\n",
    );
    tree.file("/code/app/.claude/agent-memory/reviewer/a.md", "x");
    tree
}

struct Ran {
    code: u8,
    stdout: String,
    stderr: String,
    tree: Tree,
    opened: Vec<Vec<String>>,
}

/// Runs a command; its editors are those named, and each writes into the file that it is given.
fn run(args: &[&str], env: &[(&str, &str)], stdin: &str, editors: &'static [&'static str]) -> Ran {
    let mut host = SimHost::with_tree(2, tree());
    host.stdin = stdin.as_bytes().to_vec();
    let opened = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let heard = opened.clone();
    host.script = Some(Box::new(move |effect, _| {
        let Effect::OpenEditor { argv } = effect else {
            return None;
        };
        let code = match argv.first().map(String::as_str) {
            _ if editors.is_empty() => FailureCode::Unsupported,
            Some(program) if editors.contains(&program) => {
                heard.borrow_mut().push(argv.clone());
                return Some(Outcome::Done);
            }
            _ => FailureCode::NotFound,
        };
        Some(Outcome::Failed(Failure::new(code, "no such program")))
    }));
    let env = env
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let options = CommandOptions {
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        cwd: Some("/code/app".to_owned()),
        home: Some("/home/ada".to_owned()),
        env: env.collect(),
    };
    let code = host.run(command(options)).unwrap_or(255);
    let opened = opened.borrow().clone();
    Ran {
        code,
        stdout: host.stdout,
        stderr: host.stderr,
        tree: host.tree,
        opened,
    }
}

const VIM: &[&str] = &["vim"];

#[test]
fn it_lists_what_there_is_and_opens_what_is_chosen() {
    let ran = run(&["edit"], &[("EDITOR", "vim -n")], "2\n", VIM);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "  1  /home/ada/.claude/CLAUDE.md (the user's instructions, new)",
            "  2  /code/app/CLAUDE.md (the project's instructions)",
            "  3    /code/app/docs/a.md (imported)",
            "  4  /code/app/.claude/rules/ts.md (rule)",
            "  5  /home/ada/.claude/projects/-code-app/memory/MEMORY.md (index of the memories)",
            "  6  /home/ada/.claude/projects/-code-app/memory/tea.md (memory)",
            "  7  /code/app/.claude/agent-memory/reviewer (folder of an agent)",
        ]
    );
    assert_eq!(
        (ran.code, ran.opened),
        (
            0,
            vec![
                ["vim", "-n", "/code/app/CLAUDE.md"]
                    .map(str::to_owned)
                    .to_vec()
            ]
        )
    );
    assert!(
        ran.stderr
            .contains("/code/app/CLAUDE.md was opened with vim (EDITOR); set VISUAL or EDITOR"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.tree, tree(), "nothing was made");

    for (name, path) in [
        ("tea.md", format!("{STORE}/tea.md")),
        ("MEMORY.md", format!("{STORE}/MEMORY.md")),
        ("CLAUDE.md", "/code/app/CLAUDE.md".to_owned()),
        ("docs/a.md", "/code/app/docs/a.md".to_owned()),
        (
            "/code/app/.claude/rules/ts.md",
            "/code/app/.claude/rules/ts.md".to_owned(),
        ),
        ("7", "/code/app/.claude/agent-memory/reviewer".to_owned()),
    ] {
        let ran = run(
            &["edit", name],
            &[("VISUAL", "vim"), ("EDITOR", "no")],
            "",
            VIM,
        );
        assert_eq!(ran.opened, [["vim".to_owned(), path]], "{name}");
        assert!(ran.stdout.is_empty());
    }
}

#[test]
fn a_file_that_is_not_there_is_made_and_one_that_comes_meanwhile_stays() {
    let ran = run(&["edit", "1"], &[("EDITOR", "vim")], "", VIM);
    assert_eq!(ran.code, 0);
    let mut wanted = tree();
    wanted.file("/home/ada/.claude/CLAUDE.md", "");
    let names = |tree: &Tree| tree.nodes().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&ran.tree), names(&wanted));

    let mut host = SimHost::with_tree(2, tree());
    host.script = Some(Box::new(|effect, tree| match effect {
        Effect::Write { path, .. } => {
            tree.file(path, "made by somebody else");
            None
        }
        Effect::OpenEditor { .. } => Some(Outcome::Done),
        _ => None,
    }));
    let options = CommandOptions {
        args: vec!["edit".to_owned(), "1".to_owned()],
        cwd: Some("/code/app".to_owned()),
        home: Some("/home/ada".to_owned()),
        ..CommandOptions::default()
    };
    assert_eq!(host.run(command(options)), Ok(0));
    let mut wanted = tree();
    wanted.file("/home/ada/.claude/CLAUDE.md", "made by somebody else");
    assert_eq!(names(&host.tree), names(&wanted));
    let content = |tree: &Tree| {
        format!(
            "{:?}",
            tree.nodes()
                .get("/home/ada/.claude/CLAUDE.md".as_bytes())
                .map(|node| node.body.clone())
        )
    };
    assert_eq!(content(&host.tree), content(&wanted));
}

#[test]
fn cancelling_and_what_cannot_be_opened_are_said() {
    for stdin in ["", "\n", "  \n"] {
        let ran = run(&["edit"], &[("EDITOR", "vim")], stdin, VIM);
        assert_eq!((ran.code, ran.opened.len()), (0, 0));
        assert!(
            ran.stderr.contains("cancelled; nothing was opened"),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.tree, tree());
    }
    let said = |args: &[&str], env: &[(&str, &str)], editors| {
        let ran = run(args, env, "", editors);
        assert_eq!(ran.code, 1, "{args:?}");
        ran.stderr
    };
    assert!(
        said(&["edit", "nothing.md"], &[], VIM).contains("nothing called \"nothing.md\" to edit")
    );
    assert!(said(&["edit", "99"], &[], VIM).contains("[not-found]"));
    assert!(
        said(&["edit", "a.md"], &[("EDITOR", "gone")], VIM)
            .contains("the editor \"gone\" (EDITOR)")
    );
    assert!(said(&["edit", "a.md"], &[], VIM).contains("there is no editor; set VISUAL or EDITOR"));
    assert!(
        said(&["edit", "a.md"], &[], &[])
            .contains("an editor is not available here; open \"/code/app/docs/a.md\"")
    );
    // A file that nobody has written into does not stay.
    let ran = run(&["edit", "1"], &[("EDITOR", "gone")], "", VIM);
    let names = |tree: &Tree| tree.nodes().keys().cloned().collect::<Vec<_>>();
    assert!(!names(&ran.tree).contains(&b"/home/ada/.claude/CLAUDE.md".to_vec()));
    let ran = run(
        &["edit", "a.md"],
        &[("EDITOR", "  "), ("VISUAL", "''")],
        "",
        &["vi"],
    );
    assert_eq!(
        (ran.code, ran.opened),
        (
            0,
            vec![vec!["vi".to_owned(), "/code/app/docs/a.md".to_owned()]]
        )
    );
}

#[test]
fn instructions_are_shown_as_table_tree_text_and_json() {
    let table = run(&["instructions"], &[], "", VIM);
    assert_eq!(
        table.stdout.lines().collect::<Vec<_>>(),
        [
            "STATUS       SOURCE          LINES  BYTES  FILE",
            "loaded       project file        1     27  /code/app/CLAUDE.md",
            "loaded       project import      2      3  /code/app/docs/a.md (imported by /code/app/CLAUDE.md)",
            "skipped      project import      -      -  /code/app/gone.md (imported by /code/app/CLAUDE.md): there is no such file; correct the import, or put it in code marks when it is none [import-missing]",
            "conditional  project rule        4     26  /code/app/.claude/rules/ts.md (for *.ts)",
            "loaded: 2, conditional: 1, skipped: 1",
        ]
    );
    let tree = run(&["instructions", "--tree"], &[], "", VIM);
    assert_eq!(
        tree.stdout.lines().take(3).collect::<Vec<_>>(),
        [
            "/code/app/CLAUDE.md",
            "  /code/app/docs/a.md",
            "  [skipped] /code/app/gone.md: there is no such file; correct the import, or put it in code marks when it is none [import-missing]",
        ]
    );
    let text = run(&["instructions", "--text"], &[], "", VIM);
    assert!(text.stdout.ends_with("project @docs/a.md @gone.md\n\nContents of /code/app/docs/a.md (instructions of the project, checked in with it):\n\na\nb\n"), "{}", text.stdout);
    assert!(text.stderr.contains("[import-missing]"));
    let near = run(&["instructions", "--text", "src/a.ts"], &[], "", VIM);
    assert!(
        near.stdout.contains("about files that match *.ts") && near.stdout.ends_with("\n\nrule\n"),
        "{}",
        near.stdout
    );
    let json = run(&["instructions", "--json"], &[], "", VIM);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["files"].as_array().map(Vec::len), Some(2));
    assert_eq!(json["report"][2]["code"], "import-missing");
    let context = run(&["context"], &[], "", VIM);
    for part in [
        "# Instructions",
        "# Memory",
        "## MEMORY.md",
        "- [Tea](tea.md) likes tea",
    ] {
        assert!(context.stdout.contains(part), "{part}");
    }
    assert_eq!(run(&["scan", "--agents-md"], &[], "", VIM).code, 2);
}

#[test]
fn a_context_has_its_parts_in_order_and_stays_to_the_byte() {
    let mut tree = tree();
    tree.file(
        format!("{STORE}/team/MEMORY.md"),
        "- [Deploys](deploys.md) on Fridays\n",
    );
    let mut host = SimHost::with_tree(2, tree);
    let store = Store::new(OpenOptions {
        cwd: Some("/code/app".to_owned()),
        home: Some("/home/ada".to_owned()),
        features: Features {
            team: true,
            ..Features::default()
        },
        ..OpenOptions::default()
    });
    let first = host
        .run(store.context(InstructionsOptions::default()))
        .unwrap();
    let kinds: Vec<ContextKind> = first.parts.iter().map(|part| part.kind).collect();
    assert_eq!(
        kinds,
        [
            ContextKind::Instructions,
            ContextKind::Memory,
            ContextKind::Index,
            ContextKind::TeamIndex
        ]
    );
    let texts: Vec<&str> = first.parts.iter().map(|part| part.text.as_str()).collect();
    assert_eq!(first.text, texts.join("\n\n"));
    assert!(!texts[1].contains("likes tea") && texts[2].contains("likes tea"));
    assert!(
        texts[3].contains("<untrusted source=\"team memory\">"),
        "{}",
        texts[3]
    );
    let indexes: Vec<_> = first
        .report
        .iter()
        .filter(|entry| entry.kind == LoadKind::Index)
        .collect();
    assert_eq!(indexes.len(), 2);
    assert!(
        indexes
            .iter()
            .all(|entry| entry.outcome == LoadOutcome::Loaded && entry.lines == Some(1))
    );

    host.tree.file("/code/app/CLAUDE.md", "changed");
    host.tree
        .file(format!("{STORE}/MEMORY.md"), "- [A](a.md) x\n".repeat(300));
    assert_eq!(
        host.run(store.context(InstructionsOptions::default()))
            .unwrap(),
        first
    );
    store.compacted();
    let second = host
        .run(store.context(InstructionsOptions::default()))
        .unwrap();
    assert!(second.text.contains("changed") && !second.text.contains("likes tea"));
    let notes: Vec<ReportCode> = second
        .report
        .iter()
        .flat_map(|entry| &entry.notes)
        .map(|note| note.code)
        .collect();
    assert_eq!(notes, [ReportCode::IndexOverLimit]);
}

#[test]
fn an_edit_that_is_cancelled_leaves_no_empty_file() {
    let start = |at: Option<usize>| {
        let mut host = SimHost::with_tree(2, tree());
        if let Some(at) = at {
            host = host.with_fault(at, FaultKind::Cancel);
        }
        host.script = Some(Box::new(|effect, _| {
            matches!(effect, Effect::OpenEditor { .. }).then_some(Outcome::Done)
        }));
        let options = CommandOptions {
            args: vec!["edit".to_owned(), "1".to_owned()],
            cwd: Some("/code/app".to_owned()),
            home: Some("/home/ada".to_owned()),
            ..CommandOptions::default()
        };
        let ended = host.run(command(options));
        (host, ended)
    };
    let (plain, _) = start(None);
    let opened = plain
        .trace
        .iter()
        .position(|traced| matches!(traced.effect, Effect::OpenEditor { .. }))
        .unwrap();
    for at in 0..=opened {
        let (host, ended) = start(Some(at));
        assert!(ended.is_err(), "{at}");
        let file = b"/home/ada/.claude/CLAUDE.md".as_slice();
        assert!(!host.tree.nodes().contains_key(file), "{at}");
    }
}
