//! What a token is: 256 random bits behind a prefix by which people and scanners recognise it. The
//! database has only its SHA-256. A slow hash with salt protects passwords, which can be guessed from a
//! list; nobody guesses 256 random bits, so one plain hash is enough, and quick enough for every request.

use memdir_core::team::checksum;

use crate::rights::{Repository, Right};

const PREFIX: &str = "mdt_";
const BYTES: usize = 32;

/// A token in clear, which is shown once.
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// A new one.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn random() -> Result<Self, getrandom::Error> {
        Ok(Self(format!("{PREFIX}{}", random_hex::<BYTES>()?)))
    }

    /// What the database knows it by; none for what cannot be a token.
    #[must_use]
    pub fn hash_of(text: &str) -> Option<String> {
        let digits = text.strip_prefix(PREFIX)?;
        let is_token = digits.len() == BYTES.saturating_mul(2)
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_token.then(|| checksum(text))
    }

    /// The token itself.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// So many random bytes in hexadecimal.
pub(crate) fn random_hex<const N: usize>() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Who sent a request.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    /// Of the token.
    pub id: String,
    pub name: String,
    pub rights: Vec<Right>,
}

impl Person {
    pub fn may_read(&self, repository: &str) -> bool {
        self.rights
            .iter()
            .any(|right| right.pattern.covers(repository))
    }

    pub fn may_write(&self, repository: &Repository) -> bool {
        self.rights
            .iter()
            .any(|right| right.can_write && right.pattern.covers(repository.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::Token;

    #[test]
    fn only_what_looks_like_a_token_has_a_hash() {
        let token = Token::random().unwrap();
        let hash = Token::hash_of(token.reveal()).unwrap();
        assert!(hash.starts_with("sha256:") && !hash.contains(token.reveal()));
        assert_ne!(Token::random().unwrap().reveal(), token.reveal());
        assert!(format!("{token:?}").len() < 10);
        for text in [
            "",
            "mdt_",
            "t0ken",
            token.reveal().trim_start_matches("mdt_"),
            &format!("{}0", token.reveal()),
        ] {
            assert_eq!(Token::hash_of(text), None);
        }
    }
}
