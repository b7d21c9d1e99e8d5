//! The engine's contract: what a flow and whoever drives it owe each other.

use memdir_core::error::{Error, ErrorCode};
use memdir_core::flow::{
    Bytes, Effect, Event, FailureCode, Flow, Host, Outcome, Request, Response, Step, join_all,
    probe,
};
use memdir_core::store::{Scan, Store};

const fn is_send<T: Send>() {}
const fn is_sync<T: Sync>() {}

// pyo3 shares flow handles between threads; asyncio resumes them on any.
const _: () = {
    is_send::<Flow<Scan>>();
    is_sync::<Flow<Scan>>();
    is_send::<Host>();
    is_sync::<Host>();
    is_send::<Store>();
    is_sync::<Store>();
};

fn done(id: u32) -> Response {
    Response {
        id,
        outcome: Outcome::Done,
    }
}

fn sleep(ms: u64) -> Effect {
    Effect::Sleep { ms }
}

fn event(message: &str) -> Event {
    Event {
        kind: "warning".into(),
        path: None,
        code: None,
        message: message.into(),
    }
}

/// The requests of the next step; none at the end.
fn requests<T: Send + 'static>(
    flow: &mut Flow<T>,
    answers: Vec<Response>,
) -> Result<Option<Vec<Request>>, Error> {
    Ok(match flow.resume(answers)? {
        Step::Effects(requests) => {
            assert!(
                !requests.is_empty(),
                "a step that is not done carries an effect"
            );
            Some(requests)
        }
        Step::Done(_) => None,
    })
}

fn two_steps() -> Flow<u8> {
    Flow::new(|host| async move {
        join_all([host.sleep(1), host.sleep(2)]).await;
        host.emit(event("half"));
        let bytes = host
            .random(1)
            .await
            .map_err(|failure| Error::from_failure(&failure, "drawing", "a byte"))?;
        Ok(bytes.first().copied().unwrap_or_default())
    })
}

#[test]
fn a_flow_goes_from_step_to_step_to_its_value() {
    let mut flow = two_steps();
    let first = requests(&mut flow, vec![]).unwrap().unwrap();
    assert_eq!(
        first,
        [
            Request {
                id: 0,
                effect: sleep(1)
            },
            Request {
                id: 1,
                effect: sleep(2)
            }
        ]
    );
    let second = requests(&mut flow, vec![done(1), done(0)])
        .unwrap()
        .unwrap();
    assert_eq!(
        second,
        [
            Request {
                id: 2,
                effect: Effect::Emit {
                    event: event("half")
                }
            },
            Request {
                id: 3,
                effect: Effect::Random { length: 1 }
            },
        ]
    );
    let last = flow.resume(vec![Response {
        id: 3,
        outcome: Outcome::Content(Bytes(vec![7])),
    }]);
    assert!(matches!(last, Ok(Step::Done(7))), "{last:?}");
}

#[test]
fn nothing_runs_before_the_first_resume() {
    let flow: Flow<()> = Flow::new(|_| async { panic!("ran") });
    drop(flow);
}

#[test]
fn a_driver_that_breaks_the_contract_gets_protocol_and_the_flow_ends() {
    let alive = |id| Response {
        id,
        outcome: Outcome::Alive(true),
    };
    let cases: [(&str, Vec<Response>); 7] = [
        ("nothing answered", vec![]),
        ("one unanswered", vec![done(0)]),
        (
            "an id that was never given",
            vec![done(0), done(1), done(9)],
        ),
        ("an id of a later step", vec![done(0), done(1), done(2)]),
        ("the same id twice", vec![done(0), done(0), done(1)]),
        ("another kind", vec![done(0), alive(1)]),
        ("another kind, and one unanswered", vec![alive(0)]),
    ];
    for (name, answers) in cases {
        let mut flow = two_steps();
        requests(&mut flow, vec![]).unwrap();
        let error = flow.resume(answers).unwrap_err();
        assert_eq!(error.code, ErrorCode::Protocol, "{name}: {error}");
        let after = flow.resume(vec![done(0), done(1)]).unwrap_err();
        assert_eq!(after.code, ErrorCode::Protocol, "{name}: {after}");
    }
}

#[test]
fn answers_before_the_first_step_are_refused() {
    assert_eq!(
        two_steps().resume(vec![done(0)]).unwrap_err().code,
        ErrorCode::Protocol
    );
}

#[test]
fn an_event_has_no_outcome_and_none_is_taken() {
    let mut flow = two_steps();
    requests(&mut flow, vec![]).unwrap();
    requests(&mut flow, vec![done(0), done(1)]).unwrap();
    let byte = Response {
        id: 3,
        outcome: Outcome::Content(Bytes(vec![7])),
    };
    assert_eq!(
        flow.resume(vec![done(2), byte]).unwrap_err().code,
        ErrorCode::Protocol
    );
}

#[test]
fn last_events_go_out_before_the_value() {
    let mut flow = probe(vec![Effect::Emit {
        event: event("bye"),
    }]);
    assert_eq!(requests(&mut flow, vec![]).unwrap().unwrap().len(), 1);
    let last = flow.resume(vec![]);
    assert!(
        matches!(&last, Ok(Step::Done(outcomes)) if *outcomes == [Outcome::Done]),
        "{last:?}"
    );
}

#[test]
fn a_resume_after_the_end_is_refused() {
    for mut flow in [probe(vec![]), probe(vec![]).map(|outcomes| outcomes)] {
        assert!(matches!(flow.resume(vec![]), Ok(Step::Done(_))));
        assert_eq!(flow.resume(vec![]).unwrap_err().code, ErrorCode::Protocol);
    }
    let mut flow: Flow<()> = Flow::new(|_| async { Err(Error::new(ErrorCode::Usage, "no")) });
    assert_eq!(flow.resume(vec![]).unwrap_err().code, ErrorCode::Usage);
    assert_eq!(flow.resume(vec![]).unwrap_err().code, ErrorCode::Protocol);
}

#[test]
fn a_failure_answers_any_effect() {
    for effect in [
        sleep(1),
        Effect::Now,
        Effect::List {
            path: "/".into(),
            within: None,
        },
        Effect::HostInfo,
    ] {
        let failed = Outcome::Failed(memdir_core::flow::Failure::new(FailureCode::Busy, "busy"));
        let mut flow = probe(vec![effect]);
        requests(&mut flow, vec![]).unwrap();
        let last = flow.resume(vec![Response {
            id: 0,
            outcome: failed.clone(),
        }]);
        assert!(
            matches!(&last, Ok(Step::Done(outcomes)) if *outcomes == [failed]),
            "{last:?}"
        );
    }
}

#[test]
fn many_calls_share_a_step_and_answers_come_in_the_order_of_the_calls() {
    let mut flow = probe((0..1000).map(|length| Effect::Random { length }).collect());
    let step = requests(&mut flow, vec![]).unwrap().unwrap();
    assert_eq!(step.len(), 1000);
    let content = |id: u32| Outcome::Content(Bytes(id.to_le_bytes().to_vec()));
    let answers = step
        .iter()
        .rev()
        .map(|request| Response {
            id: request.id,
            outcome: content(request.id),
        })
        .collect();
    let Ok(Step::Done(outcomes)) = flow.resume(answers) else {
        panic!("not done")
    };
    assert_eq!(outcomes, (0..1000).map(content).collect::<Vec<_>>());
}

#[test]
fn joined_futures_of_different_length_run_side_by_side() {
    let mut flow = Flow::new(|host| async move {
        let steps = |count: u64| {
            let host = host.clone();
            async move {
                for ms in 0..count {
                    let _ = host.sleep(ms).await;
                }
                count
            }
        };
        let nested = join_all([
            join_all([steps(1), steps(3)]),
            join_all([steps(0), steps(2)]),
        ])
        .await;
        Ok(nested)
    });
    let mut answers = vec![];
    let mut sizes = vec![];
    loop {
        match flow.resume(std::mem::take(&mut answers)).unwrap() {
            Step::Effects(requests) => {
                sizes.push(requests.len());
                answers = requests.iter().map(|request| done(request.id)).collect();
            }
            Step::Done(values) => {
                assert_eq!(values, [[1, 3], [0, 2]]);
                break;
            }
        }
    }
    assert_eq!(sizes, [3, 2, 1]);
}

#[test]
fn an_empty_join_is_done_at_once() {
    assert!(
        matches!(probe(vec![]).resume(vec![]), Ok(Step::Done(outcomes)) if outcomes.is_empty())
    );
}

#[test]
fn cancelled_before_it_began_a_flow_asks_for_nothing() {
    let mut flow = two_steps();
    flow.cancel();
    assert_eq!(flow.resume(vec![]).unwrap_err().code, ErrorCode::Aborted);
    assert_eq!(flow.resume(vec![]).unwrap_err().code, ErrorCode::Protocol);
}

#[test]
fn cancelled_with_effects_outstanding_a_flow_still_wants_their_answers() {
    let mut flow = two_steps();
    requests(&mut flow, vec![]).unwrap();
    flow.cancel();
    flow.cancel();
    assert_eq!(
        flow.resume(vec![done(0), done(1)]).unwrap_err().code,
        ErrorCode::Aborted
    );

    let mut flow = two_steps();
    requests(&mut flow, vec![]).unwrap();
    flow.cancel();
    assert_eq!(
        flow.resume(vec![done(0)]).unwrap_err().code,
        ErrorCode::Protocol
    );
}

#[test]
fn cancelled_with_only_its_last_events_to_go_a_flow_is_aborted() {
    let mut flow = probe(vec![Effect::Emit {
        event: event("bye"),
    }]);
    requests(&mut flow, vec![]).unwrap();
    flow.cancel();
    assert_eq!(flow.resume(vec![]).unwrap_err().code, ErrorCode::Aborted);
}

#[test]
fn clean_up_still_happens_after_a_cancellation() {
    let mut flow: Flow<()> = Flow::new(|host| async move {
        let slept = host.sleep(1).await;
        assert!(host.cancelled());
        assert_eq!(host.sleep(2).await.unwrap_err().code, FailureCode::Aborted);
        host.shielded().remove("/lock", None).await.unwrap();
        slept.map_err(|failure| Error::from_failure(&failure, "sleeping", "here"))
    });
    requests(&mut flow, vec![]).unwrap();
    flow.cancel();
    let step = requests(&mut flow, vec![done(0)]).unwrap().unwrap();
    assert_eq!(
        step,
        [Request {
            id: 1,
            effect: Effect::Remove {
                path: "/lock".into(),
                within: None,
            }
        }]
    );
    assert_eq!(
        flow.resume(vec![done(1)]).unwrap_err().code,
        ErrorCode::Aborted
    );
}

#[test]
fn a_flow_that_waits_for_nothing_is_a_defect_and_says_so() {
    let mut flow: Flow<()> = Flow::new(|_| std::future::pending());
    assert_eq!(flow.resume(vec![]).unwrap_err().code, ErrorCode::Internal);
    assert_eq!(flow.resume(vec![]).unwrap_err().code, ErrorCode::Protocol);
}

#[test]
fn a_flow_can_be_dropped_at_any_time() {
    drop(two_steps());
    let mut flow = two_steps();
    requests(&mut flow, vec![]).unwrap();
    drop(flow);
}

#[test]
fn a_flow_moves_between_threads() {
    let mut flow = two_steps();
    requests(&mut flow, vec![]).unwrap();
    let step = std::thread::spawn(move || requests(&mut flow, vec![done(0), done(1)]))
        .join()
        .unwrap();
    assert_eq!(step.unwrap().unwrap().len(), 2);
}
