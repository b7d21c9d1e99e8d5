//! Clients that do not come to an end, byte by byte.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use memdir_team_server::Limits;

use crate::bed::{API, Bed, Kind, unhurried};

const REPO: &str = "acme/app";

fn hurried() -> Limits {
    Limits {
        head_time: Duration::from_millis(400),
        body_time: Duration::from_millis(400),
        stall_time: Duration::from_millis(400),
        grace_time: Duration::from_millis(400),
        ..unhurried()
    }
}

/// Sends this, and gives what comes back until the server closes.
fn exchange(address: &str, parts: &[&[u8]], pause: Duration) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    for part in parts {
        if stream.write_all(part).is_err() {
            break;
        }
        std::thread::sleep(pause);
    }
    let mut said = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => said.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => panic!("the server keeps the connection: {error}"),
        }
    }
    String::from_utf8_lossy(&said).into_owned()
}

async fn on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_does_not_end_is_given_up() {
    let bed = Bed::with(Kind::Sqlite, hurried()).await;
    let address = bed.client.address.clone();
    for start in ["", "GET /hea", "GET /health HTTP/1.1\r\nx-a: b\r\n"] {
        let address = address.clone();
        let begun = Instant::now();
        let said = on_thread(move || exchange(&address, &[start.as_bytes()], Duration::ZERO)).await;
        assert!(begun.elapsed() < Duration::from_secs(5), "{start:?}");
        assert!(!said.contains("200 OK"), "{said}");
    }
    bed.client.get("/health").await.is(200, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_does_not_end_is_given_up() {
    let bed = Bed::with(Kind::Sqlite, hurried()).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let head = format!(
        "PUT {API}?repo={REPO} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-length: 1000\r\n\r\n",
        ada.token
    );
    // Nothing, and byte after byte.
    for count in [0, 40] {
        let (address, head) = (bed.client.address.clone(), head.clone());
        let said = on_thread(move || {
            let mut parts: Vec<&[u8]> = vec![head.as_bytes()];
            parts.extend(std::iter::repeat_n(&b"{"[..], count));
            exchange(&address, &parts, Duration::from_millis(25))
        });
        let said = said.await;
        assert!(said.starts_with("HTTP/1.1 408 "), "{said}");
        assert!(said.contains("\"code\":\"timeout\""), "{said}");
    }
    ada.pull(REPO).await.is(404, "no-data");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_breaks_off_changes_nothing() {
    let bed = Bed::with(Kind::Sqlite, unhurried()).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let whole = r#"{"entries":{"a.md":"a"}}"#;
    for head in ["content-length: 1000", "transfer-encoding: chunked"] {
        let body = match head {
            "content-length: 1000" => whole.to_owned(),
            _ => format!("{:x}\r\n{whole}\r\n", whole.len()),
        };
        let text = format!(
            "PUT {API}?repo={REPO} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n{head}\r\n\r\n{body}",
            ada.token
        );
        let address = bed.client.address.clone();
        on_thread(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(text.as_bytes()).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            let mut said = String::new();
            let _ = stream.read_to_string(&mut said);
            assert!(!said.starts_with("HTTP/1.1 200"), "{said}");
        })
        .await;
        ada.pull(REPO).await.is(404, "no-data");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_of_headers_and_what_is_no_http_do_not_harm() {
    let bed = Bed::with(Kind::Sqlite, hurried()).await;
    let flood = format!(
        "GET /health HTTP/1.1\r\n{}\r\n",
        "x-a: b\r\n".repeat(10_000)
    );
    let long = format!(
        "GET /health HTTP/1.1\r\nx-a: {}\r\n\r\n",
        "b".repeat(1_000_000)
    );
    let line = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(100_000));
    let noise = "\u{16}\u{3}\u{1}\u{2}\0 hello\r\n\r\n".to_owned();
    for text in [flood, long, line, noise] {
        let address = bed.client.address.clone();
        let said = on_thread(move || exchange(&address, &[text.as_bytes()], Duration::ZERO)).await;
        assert!(!said.contains("200 OK"), "{said}");
    }
    bed.client.get("/health").await.is(200, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_take_the_answer_is_given_up() {
    let limits = Limits {
        connections: 1,
        ..hurried()
    };
    let bed = Bed::with(Kind::Sqlite, limits).await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let big = "x".repeat(250_000);
    let keys: Vec<String> = (0..32).map(|number| format!("{number}.md")).collect();
    for keys in keys.chunks(4) {
        let entries: Vec<_> = keys
            .iter()
            .map(|key| (key.as_str(), big.as_str()))
            .collect();
        ada.force(REPO, &entries).await.is(200, "");
    }
    // The one connection that there may be idles until it is closed.
    let address = bed.client.address.clone();
    let text = format!(
        "GET {API}?repo={REPO} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\r\n",
        ada.token
    );
    let held = on_thread(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    });
    let held = held.await;
    let begun = Instant::now();
    bed.client.get("/health").await.is(200, "");
    assert!(begun.elapsed() < Duration::from_secs(10));
    drop(held);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_waits_for_requests_but_not_for_ever() {
    let mut bed = Bed::with(
        Kind::Sqlite,
        Limits {
            body_time: Duration::from_secs(60),
            ..hurried()
        },
    )
    .await;
    let ada = bed.user("ada", &["write acme/app"]).await;
    let text = format!(
        "PUT {API}?repo={REPO} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-length: 1000\r\n\r\n",
        ada.token
    );
    let mut stream = TcpStream::connect(&bed.client.address).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    ada.pull(REPO).await.is(404, "no-data");
    let begun = Instant::now();
    bed.server.take().unwrap().stop().await;
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert!(
        bed.client
            .try_send("GET", "/health", &[], "")
            .await
            .is_err()
    );
}
