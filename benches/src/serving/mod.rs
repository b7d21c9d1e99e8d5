//! The team server under the load of a large team: people who ask whether there is something new, and
//! people who write, each on a connection of their own, with a token of their own, at fixed rates.

mod load;
mod postgres;
mod process;

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use load::{Connection, Request, Schedule};
use postgres::Postgres;
use process::Process;

/// How long it goes on.
const SECONDS: u32 = 10;
/// Requests a second, and how many connections share them: few enough each for the server's own limits.
const READS: (u32, u32) = (2_000, 48);
const WRITES: (u32, u32) = (300, 24);
/// Memories of each repository.
const MEMORIES: u32 = 100;
const BYTES: usize = 3_000;
const API: &str = "/api/claude_code/team_memory";

/// What is measured of one kind of requests.
struct Measured {
    asked: u32,
    /// In milliseconds, sorted.
    times: Vec<f64>,
    took: Duration,
}

/// Prints the table.
pub fn measure(root: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let program = root.join("dist/memdir-team-server");
    if !program.exists() {
        println!("Left out: the team server, which `make build` puts into dist/.\n");
        return Ok(());
    }
    std::fs::create_dir_all(folder)?;
    println!(
        "### The team server: {} unchanged GETs and {} PUTs of {BYTES} bytes a second, for {SECONDS} s\n\n\
         | | asked a second | answered a second | p50 | p99 | longest |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |",
        READS.0, WRITES.0
    );
    let file = crate::text(&folder.join("team.db"))?;
    let mut notes = vec![under_load(&program, "SQLite", &["--data", &file])?];
    match Postgres::start(&folder.join("postgres"))? {
        Some(postgres) => {
            let data = ["--database", &postgres.address()];
            notes.push(under_load(&program, "PostgreSQL", &data)?);
        }
        None => notes.push("Left out: PostgreSQL, which is not installed.".to_owned()),
    }
    println!("\n{}\n", notes.join("\n"));
    Ok(())
}

/// One server with one database. Prints its rows, and gives what to say below the table.
fn under_load(program: &Path, name: &str, data: &[&str]) -> Result<String, Box<dyn Error>> {
    let server = Process::start(program, data)?;
    let mut connections = Vec::new();
    for number in 0..READS.1 + WRITES.1 {
        let token = server.token(&format!("person-{number}"))?;
        let mut connection = Connection::open(&server.address, &token)?;
        let target = format!("{API}?repo=acme/repository-{number}");
        let etag = fill(&mut connection, &target)?;
        connections.push((connection, target, etag));
    }
    let writers = connections.split_off(usize::try_from(READS.1)?);
    let idle = server.cpu()?;
    let start = Instant::now() + Duration::from_millis(500);
    let (reads, writes) = std::thread::scope(|scope| {
        let spawn = |people: Vec<_>, (rate, share): (u32, u32), work: fn(&mut _, _) -> _| {
            let every = Duration::from_secs(1) * share / rate;
            let running = people.into_iter().enumerate().map(|(number, mut person)| {
                let number = u32::try_from(number).unwrap_or(0);
                let schedule = Schedule {
                    // Not all at the same moment.
                    start: start + every * number / share,
                    every,
                    count: rate * SECONDS / share,
                };
                scope.spawn(move || {
                    let times = load::drive(schedule, |request| work(&mut person, request));
                    times.map_err(|error| error.to_string())
                })
            });
            running.collect::<Vec<_>>()
        };
        let readers = spawn(connections, READS, read);
        let writers = spawn(writers, WRITES, write);
        (
            gather(READS.0, start, readers),
            gather(WRITES.0, start, writers),
        )
    });
    reads?.print(&format!("{name}, GETs"));
    writes?.print(&format!("{name}, PUTs"));
    let used = server.cpu()?.saturating_sub(idle).as_secs_f64() / f64::from(SECONDS);
    let held = server.most_held()? as f64 / 1e6;
    Ok(format!(
        "With {name} the server held at most {held:.0} MB and used {:.0}% of one core.",
        used * 100.0
    ))
}

type Person = (Connection, String, String);
type Running<'scope> = std::thread::ScopedJoinHandle<'scope, Result<Vec<f64>, String>>;

/// The first memories of a repository; gives their version.
fn fill(connection: &mut Connection, target: &str) -> Result<String, Box<dyn Error>> {
    let entries = (0..MEMORIES).map(|number| (key(number), memory(number)));
    let entries: std::collections::BTreeMap<_, _> = entries.collect();
    let answer = connection.send(&Request {
        method: "PUT",
        target,
        condition: Some(("if-none-match", "*")),
        body: &serde_json::json!({ "entries": entries }).to_string(),
    })?;
    expect(answer.status, 200)?;
    Ok(answer.etag)
}

/// Is there something new? There is not.
fn read((connection, target, etag): &mut Person, _: u32) -> Result<(), Box<dyn Error>> {
    let answer = connection.send(&Request {
        method: "GET",
        target,
        condition: Some(("if-none-match", etag)),
        body: "",
    })?;
    expect(answer.status, 304)
}

/// One memory becomes another.
fn write((connection, target, etag): &mut Person, number: u32) -> Result<(), Box<dyn Error>> {
    let text = memory(MEMORIES + number);
    let answer = connection.send(&Request {
        method: "PUT",
        target,
        condition: Some(("if-match", etag)),
        body: &serde_json::json!({ "entries": { key(number % MEMORIES): text } }).to_string(),
    })?;
    *etag = answer.etag;
    expect(answer.status, 200)
}

fn expect(status: u16, wanted: u16) -> Result<(), Box<dyn Error>> {
    if status == wanted {
        Ok(())
    } else {
        Err(format!("the server answers {status} instead of {wanted}").into())
    }
}

fn key(number: u32) -> String {
    format!("project_topic_{number}.md")
}

/// A memory of so many bytes, each number another one.
fn memory(number: u32) -> String {
    let mut text = format!(
        "---\nname: topic {number}\ndescription: What to know about topic {number}\ntype: project\n---\n\n"
    );
    for line in 0.. {
        if text.len() >= BYTES {
            break;
        }
        text.push_str(&format!(
            "Step {line} of topic {number}: run the whole suite before it.\n"
        ));
    }
    text.truncate(BYTES);
    text
}

fn gather(asked: u32, start: Instant, running: Vec<Running<'_>>) -> Result<Measured, String> {
    let mut times = Vec::new();
    for thread in running {
        let done = thread
            .join()
            .map_err(|_| "a client has panicked".to_owned())?;
        times.extend(done?);
    }
    let took = start.elapsed();
    times.sort_by(f64::total_cmp);
    Ok(Measured { asked, times, took })
}

impl Measured {
    fn print(&self, name: &str) {
        let rank = |hundredth: usize| {
            let index = self.times.len() * hundredth / 100;
            let found = self
                .times
                .get(index.min(self.times.len().saturating_sub(1)));
            found.copied().unwrap_or(f64::NAN)
        };
        println!(
            "| {name} | {} | {:.0} | {:.2} ms | {:.2} ms | {:.2} ms |",
            self.asked,
            self.times.len() as f64 / self.took.as_secs_f64(),
            rank(50),
            rank(99),
            rank(100)
        );
    }
}
