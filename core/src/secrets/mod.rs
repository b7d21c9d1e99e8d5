//! Secrets in texts: tokens, keys and passwords that should not be kept in a memory.
//!
//! Only what has a shape of its own is found: a prefix, a marker, a block. The table of rules is
//! data (`table`), understood by one small matcher; one pass over the text finds the places that
//! are worth a look (`keys`), and clean text costs no more than that pass.
//!
//! What is not found: a token that is split by a line end or a blank (but for private keys and
//! encoded JSON Web Tokens), one that is encoded once more, and what only its name makes a secret.
//! Where a token of no fixed length ends cannot always be seen: then more is taken rather than less.

mod alphabet;
mod finding;
mod hidden;
mod keys;
mod machine;
mod matcher;
mod private_key;
mod redact;
mod rule;
mod scan;
mod table;
mod url;
mod value;
mod wrapped_jwt;

pub use finding::{SecretFinding, scan_secrets};
pub(crate) use hidden::is_hidden;
pub use redact::redact_secrets;

/// The keys that a text is searched for, so that a benchmark can search for them alone.
#[cfg(feature = "bench")]
#[must_use]
pub fn searched_keys() -> Vec<Vec<u8>> {
    keys::searched()
}
