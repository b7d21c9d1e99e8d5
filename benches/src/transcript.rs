//! Reading a long transcript: how fast, and how much memory it takes, in a process of its own.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use memdir_core::store::{OpenOptions, Store};
use serde_json::json;

use crate::{memory, store};

/// The word that makes this program read a transcript and print what it took.
pub const READER: &str = "read-transcript";
/// Size of the transcript.
pub const BYTES: u64 = 500_000_000;

/// What reading took.
pub struct Reading {
    pub ms: f64,
    /// The most that the process held in memory; 0 where the system does not say.
    pub peak: usize,
    pub messages: usize,
    pub left_out: u64,
}

/// Writes a session and has it read, three times; gives the fastest.
pub fn measure(folder: &Path) -> Result<Reading, Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let path = folder.join("session.jsonl");
    create(&path, BYTES)?;
    let mut readings = Vec::new();
    for _ in 0..3 {
        let output = Command::new(std::env::current_exe()?)
            .arg(READER)
            .arg(&path)
            .output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        let (ms, peak, messages, left_out) = serde_json::from_slice(&output.stdout)?;
        readings.push(Reading {
            ms,
            peak,
            messages,
            left_out,
        });
    }
    std::fs::remove_file(&path)?;
    readings.sort_by(|a, b| a.ms.total_cmp(&b.ms));
    readings.into_iter().next().ok_or("it was read".into())
}

/// Reads a transcript and gives what [`measure`] takes, as JSON.
pub fn read(path: &str) -> Result<String, Box<dyn Error>> {
    let start = Instant::now();
    let transcript =
        store::run(&mut Store::new(OpenOptions::default()).transcript(path.to_owned()))?;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    if !transcript.report.is_empty() {
        return Err(format!("{:?}", transcript.report).into());
    }
    let taken = (
        ms,
        memory::peak(),
        transcript.messages.len(),
        transcript.left_out,
    );
    Ok(serde_json::to_string(&taken)?)
}

/// Turns as agents have them: a question, an answer in three lines, progress, a result of some kilobytes
/// that stands there twice, now and then one of megabytes.
pub fn create(path: &Path, bytes: u64) -> Result<(), Box<dyn Error>> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut written = 0;
    let mut parent = String::new();
    let mut number = 0_u64;
    for turn in 0_u64.. {
        let mut line = |kind: &str, message: Option<serde_json::Value>, more: serde_json::Value| {
            number += 1;
            let uuid = format!("00000000-0000-4000-8000-{number:012}");
            let line = json!({
                "parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/code/app",
                "sessionId": "00000000-0000-4000-8000-000000000000", "version": "2.1.0", "type": kind,
                "message": message, "uuid": uuid, "timestamp": "2026-03-15T10:30:00.000Z", "more": more,
            });
            parent = uuid;
            let line = format!("{line}\n");
            written += line.len() as u64;
            file.write_all(line.as_bytes())
        };
        let sentence = "The rule is to run the \"whole\" suite before a change is proposed.\n";
        let none = serde_json::Value::Null;
        let question = json!({ "role": "user", "content": sentence.repeat(3) });
        line("user", Some(question), none.clone())?;
        for block in [
            json!({ "type": "thinking", "thinking": sentence.repeat(20), "signature": "c2ln".repeat(100) }),
            json!({ "type": "text", "text": sentence.repeat(5) }),
            json!({ "type": "tool_use", "id": format!("toolu_{turn}"), "name": "Read",
                    "input": { "file_path": "/code/app/src/main.rs", "limit": 200 } }),
        ] {
            let answer = json!({ "id": format!("msg_{turn}"), "type": "message", "role": "assistant",
                                 "content": [block], "usage": { "input_tokens": 9, "output_tokens": 300 } });
            line("assistant", Some(answer), none.clone())?;
        }
        line(
            "progress",
            None,
            json!({ "output": sentence.repeat(10), "lines": [1, 2, 3] }),
        )?;
        let length = if turn % 500 == 499 { 30_000 } else { 60 };
        let result = sentence.repeat(length);
        let answer = json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": format!("toolu_{turn}"), "content": result }] });
        line(
            "user",
            Some(answer),
            json!({ "file": { "content": result } }),
        )?;
        if written >= bytes {
            break;
        }
    }
    file.into_inner()?.sync_all()?;
    Ok(())
}
