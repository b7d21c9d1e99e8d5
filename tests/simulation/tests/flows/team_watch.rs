//! `memdir team watch`, interrupted: it uploads what is left, as closing a store does, and says what it did
//! not reach.

use std::collections::BTreeMap;

use memdir_core::ErrorCode;
use memdir_core::cli::{CommandOptions, command};
use memdir_core::flow::Effect;
use memdir_core::store::Store;
use memdir_simulation::{
    Attempt, Fault, FaultKind, Folder, Network, Progress, Running, STORE, SimHost, TeamServer,
    Tree, team_options,
};

const TEXT: &str = "edited\n";

fn machine(server: &TeamServer) -> SimHost {
    let mut tree = Tree::new();
    tree.file("/mem/team/a.md", "a\n");
    let mut host = SimHost::with_tree(1, tree);
    host.network = Some(server.network());
    host
}

fn watch() -> CommandOptions {
    let words = "team watch --dir /mem --url https://team.example --repo acme/app";
    CommandOptions {
        args: words.split(' ').map(str::to_owned).collect(),
        env: BTreeMap::from([("MEMDIR_TEAM_TOKEN".to_owned(), "t0ken".to_owned())]),
        ..CommandOptions::default()
    }
}

/// Goes on until the next effect is the sleep with this number.
fn until_sleep<T: Send + 'static>(host: &mut SimHost, running: &mut Running<T>, number: usize) {
    let sleeps = |host: &SimHost| {
        let all = host.trace.iter();
        all.filter(|traced| matches!(traced.effect, Effect::Sleep { .. }))
            .count()
    };
    while sleeps(host) < number {
        assert!(matches!(host.step(running), Progress::Working));
    }
}

fn edit(host: &mut SimHost) {
    let now = host.clock_ms;
    host.tree.overwrite("/mem/team/a.md", TEXT, now);
}

fn end<T: Send + 'static>(host: &mut SimHost, running: &mut Running<T>) -> Option<ErrorCode> {
    let ended = memdir_simulation::end(host, running)?;
    ended.err().map(|error| error.code)
}

#[test]
fn what_was_edited_a_moment_ago_is_uploaded() {
    let server = TeamServer::default();
    let mut host = machine(&server);
    let mut running = host.start(command(watch()));
    until_sleep(&mut host, &mut running, 3);
    assert_eq!(host.stderr, "sent: 1\n");
    let _ = server.requests();
    edit(&mut host);
    running.cancel();
    let before = host.clock_ms;
    assert_eq!(end(&mut host, &mut running), Some(ErrorCode::Aborted));
    assert_eq!(server.requests(), ["PUT repo=acme/app 200"]);
    assert_eq!(server.entries()["a.md"], TEXT);
    assert_eq!(host.clock_ms, before);
    assert_eq!(host.stderr, "sent: 1\nsent: 1\n");
    // The next one knows of it.
    assert_eq!(
        host.run(Store::new(team_options()).team_push()).unwrap(),
        Default::default()
    );
}

#[test]
fn without_an_edit_nothing_is_asked_or_said() {
    let server = TeamServer::default();
    let mut host = machine(&server);
    let mut running = host.start(command(watch()));
    until_sleep(&mut host, &mut running, 3);
    let _ = server.requests();
    running.cancel();
    assert_eq!(end(&mut host, &mut running), Some(ErrorCode::Aborted));
    assert_eq!(server.requests(), [""; 0]);
    assert_eq!(host.stderr, "sent: 1\n");
}

#[test]
fn what_does_not_go_within_two_seconds_is_said() {
    let server = TeamServer::default();
    let mut host = machine(&server);
    let mut running = host.start(command(watch()));
    until_sleep(&mut host, &mut running, 3);
    edit(&mut host);
    host.network = Some(Network::serving(|_| Attempt::hang()));
    running.cancel();
    let before = host.clock_ms;
    assert_eq!(end(&mut host, &mut running), Some(ErrorCode::Aborted));
    assert_eq!(host.clock_ms - before, 2_000);
    let said = host.stderr.strip_prefix("sent: 1\n").unwrap();
    assert!(
        said.starts_with("team/a.md: it is not uploaded yet: "),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
}

/// Who watches through the library closes the store, which does the same.
#[test]
fn the_watch_of_the_library_stops_at_once() {
    let server = TeamServer::default();
    let mut host = machine(&server);
    let mut running = host.start(Store::new(team_options()).team_watch(None));
    until_sleep(&mut host, &mut running, 3);
    let _ = server.requests();
    edit(&mut host);
    running.cancel();
    let before = host.trace.len();
    assert_eq!(end(&mut host, &mut running), Some(ErrorCode::Aborted));
    assert_eq!(server.requests(), [""; 0]);
    assert_eq!(host.trace.len(), before);
}

#[test]
fn whenever_it_is_interrupted_the_folder_is_uploaded() {
    let begun = |host: &SimHost| {
        let mut effects = host.trace.iter().map(|traced| &traced.effect);
        effects.position(|effect| matches!(effect, Effect::Http { .. }))
    };
    let mut tried = 0;
    for at in 0..150 {
        let server = TeamServer::default();
        let mut host = machine(&server);
        host.faults.push(Fault {
            at,
            kind: FaultKind::Cancel,
        });
        let result = host.run(command(watch()));
        assert_eq!(result.unwrap_err().code, ErrorCode::Aborted, "at {at}");
        let left = Folder::new(&host.tree, STORE).left_over();
        assert_eq!(left, [""; 0], "at {at}");
        if begun(&host).is_some_and(|begun| begun <= at) {
            tried += 1;
            assert_eq!(server.entries()["a.md"], "a\n", "at {at}");
            host.faults.clear();
            let result = host.run(Store::new(team_options()).team_sync());
            assert!(result.unwrap().report.is_empty(), "at {at}");
        }
    }
    assert!(tried > 100, "{tried}");
}
