//! Performs the effects that it reads as a JSON list from the standard input, and prints their
//! outcomes as a JSON list. Only built for the tests.

use std::error::Error;
use std::io::{Write, stdin, stdout};

use memdir_core::flow::{Effect, probe};

fn main() -> Result<(), Box<dyn Error>> {
    let effects: Vec<Effect> = serde_json::from_reader(stdin().lock())?;
    let outcomes = memdir_host::drive(&mut probe(effects), memdir_command::perform)?;
    let mut stdout = stdout().lock();
    serde_json::to_writer(&mut stdout, &outcomes)?;
    stdout.flush()?;
    Ok(())
}
