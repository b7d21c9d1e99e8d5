//! The simulated host itself: what the flows are tested on must behave like a machine.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use memdir_core::flow::{
    Bytes, Content, Effect, FailureCode, FileKind, Flow, HttpAnswer, Outcome, Stream, probe,
};
use memdir_simulation::{Attempt, Body, FaultKind, Network, Progress, SimHost};

fn one(host: &mut SimHost, effect: Effect) -> Outcome {
    host.run(probe(vec![effect])).unwrap().remove(0)
}

fn code(host: &mut SimHost, effect: Effect) -> Option<FailureCode> {
    match one(host, effect) {
        Outcome::Failed(failure) => Some(failure.code),
        _ => None,
    }
}

fn write(path: &str, text: &str, via: Option<&str>) -> Effect {
    Effect::Write {
        path: path.into(),
        within: None,
        content: Content::Text(text.into()),
        via: via.map(str::to_owned),
        mode: 0o600,
        sync: false,
    }
}

fn read(path: &str) -> Effect {
    Effect::Read {
        path: path.into(),
        within: None,
        offset: 0,
        length: 100,
    }
}

fn real(path: &str) -> Effect {
    Effect::RealPath { path: path.into() }
}

fn http(timeout_ms: u64, max_bytes: u64) -> Effect {
    Effect::Http {
        method: "GET".into(),
        url: "http://team/".into(),
        headers: vec![],
        body: None,
        timeout_ms,
        max_bytes,
    }
}

#[test]
fn paths_resolve_as_on_posix() {
    let mut host = SimHost::new(0);
    host.tree.file("/a/b/f.md", "text");
    host.tree.link("/a/up", "../a/b/");
    host.tree.link("/a/root", "/a");
    host.tree.link("/a/dangling", "nowhere/x");
    host.tree.link("/a/missing", "nowhere");
    host.tree.link("/a/self", "self");
    host.tree.file(b"/a/\xFFdir/f.md", "x");
    host.tree.link("/a/strange", b"\xFFdir");
    host.tree.put("/closed/f.md", Body::File(vec![]));
    host.tree.put("/closed", Body::Folder).mode(0o600);

    let text = |path: &str| Outcome::Text(path.into());
    assert_eq!(
        one(&mut host, real("/a/root/up/../b/./f.md")),
        text("/a/b/f.md")
    );
    assert_eq!(one(&mut host, real("/../a//up/")), text("/a/b"));
    assert_eq!(one(&mut host, real("/")), text("/"));
    for (path, wanted) in [
        ("/a/dangling", FailureCode::NotFound),
        ("/a/missing", FailureCode::NotFound),
        ("/a/self", FailureCode::Loop),
        ("/a/self/x", FailureCode::Loop),
        ("/a/b/f.md/x", FailureCode::NotADirectory),
        ("/a/b/f.md/..", FailureCode::NotADirectory),
        ("/a/b/f.md/", FailureCode::NotADirectory),
        ("/a/x/../b", FailureCode::NotFound),
        ("/a/strange", FailureCode::InvalidName),
        ("/a/b\0", FailureCode::InvalidName),
        ("/closed/f.md", FailureCode::Permission),
        ("a/b", FailureCode::NotFound),
        (&format!("/a/{}", "n".repeat(256)), FailureCode::NameTooLong),
    ] {
        assert_eq!(code(&mut host, real(path)), Some(wanted), "{path:?}");
    }
    let Outcome::Stat(link) = one(
        &mut host,
        Effect::Lstat {
            path: "/a/up".into(),
        },
    ) else {
        panic!("no stat")
    };
    let Outcome::Stat(target) = one(
        &mut host,
        Effect::Stat {
            path: "/a/up".into(),
        },
    ) else {
        panic!("no stat")
    };
    assert_eq!(
        (link.kind, target.kind),
        (FileKind::Link, FileKind::Directory)
    );
    assert_eq!(
        one(
            &mut host,
            Effect::ReadLink {
                path: "/a/up".into()
            }
        ),
        text("../a/b/")
    );
    assert_eq!(code(&mut host, read("/a/self")), Some(FailureCode::Loop));
    assert_eq!(
        code(&mut host, read("/a/b")),
        Some(FailureCode::IsADirectory)
    );
}

#[test]
fn a_chain_of_links_ends_at_forty() {
    let mut host = SimHost::new(0);
    host.tree.file("/0", "end");
    for link in 1..=41 {
        host.tree.link(format!("/{link}"), (link - 1).to_string());
    }
    assert_eq!(code(&mut host, real("/40")), None);
    assert_eq!(code(&mut host, real("/41")), Some(FailureCode::Loop));
}

#[test]
fn files_are_created_replaced_renamed_and_removed() {
    let mut host = SimHost::new(0);
    let dir = |path: &str| Effect::MakeDir {
        path: path.into(),
        within: None,
        mode: 0o700,
    };
    let remove = |path: &str| Effect::Remove {
        path: path.into(),
        within: None,
    };
    let rename = |from: &str, to: &str| Effect::Rename {
        from: from.into(),
        to: to.into(),
        within: None,
        replace: true,
        sync: false,
    };
    let script = [
        (dir("/s/t"), None),
        (dir("/s/t/"), None),
        (write("/s/a", "one", None), None),
        (write("/s/a", "two", None), Some(FailureCode::Exists)),
        (write("/s/a", "two", Some("/s/tmp")), None),
        (
            write("/s/t", "two", Some("/s/tmp")),
            Some(FailureCode::IsADirectory),
        ),
        (write("/x/a", "two", None), Some(FailureCode::NotFound)),
        (dir("/s/a"), Some(FailureCode::Exists)),
        (dir("/s/a/b"), Some(FailureCode::NotADirectory)),
        (
            Effect::Append {
                path: "/s/a".into(),
                content: Content::Text("+".into()),
                mode: 0o600,
            },
            None,
        ),
        (remove("/s"), Some(FailureCode::NotEmpty)),
        (rename("/s/a", "/s/t"), Some(FailureCode::IsADirectory)),
        (rename("/s", "/s/t/s"), Some(FailureCode::Other)),
        (rename("/s", "/r"), None),
        (
            Effect::SetMtime {
                path: "/r/a".into(),
                mtime_ms: 5,
            },
            None,
        ),
        (remove("/r/t"), None),
        (remove("/r/t"), Some(FailureCode::NotFound)),
    ];
    for (effect, wanted) in script {
        assert_eq!(code(&mut host, effect.clone()), wanted, "{effect:?}");
    }
    let left: Vec<&[u8]> = host.tree.nodes().keys().map(Vec::as_slice).collect();
    assert_eq!(left, [&b""[..], b"/r", b"/r/a"]);
    let node = host.tree.nodes().get(&b"/r/a"[..]).unwrap();
    assert_eq!(
        (&node.body, node.mtime_ms, node.mode),
        (&Body::File(b"two+".to_vec()), 5, 0o600)
    );
    assert_eq!(host.tree.nodes().get(&b"/r"[..]).unwrap().mode, 0o700);
}

#[test]
fn what_is_written_in_place_shows_under_every_name_of_a_file() {
    let mut host = SimHost::new(0);
    for path in ["/s/a", "/s/over"] {
        host.tree.file(path, "one");
    }
    let link = |from: &str, to: &str| Effect::Link {
        from: from.into(),
        to: to.into(),
        within: Some("/s".into()),
    };
    assert_eq!(code(&mut host, link("/s/a", "/s/b")), None);
    assert_eq!(
        code(&mut host, link("/s/a", "/s/b")),
        Some(FailureCode::Exists)
    );
    let append = Effect::Append {
        path: "/s/b".into(),
        content: Content::Text(" two".into()),
        mode: 0o600,
    };
    let text = |host: &mut SimHost, path: &str| match one(host, read(path)) {
        Outcome::Content(bytes) => String::from_utf8(bytes.0).unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(code(&mut host, append), None);
    assert_eq!(text(&mut host, "/s/a"), "one two");
    host.tree.overwrite("/s/a", "three", 7);
    host.tree.node("/s/a").unwrap().mode(0o640);
    assert_eq!(text(&mut host, "/s/b"), "three");
    let (a, b) = (
        host.tree.nodes().get(&b"/s/a"[..]),
        host.tree.nodes().get(&b"/s/b"[..]),
    );
    assert_eq!(a, b);
    assert_eq!(a.map(|node| (node.mtime_ms, node.mode)), Some((7, 0o640)));

    // POSIX leaves two names of one file as they are; anything else replaces one name.
    let rename = |from: &str, to: &str, replace| Effect::Rename {
        from: from.into(),
        to: to.into(),
        within: None,
        replace,
        sync: false,
    };
    assert_eq!(code(&mut host, rename("/s/a", "/s/b", true)), None);
    assert_eq!(text(&mut host, "/s/a"), "three");
    assert_eq!(
        code(&mut host, rename("/s/over", "/s/b", false)),
        Some(FailureCode::Exists)
    );
    assert_eq!(code(&mut host, rename("/s/over", "/s/b", true)), None);
    host.tree.overwrite("/s/b", "four", 8);
    assert_eq!(text(&mut host, "/s/a"), "three");
    host.tree.file("/s/a", "five");
    host.tree.hard_link("/s/a", "/s/c");
    host.tree.file("/s/a", "six");
    assert_eq!(text(&mut host, "/s/c"), "five");
}

#[test]
fn the_network_loses_delays_and_limits() {
    let answer = HttpAnswer {
        status: 200,
        headers: vec![],
        body: Bytes(vec![0; 10]),
    };
    let network = move |lose_requests, lose_answers, delay_ms| {
        let answer = answer.clone();
        let mut network = Network::new(move |_| answer.clone());
        (
            network.lose_requests,
            network.lose_answers,
            network.delay_ms,
        ) = (lose_requests, lose_answers, delay_ms);
        network
    };
    let mut host = SimHost::new(3);
    assert_eq!(
        code(&mut host, http(1000, 10)),
        Some(FailureCode::Unsupported)
    );
    host.network = Some(network(0, 0, 0));
    assert_eq!(code(&mut host, http(1000, 10)), None);
    assert_eq!(code(&mut host, http(1000, 9)), Some(FailureCode::TooLarge));
    host.network = Some(network(100, 0, 0));
    assert_eq!(code(&mut host, http(1000, 10)), Some(FailureCode::Network));
    host.network = Some(network(0, 100, 0));
    assert_eq!(code(&mut host, http(1000, 10)), Some(FailureCode::Network));
    host.network = Some(network(0, 0, 2000));
    let began = host.clock_ms;
    let codes: Vec<_> = (0..50).map(|_| code(&mut host, http(1000, 10))).collect();
    assert!(
        codes.contains(&None) && codes.contains(&Some(FailureCode::Timeout)),
        "{codes:?}"
    );
    assert!(host.clock_ms > began && host.clock_ms <= began + 50_000);
}

#[test]
fn the_rest_of_the_machine() {
    let mut host = SimHost::new(0);
    host.stdin = b"in".to_vec();
    host.model = Some(Box::new(|request| Attempt::answer(format!("<{request}>"))));
    let print = |stream, text: &str| Effect::Print {
        stream,
        text: text.into(),
    };
    let outcomes = host
        .run(probe(vec![
            Effect::Now,
            Effect::ProcessAlive { pid: 1 },
            Effect::ProcessAlive { pid: 2 },
            Effect::ReadStdin {
                max_bytes: 2,
                line: false,
            },
            Effect::Model {
                request: "q".into(),
                timeout_ms: 1,
            },
            Effect::Random { length: 5 },
            print(Stream::Stdout, "out"),
            print(Stream::Stderr, "err"),
        ]))
        .unwrap();
    assert!(matches!(outcomes.first(), Some(Outcome::Now(clock)) if clock.ms == host.clock_ms));
    assert_eq!(
        outcomes.get(1..5).unwrap(),
        [
            Outcome::Alive(true),
            Outcome::Alive(false),
            Outcome::Content(Bytes(b"in".to_vec())),
            Outcome::Text("<q>".into())
        ]
    );
    assert!(matches!(outcomes.get(5), Some(Outcome::Content(bytes)) if bytes.0.len() == 5));
    assert_eq!((host.stdout.as_str(), host.stderr.as_str()), ("out", "err"));
    host.stdin = b"long".to_vec();
    assert_eq!(
        code(
            &mut host,
            Effect::ReadStdin {
                max_bytes: 2,
                line: false
            }
        ),
        Some(FailureCode::TooLarge)
    );
    assert_eq!(
        code(
            &mut host,
            Effect::OpenEditor {
                argv: vec!["vi".into(), "/a".into()]
            }
        ),
        Some(FailureCode::Unsupported)
    );
    host.script = Some(Box::new(|effect, tree| {
        tree.file("/edited", "");
        matches!(effect, Effect::OpenEditor { .. }).then_some(Outcome::Done)
    }));
    assert_eq!(
        code(
            &mut host,
            Effect::OpenEditor {
                argv: vec!["vi".into(), "/a".into()]
            }
        ),
        None
    );
    assert!(host.tree.nodes().contains_key(&b"/edited"[..]));
}

#[test]
fn a_cancellation_stops_what_can_stop_and_lets_file_effects_finish() {
    for seed in 0..4 {
        let mut host = SimHost::new(seed).with_fault(0, FaultKind::Cancel);
        let began = host.clock_ms;
        let flow = probe(vec![Effect::Sleep { ms: 1000 }, write("/a", "x", None)]);
        assert_eq!(
            host.run(flow).unwrap_err().code,
            memdir_core::ErrorCode::Aborted
        );
        assert_eq!(host.clock_ms, began);
        assert!(host.tree.nodes().contains_key(&b"/a"[..]));
    }
}

#[test]
fn flows_run_side_by_side_one_effect_at_a_time() {
    let appends = |text: &'static str| -> Flow<()> {
        Flow::new(move |host| async move {
            for _ in 0..2 {
                let _ = host.append("/log", Content::Text(text.into()), 0o600).await;
            }
            Ok(())
        })
    };
    let mut host = SimHost::new(0);
    let (mut a, mut b) = (host.start(appends("a")), host.start(appends("b")));
    // Two steps each: ask, perform.
    for _ in 0..2 {
        assert!(matches!(host.step(&mut a), Progress::Working));
        assert!(matches!(host.step(&mut b), Progress::Working));
        assert!(matches!(host.step(&mut b), Progress::Working));
        assert!(matches!(host.step(&mut a), Progress::Working));
    }
    assert!(matches!(host.step(&mut a), Progress::Ended(Ok(()))));
    b.cancel();
    assert!(matches!(host.step(&mut b), Progress::Ended(Err(_))));
    assert_eq!(
        host.tree.nodes().get(&b"/log"[..]).unwrap().body,
        Body::File(b"baba".to_vec())
    );
}

#[test]
fn a_seed_replays_the_run_and_another_seed_orders_it_differently() {
    let run = |seed| {
        let mut host = SimHost::new(seed);
        host.run(probe(
            (0..20).map(|length| Effect::Random { length }).collect(),
        ))
        .unwrap();
        host.trace
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}

#[test]
fn a_script_answers_each_attempt_in_turn_and_takes_its_time() {
    let mut host = SimHost::new(0);
    host.network = Some(Network::scripted(vec![
        Attempt::http(503, &[("retry-after", "1")], "busy").after(400),
        Attempt::http(200, &[], "whole").cut(2),
        Attempt::fail(FailureCode::Network).after(1_000),
        Attempt::http(200, &[], "late").after(1_001),
        Attempt::hang(),
        Attempt::http(200, &[], "long"),
    ]));
    let began = host.clock_ms;
    let mut seen = Vec::new();
    for _ in 0..7 {
        let said = match one(&mut host, http(1_000, 3)) {
            Outcome::Http(answer) => Ok((answer.status, answer.body.0)),
            Outcome::Failed(failure) => Err(failure.code),
            other => panic!("{other:?}"),
        };
        seen.push((said, host.clock_ms - began));
    }
    let wanted = [
        (Err(FailureCode::TooLarge), 400),
        (Ok((200, b"wh".to_vec())), 400),
        (Err(FailureCode::Network), 1_400),
        (Err(FailureCode::Timeout), 2_400),
        (Err(FailureCode::Timeout), 3_400),
        (Err(FailureCode::TooLarge), 3_400),
        (Err(FailureCode::Network), 3_400),
    ];
    assert_eq!(seen, wanted);
    host.oversleep_ms = 5;
    one(&mut host, Effect::Sleep { ms: 10 });
    assert_eq!(host.clock_ms - began, 3_415);

    let model = |timeout_ms| Effect::Model {
        request: "q".into(),
        timeout_ms,
    };
    host.model = Some(Box::new(|_| Attempt::answer("a".into()).after(50)));
    assert_eq!(one(&mut host, model(50)), Outcome::Text("a".into()));
    assert_eq!(code(&mut host, model(49)), Some(FailureCode::Timeout));
    assert_eq!(host.clock_ms - began, 3_514);
}

#[test]
fn a_torn_write_leaves_half_of_it_and_renames_nothing() {
    for (via, torn, old) in [(Some("/s/tmp"), "/s/tmp", "old"), (None, "/s/a", "")] {
        let mut host = SimHost::new(0).with_fault(0, FaultKind::Tear);
        host.tree.put("/s", Body::Folder);
        if via.is_some() {
            host.tree.file("/s/a", old);
        }
        let flow = probe(vec![write("/s/a", "newest", via)]);
        assert!(host.run_to_end(flow).is_none());
        let body = |path: &str| host.tree.nodes().get(path.as_bytes()).unwrap().body.clone();
        assert_eq!(body(torn), Body::File(b"new".to_vec()));
        assert!(via.is_none() || body("/s/a") == Body::File(old.into()));
    }
}
