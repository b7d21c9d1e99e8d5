//! What a person is told when a server runs that nobody can use yet: the commands, ready to copy.

use std::net::SocketAddr;

use crate::options::DATABASE;
use crate::storage::Address;

/// The lines for standard error.
#[must_use]
pub fn first_run(address: SocketAddr, data: &Address) -> String {
    let (data, how) = match data {
        Address::File { path, .. } => {
            let path = shell_word(&path.to_string_lossy());
            (format!(" --data {path}"), String::new())
        }
        // The address may hold a password, so it is not shown.
        Address::Postgres(_) => (
            String::new(),
            format!(", with the address of the database in {DATABASE}"),
        ),
    };
    format!(
        "\
The server runs at http://{address} and nobody has a token yet. For each person{how}:

  memdir-team-server token create --name ada --repo acme/app --write{data}

That prints the token once. The person's agents take it from the environment:

  export MEMDIR_TEAM_URL=http://{address}
  export MEMDIR_TEAM_TOKEN=...

For other machines put a proxy with TLS before it and give its https:// address.
"
    )
}

/// A word that a shell takes as it is.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
