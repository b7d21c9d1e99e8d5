//! Which text is the address of a server that a key may be sent to.

use crate::error::{Error, ErrorCode};

/// The address without blanks around it and slashes at its end; `whose` says in an error what it is for.
///
/// # Errors
/// `invalid-argument` for what is no `http(s)` address, or holds a query, a user or a password.
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
    Ok(address.to_owned())
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
    use super::is_private;

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
