//! One kept-alive HTTP connection, and the times at which requests go out on it: by the clock, not when
//! the one before is answered. A time is counted from when its request was due, so that a server which
//! stops for a while cannot hide it.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// No answer takes that long.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection of somebody with a token.
pub struct Connection {
    stream: BufReader<TcpStream>,
    token: String,
}

/// What was asked for.
pub struct Request<'a> {
    /// `GET` or `PUT`.
    pub method: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// The condition, name and value; none for nothing.
    pub condition: Option<(&'a str, &'a str)>,
    /// The body.
    pub body: &'a str,
}

/// What came back.
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// The version, quoted; empty without one.
    pub etag: String,
}

impl Connection {
    /// Opens one.
    pub fn open(address: &str, token: &str) -> Result<Self, Box<dyn Error>> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self {
            stream: BufReader::new(stream),
            token: token.to_owned(),
        })
    }

    /// One request and its answer.
    pub fn send(&mut self, request: &Request<'_>) -> Result<Answer, Box<dyn Error>> {
        let Request {
            method,
            target,
            condition,
            body,
        } = request;
        let condition = condition.map_or(String::new(), |(name, value)| {
            format!("{name}: {value}\r\n")
        });
        let text = format!(
            "{method} {target} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
             content-length: {}\r\n{condition}\r\n{body}",
            self.token,
            body.len()
        );
        self.stream.get_mut().write_all(text.as_bytes())?;
        self.answer()
    }

    fn answer(&mut self) -> Result<Answer, Box<dyn Error>> {
        let mut line = String::new();
        let (mut status, mut length, mut etag) = (None, 0, String::new());
        loop {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Err("the server closed the connection".into());
            }
            let text = line.trim_end();
            if status.is_none() {
                let code = text.split(' ').nth(1).ok_or("this is no status line")?;
                status = Some(code.parse()?);
            } else if let Some((name, value)) = text.split_once(": ") {
                match name {
                    "content-length" => length = value.parse()?,
                    "etag" => value.clone_into(&mut etag),
                    "transfer-encoding" => return Err("an answer comes in pieces".into()),
                    _ => {}
                }
            } else if text.is_empty() {
                break;
            }
        }
        let status = status.ok_or("there is no status line")?;
        // An answer that says "as you know it" names a length and has no body.
        let body = if status == 304 { 0 } else { length };
        std::io::copy(&mut self.stream.by_ref().take(body), &mut std::io::sink())?;
        Ok(Answer { status, etag })
    }
}

/// When requests are due.
#[derive(Clone, Copy)]
pub struct Schedule {
    /// The first one.
    pub start: Instant,
    /// From one to the next.
    pub every: Duration,
    /// How many.
    pub count: u32,
}

/// Makes the requests of one connection when they are due, and gives what each took in milliseconds.
pub fn drive(
    schedule: Schedule,
    mut request: impl FnMut(u32) -> Result<(), Box<dyn Error>>,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut times = Vec::new();
    for number in 0..schedule.count {
        let due = schedule.start + schedule.every * number;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        request(number)?;
        times.push(due.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(times)
}
