//! Which text is the address of a server that a key may be sent to.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::error::{Error, ErrorCode};

/// The address without blanks around it and slashes at its end; `whose` says in an error what it is for.
///
/// # Errors
/// `invalid-argument` for what is no `http(s)` address, names no server that could be, or holds a query, a
/// user or a password.
pub(crate) fn base_address(address: &str, whose: &str) -> Result<String, Error> {
    let wrong = |what: &str| {
        let message = format!("the address for {whose} {what}");
        Err(Error::new(ErrorCode::InvalidArgument, message))
    };
    let address = address.trim().trim_end_matches('/');
    let is_url = address.starts_with("https://") || address.starts_with("http://");
    if !is_url || address.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return wrong("must begin with https:// or http:// and hold no blanks");
    }
    if address.contains(['?', '#']) {
        return wrong("ends with a query, to which no path can be added; leave it out");
    }
    if authority(address).contains('@') {
        return wrong("holds a user or a password, which logs would show; pass a key instead");
    }
    let (host, port) = split_authority(authority(address));
    if !is_host(host) {
        return wrong("names no server, or one whose name no server can have");
    }
    // A colon alone stands for the usual port.
    if !port.is_some_and(|port| port.is_empty() || is_port(port)) {
        return wrong("holds a port that is none; ports go from 0 to 65535");
    }
    Ok(address.to_owned())
}

/// The name of a server and the port after its colon, empty without one; none when something else follows.
fn split_authority(authority: &str) -> (&str, Option<&str>) {
    let end = match authority.find(']') {
        Some(end) if authority.starts_with('[') => end.saturating_add(1),
        _ => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, rest) = authority.split_at_checked(end).unwrap_or_default();
    let port = if rest.is_empty() {
        Some(rest)
    } else {
        rest.strip_prefix(':')
    };
    (host, port)
}

fn is_port(port: &str) -> bool {
    port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
}

/// Whether a host takes it for a name or an address, as far as that can be said without asking anybody: what
/// ends with a number is an IPv4 address.
fn is_host(host: &str) -> bool {
    if let Some(rest) = host.strip_prefix('[') {
        let address = rest.strip_suffix(']').unwrap_or_default();
        return address.parse::<Ipv6Addr>().is_ok();
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    let last = name.rsplit('.').next().unwrap_or_default();
    if last.bytes().all(|byte| byte.is_ascii_digit()) && !last.is_empty() {
        return host.parse::<Ipv4Addr>().is_ok();
    }
    let is_part = |part: &str| {
        let is_of_name = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-_".contains(c);
        !part.is_empty() && part.chars().all(is_of_name)
    };
    name.split('.').all(is_part)
}

/// Whether what is sent there is encrypted, or never leaves this machine.
pub(crate) fn is_private(address: &str) -> bool {
    if address.starts_with("https://") {
        return true;
    }
    let authority = authority(address);
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let is_ipv4 = || {
        let parts: Vec<Result<u8, _>> = host.split('.').map(str::parse).collect();
        parts.len() == 4 && parts.iter().all(Result::is_ok) && parts.first() == Some(&Ok(127))
    };
    host.eq_ignore_ascii_case("localhost") || host == "::1" || is_ipv4()
}

fn authority(address: &str) -> &str {
    address.split('/').nth(2).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::error::ErrorCode;

    use super::{base_address, is_private};

    #[test]
    fn what_no_server_can_be_reached_at_is_no_address() {
        for address in [
            "http://127.0.0.1:0",
            "http://127.0.0.1:65535/",
            "http://localhost:/x",
            "https://memory_1.example-x.com.:00443/a",
            "https://m\u{fc}nchen.example",
            "http://[::1]:8080/x:y",
            "http://[::ffff:127.0.0.1]",
            "https://1.example",
        ] {
            assert!(base_address(address, "it").is_ok(), "{address}");
        }
        for address in [
            "http://127.0.0.1:99999",
            "http://127.0.0.1:65536",
            "http://localhost:-1",
            "http://localhost:+1",
            "http://localhost:8o",
            "http://localhost:80:80",
            "http://[::1",
            "http://[::1]8080",
            "http://[::x]",
            "http://::1",
            "http://",
            "http:///x",
            "http://:8080",
            "http://.",
            "http://a..b",
            "http://256.0.0.1",
            "http://127.0.0.0.1",
            "http://a%zz",
            "http://a\\b",
            "http://a<b",
        ] {
            let error = base_address(address, "it").err();
            assert_eq!(
                error.map(|error| error.code),
                Some(ErrorCode::InvalidArgument),
                "{address}"
            );
        }
    }

    #[test]
    fn only_https_and_this_machine_are_private() {
        for address in [
            "https://memory.example.com",
            "http://localhost:8080",
            "http://127.0.0.1",
            "http://127.9.9.9:1/x",
            "http://[::1]:8080",
        ] {
            assert!(is_private(address), "{address}");
        }
        for address in [
            "http://memory.example.com",
            "http://localhost.example.com",
            "http://127.0.0.1.example.com",
            "http://127.1",
            "http://10.0.0.1",
            "http://[::2]:80",
        ] {
            assert!(!is_private(address), "{address}");
        }
    }
}
