//! Reading a transcript on the simulated machine: which file is read, in which pieces, and what is said
//! when it cannot be read, at each effect.

use memdir_core::ErrorCode;
use memdir_core::flow::{Effect, FailureCode};
use memdir_core::limits::TRANSCRIPT_CHUNK_BYTES;
use memdir_core::report::ReportCode;
use memdir_core::store::{OpenOptions, Store};
use memdir_core::transcript::Transcript;
use memdir_simulation::{Body, FaultKind, Progress, SimHost, Tree};

const LINE: &str = "{\"role\":\"user\",\"content\":\"é\"}\n";

fn store() -> Store {
    Store::new(OpenOptions {
        cwd: Some("/code/app".to_owned()),
        ..OpenOptions::default()
    })
}

fn tree() -> Tree {
    let mut tree = Tree::new();
    tree.file("/code/app/talk.jsonl", LINE.repeat(3));
    tree.file("/code/app/broken.jsonl", format!("{LINE}oops\n"));
    tree.file("/code/app/long.jsonl", long());
    tree.file("/code/app/empty.jsonl", "");
    tree.put("/code/app/fifo.jsonl", Body::Other);
    tree.put("/code/app/folder", Body::Folder);
    tree.link("/code/app/link.jsonl", "talk.jsonl");
    tree.link("/code/app/chain.jsonl", "/code/app/link.jsonl");
    tree.link("/code/app/gone.jsonl", "nowhere");
    tree.link("/code/app/pipe.jsonl", "fifo.jsonl");
    tree
}

/// Two pieces and a bit; a character lies across the first cut.
fn long() -> String {
    let chunk = usize::try_from(TRANSCRIPT_CHUNK_BYTES).unwrap_or_default();
    let line = |length: usize| {
        let frame = "{\"role\":\"user\",\"content\":\"\"}\n".len();
        format!(
            "{{\"role\":\"user\",\"content\":\"{}\"}}\n",
            "x".repeat(length - frame)
        )
    };
    let before = "{\"role\":\"user\",\"content\":\"".len();
    line(chunk - before - 1) + LINE + &line(chunk) + &line(100)
}

fn read(path: &str) -> Result<Transcript, ErrorCode> {
    let mut host = SimHost::with_tree(3, tree());
    let transcript = host.run(store().transcript(path.to_owned()));
    assert_eq!(host.tree, tree(), "reading never writes");
    transcript.map_err(|error| {
        assert!(!error.message.contains('\n'), "{error}");
        error.code
    })
}

#[test]
fn a_file_is_found_and_read() {
    for path in [
        "talk.jsonl",
        "/code/app/talk.jsonl",
        "./talk.jsonl",
        "../app/talk.jsonl",
        "link.jsonl",
        "chain.jsonl",
    ] {
        let transcript = read(path).unwrap_or_else(|code| panic!("{path}: {code:?}"));
        assert_eq!(
            (transcript.messages.len(), transcript.report.len()),
            (3, 0),
            "{path}"
        );
    }
    assert_eq!(
        read("empty.jsonl").map(|transcript| transcript.messages.len()),
        Ok(0)
    );
    let broken = read("broken.jsonl").unwrap_or_else(|code| panic!("{code:?}"));
    let report = broken
        .report
        .iter()
        .map(|entry| (entry.path.as_str(), entry.code));
    assert_eq!(
        report.collect::<Vec<_>>(),
        [("/code/app/broken.jsonl", ReportCode::BrokenLine)]
    );
}

#[test]
fn what_is_no_file_is_not_opened() {
    for (path, code) in [
        ("none.jsonl", ErrorCode::NotFound),
        ("gone.jsonl", ErrorCode::NotFound),
        ("talk.jsonl/x", ErrorCode::NotADirectory),
        ("folder", ErrorCode::IsADirectory),
        ("/", ErrorCode::IsADirectory),
        ("fifo.jsonl", ErrorCode::Unsupported),
        ("pipe.jsonl", ErrorCode::Unsupported),
        ("", ErrorCode::InvalidArgument),
    ] {
        assert_eq!(read(path).map(|_| ()), Err(code), "{path}");
    }
    let mut host = SimHost::with_tree(3, tree());
    let nowhere = Store::new(OpenOptions::default());
    let error = host
        .run(nowhere.transcript("talk.jsonl".to_owned()))
        .map(|_| ());
    assert_eq!(
        error.map_err(|error| error.code),
        Err(ErrorCode::InvalidArgument)
    );
    let transcript = host.run(nowhere.transcript("/code/app/talk.jsonl".to_owned()));
    assert_eq!(
        transcript.map(|transcript| transcript.messages.len()),
        Ok(3)
    );
}

#[test]
fn the_store_does_not_matter_unless_it_is_closed() {
    let mut host = SimHost::with_tree(3, tree());
    let mut options = OpenOptions {
        cwd: Some("/code/app".to_owned()),
        ..OpenOptions::default()
    };
    options
        .env
        .insert("CLAUDE_CODE_DISABLE_AUTO_MEMORY".to_owned(), "1".to_owned());
    let store = Store::new(options);
    let transcript = host.run(store.transcript("talk.jsonl".to_owned()));
    assert_eq!(
        transcript.map(|transcript| transcript.messages.len()),
        Ok(3)
    );
    assert_eq!(host.run(store.close()), Ok(()));
    let error = host
        .run(store.transcript("talk.jsonl".to_owned()))
        .map(|_| ());
    assert_eq!(error.map_err(|error| error.code), Err(ErrorCode::Closed));
}

#[test]
fn a_long_file_is_read_in_pieces() {
    let mut host = SimHost::with_tree(3, tree());
    let transcript = host.run(store().transcript("long.jsonl".to_owned()));
    let transcript = transcript.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((transcript.messages.len(), transcript.report.len()), (4, 0));
    let pieces = host.trace.iter().filter_map(|traced| match &traced.effect {
        Effect::Read { offset, length, .. } => Some((*offset, *length)),
        _ => None,
    });
    let size = long().len() as u64;
    let chunk = TRANSCRIPT_CHUNK_BYTES;
    assert_eq!(
        pieces.collect::<Vec<_>>(),
        [(0, chunk), (chunk, chunk), (2 * chunk, size - 2 * chunk)]
    );
}

/// Whoever writes the file goes on while it is read, or makes it shorter.
#[test]
fn a_file_that_changes_meanwhile_is_read_as_far_as_it_reached() {
    let changes: [(fn() -> String, usize); 2] = [(|| long() + LINE, 4), (|| LINE.to_owned(), 1)];
    for (after, messages) in changes {
        let mut host = SimHost::with_tree(3, tree());
        let mut running = host.start(store().transcript("long.jsonl".to_owned()));
        let transcript = loop {
            match host.step(&mut running) {
                Progress::Working => {}
                Progress::Ended(result) => break result,
                Progress::Crashed => panic!("there is no crash"),
            }
            let looked = |effect: &Effect| matches!(effect, Effect::Lstat { path } if path.ends_with("long.jsonl"));
            if host.trace.iter().any(|traced| looked(&traced.effect)) {
                host.tree.file("/code/app/long.jsonl", after());
            }
        };
        assert_eq!(
            transcript.map(|transcript| transcript.messages.len()),
            Ok(messages)
        );
    }
}

#[test]
fn every_failure_is_told_and_a_cancellation_is_one() {
    let mut plain = SimHost::with_tree(3, tree());
    let wanted = plain.run(store().transcript("long.jsonl".to_owned()));
    assert!(wanted.is_ok());
    assert!(plain.trace.len() >= 6, "{}", plain.trace.len());
    for at in 0..plain.trace.len() {
        for (kind, code) in [
            (
                FaultKind::Fail(FailureCode::Permission),
                ErrorCode::Permission,
            ),
            (FaultKind::Fail(FailureCode::Other), ErrorCode::Other),
            (FaultKind::Cancel, ErrorCode::Aborted),
        ] {
            let mut host = SimHost::with_tree(3, tree()).with_fault(at, kind);
            let result = host.run(store().transcript("long.jsonl".to_owned()));
            assert_eq!(
                result.map(|_| ()).map_err(|error| error.code),
                Err(code),
                "{at} {kind:?}"
            );
            assert_eq!(host.tree, tree());
        }
    }
}
