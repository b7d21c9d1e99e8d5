//! Passwords in addresses, `scheme://user:password@host`: the password is the secret, the rest may
//! stay. Most of what has this shape in notes is an example.

use crate::secrets::alphabet::Alphabet;

/// Bytes of a user name or password.
const MOST: usize = 256;
/// Bytes of a password that is worth hiding.
const LEAST: usize = 4;

/// What stands for a password, and passwords that everybody knows.
const PLACEHOLDERS: &[&str] = &[
    "admin",
    "changeit",
    "changeme",
    "example",
    "foobar",
    "guest",
    "hidden",
    "mypass",
    "pass",
    "passphrase",
    "passw0rd",
    "passwd",
    "password",
    "password1",
    "postgres",
    "pswd",
    "pwd",
    "redacted",
    "root",
    "secret",
    "test",
    "token",
    "user",
    "username",
    "x-oauth-basic",
];

/// Where the password begins in the address whose `://` was found.
pub(crate) fn password_start(text: &[u8], key_at: usize, after: usize) -> Option<usize> {
    let scheme = text.get(key_at.checked_sub(1)?)?;
    if !scheme.is_ascii_alphanumeric() {
        return None;
    }
    let rest = text.get(after..)?;
    let is_user = |byte: &&u8| **byte != b':' && Alphabet::Password.has(**byte);
    let length = rest.iter().take(MOST).take_while(is_user).count();
    (rest.get(length) == Some(&b':')).then(|| after.saturating_add(length).saturating_add(1))
}

/// Where the password ends that begins here, if it is one.
pub(crate) fn password_end(text: &[u8], start: usize, stop: usize) -> Option<usize> {
    let rest = text.get(start..stop)?;
    let length = password_length(rest)?;
    let password = rest.get(..length)?;
    let host = host(rest.get(length.saturating_add(1)..)?);
    let is_secret = length >= LEAST
        && !is_placeholder(password)
        && !text.get(..start)?.ends_with(&user_ending(password))
        && is_real(host);
    is_secret.then(|| start.saturating_add(length))
}

/// Up to the `@` before the host. A password may hold one that should have been encoded.
fn password_length(rest: &[u8]) -> Option<usize> {
    let is_password = |byte: &&u8| Alphabet::Password.has(**byte) || **byte == b'@';
    let length = rest.iter().take(MOST).take_while(is_password).count();
    rest.get(..length)?.iter().rposition(|byte| *byte == b'@')
}

/// The name of the host that begins here.
fn host(rest: &[u8]) -> &[u8] {
    let is_host = |byte: &&u8| Alphabet::Dotted.has(**byte) && **byte != b'=';
    let length = rest.iter().take(MOST).take_while(is_host).count();
    let host = rest.get(..length).unwrap_or_default();
    host.strip_suffix(b".").unwrap_or(host)
}

/// What stands before a password that is the name of the user.
fn user_ending(password: &[u8]) -> Vec<u8> {
    [b"//", password, b":"].concat()
}

fn is_placeholder(password: &[u8]) -> bool {
    let lower = password.to_ascii_lowercase();
    // `my-password`, `your_password`.
    let bare = [&b"my"[..], b"your", b"the", b"some"]
        .iter()
        .find_map(|word| lower.strip_prefix(*word))
        .unwrap_or(&lower);
    let bare = bare
        .strip_prefix(b"-")
        .or_else(|| bare.strip_prefix(b"_"))
        .unwrap_or(bare);
    let mut letters = password.iter().filter(|byte| byte.is_ascii_alphanumeric());
    let first = letters.next();
    PLACEHOLDERS.iter().any(|word| word.as_bytes() == bare || word.as_bytes() == lower)
        // A name instead of a value: `$NAME`, `%NAME%`, `DB_PASSWORD`.
        || matches!(password.first(), Some(b'$'))
        || matches!(password, [b'%', .., b'%'])
        || password.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
        // One letter, or none: `xxxx`, `****`.
        || letters.all(|letter| Some(letter) == first)
        || password.windows(3).any(|dots| dots == b"...")
}

/// Whether it is a host, and none of those that are kept for examples. After the `@` of an image a
/// digest follows.
fn is_real(host: &[u8]) -> bool {
    let host = host.to_ascii_lowercase();
    let is_example = ["example.com", "example.org", "example.net"]
        .iter()
        .any(|name| ends_in(&host, name.as_bytes()))
        || [".example", ".invalid"]
            .iter()
            .any(|end| host.ends_with(end.as_bytes()));
    host.first().is_some_and(u8::is_ascii_alphanumeric)
        && !is_example
        && ![&b"host"[..], b"hostname", b"example", b"sha256", b"sha512"].contains(&host.as_slice())
}

/// Whether it is this host or one below it.
fn ends_in(host: &[u8], name: &[u8]) -> bool {
    host.strip_suffix(name)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with(b"."))
}
