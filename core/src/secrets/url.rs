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
    let length = length(rest, |byte| !b":'()@".contains(&byte));
    (rest.get(length) == Some(&b':')).then(|| after.saturating_add(length).saturating_add(1))
}

/// The length of what a user name or password may consist of, but for some bytes.
fn length(text: &[u8], is_one: fn(u8) -> bool) -> usize {
    let is_any = |byte: u8| Alphabet::Password.has(byte) || byte == b'@' || !byte.is_ascii();
    let length = text
        .iter()
        .take(MOST)
        .take_while(|byte| is_any(**byte) && is_one(**byte))
        .count();
    let text = text.get(..length).unwrap_or_default();
    if text.is_ascii() {
        return length;
    }
    let text = text.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    text.find(is_punctuation).unwrap_or(text.len())
}

/// Whether it stands between words of a text, beyond ASCII.
fn is_punctuation(c: char) -> bool {
    matches!(c,
        '\u{A0}' | '\u{AB}' | '\u{B7}' | '\u{BB}' | '\u{2000}'..='\u{206F}' | '\u{3000}'..='\u{303F}'
        | '\u{FE10}'..='\u{FE6F}' | '\u{FF01}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}'
        | '\u{FF3B}'..='\u{FF40}' | '\u{FF5B}'..='\u{FF65}'
    )
}

/// What stands before a password.
struct Before<'a> {
    /// Before the whole address.
    opening: Option<u8>,
    scheme: &'a [u8],
    user: &'a [u8],
}

/// Reads it backwards from where the password begins.
fn before(text: &[u8], start: usize) -> Option<Before<'_>> {
    let from = start.saturating_sub(MOST.saturating_add(2));
    let before = text.get(from..start.checked_sub(1)?)?;
    let slash = before.iter().rposition(|byte| *byte == b'/')?;
    let (mut head, user) = before.split_at_checked(slash.saturating_add(1))?;
    while let [rest @ .., b'/' | b'\\' | b':'] = head {
        head = rest;
    }
    let is_scheme = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let length = head.iter().rev().take_while(is_scheme).count();
    let (head, scheme) = head.split_at_checked(head.len().saturating_sub(length))?;
    Some(Before {
        opening: head.last().copied(),
        scheme,
        user,
    })
}

/// Where the password ends that begins here, if it is one. Something hidden may part what follows from
/// the address.
pub(crate) fn password_end(
    text: &[u8],
    start: usize,
    stop: usize,
    gap: Option<usize>,
) -> Option<usize> {
    let before = before(text, start)?;
    let gap = gap.filter(|gap| *gap < stop);
    if gap.is_some_and(|gap| text.get(start..gap).is_some_and(is_number)) {
        return None;
    }
    let end = |stop: usize| {
        let rest = text.get(start..stop)?;
        let length = password_length(rest, before.opening)?;
        let password = rest.get(..length)?;
        let is_secret = length >= LEAST
            && !is_placeholder(password)
            && password != before.user
            && !is_port(password, &before)
            && is_real(rest.get(length.saturating_add(1)..)?);
        is_secret.then(|| start.saturating_add(length))
    };
    gap.and_then(end).or_else(|| end(stop))
}

/// Up to the `@` before the host. A password may hold one that should have been encoded, and anything
/// but what closes the quotes or brackets around the address.
fn password_length(rest: &[u8], opening: Option<u8>) -> Option<usize> {
    let length = match opening {
        Some(b'\'') => length(rest, |byte| byte != b'\''),
        Some(b'(') => length(rest, |byte| byte != b')'),
        _ => length(rest, |_| true),
    };
    rest.get(..length)?.iter().rposition(|byte| *byte == b'@')
}

fn is_number(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_digit)
}

/// Whether it begins with the port of a host that was taken for a user: `http://host:8080,a@b.com`.
fn is_port(password: &[u8], before: &Before) -> bool {
    let digits = password
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let scheme = before.scheme.to_ascii_lowercase();
    let is_host = [&b"http"[..], b"https", b"ws", b"wss"].contains(&scheme.as_slice())
        || before.user.contains(&b'.')
        || before.user == b"localhost";
    is_host
        && (2..=5).contains(&digits)
        && password
            .get(digits)
            .is_some_and(|byte| b",;&-.:()'".contains(byte))
}

fn is_placeholder(password: &[u8]) -> bool {
    let lower = password.to_ascii_lowercase();
    // `(password)`.
    let lower = lower.as_slice();
    let lower = lower.strip_prefix(b"(").unwrap_or(lower);
    let lower = lower.strip_suffix(b")").unwrap_or(lower);
    // `my-password`, `your_password`.
    let bare = [&b"my"[..], b"your", b"the", b"some"]
        .iter()
        .find_map(|word| lower.strip_prefix(*word))
        .unwrap_or(lower);
    let bare = bare
        .strip_prefix(b"-")
        .or_else(|| bare.strip_prefix(b"_"))
        .unwrap_or(bare);
    let mut letters = password.iter().filter(|byte| byte.is_ascii_alphanumeric());
    let first = letters.next();
    PLACEHOLDERS.iter().any(|word| word.as_bytes() == bare || word.as_bytes() == lower)
        // A name instead of a value: `$NAME`, `$(NAME)`, `%NAME%`, `%(name)s`, `DB_PASSWORD`.
        || is_variable(password)
        || matches!(password, [b'%', .., b'%'] | [b'$' | b'%', b'(', .., b')' | b's'])
        || password.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
        // One letter, or none: `xxxx`, `****`.
        || letters.all(|letter| Some(letter) == first)
        || password.windows(3).any(|dots| dots == b"...")
}

/// Whether it is `$NAME`, as a shell has it.
fn is_variable(password: &[u8]) -> bool {
    let [b'$', first, rest @ ..] = password else {
        return false;
    };
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    !first.is_ascii_digit() && is_name(first) && rest.iter().all(is_name)
}

/// Whether a host begins here, or what stands for one: `$HOST`, `{host}`, `<host>`, `%s`.
fn is_real(rest: &[u8]) -> bool {
    match rest {
        [b'[', rest @ ..] => {
            let is_ip = |byte: &&u8| byte.is_ascii_hexdigit() || b":.".contains(byte);
            let length = rest.iter().take(MOST).take_while(is_ip).count();
            rest.get(length) == Some(&b']') && rest.iter().take(length).any(|byte| *byte == b':')
        }
        [b'$' | b'{' | b'<' | b'%', first, ..] => {
            first.is_ascii_alphanumeric() || b"_{(".contains(first)
        }
        _ => is_real_name(rest),
    }
}

/// Whether it is the name of a host, and none of those that are kept for examples. After the `@` of an
/// image a digest follows.
fn is_real_name(rest: &[u8]) -> bool {
    let is_host = |byte: &&u8| Alphabet::Dotted.has(**byte) && **byte != b'=' || !byte.is_ascii();
    let length = rest.iter().take(MOST).take_while(is_host).count();
    let host = rest.get(..length).unwrap_or_default();
    let host = host.strip_suffix(b".").unwrap_or(host).to_ascii_lowercase();
    let is_example = ["example.com", "example.org", "example.net"]
        .iter()
        .any(|name| ends_in(&host, name.as_bytes()))
        || [".example", ".invalid"]
            .iter()
            .any(|end| host.ends_with(end.as_bytes()));
    host.first()
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
        && !is_example
        && ![&b"host"[..], b"hostname", b"example", b"sha256", b"sha512"].contains(&host.as_slice())
}

/// Whether it is this host or one below it.
fn ends_in(host: &[u8], name: &[u8]) -> bool {
    host.strip_suffix(name)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with(b"."))
}
