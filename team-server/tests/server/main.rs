//! The server as its clients meet it: over real sockets, with SQLite, and with PostgreSQL where one can
//! be started.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

mod bed;
mod postgres;

mod client;
mod command;
mod crash;
mod hostile;
mod limits;
mod outage;
mod protocol;
mod race;
mod reading;
mod rights;
mod slow;
