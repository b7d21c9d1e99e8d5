//! What the person does who runs the server: tokens, history, restoring. These work on the database
//! itself, beside a server that runs or without one.

use std::collections::BTreeMap;
use std::io::{self, Write};

use memdir_core::team::checksum;

use crate::entries;
use crate::limits::{Limits, REVISIONS};
use crate::rights::{Repository, Right};
use crate::storage::{
    Author, Condition, Entry, Indexes, Refusal, Storage, StorageError, TokenHead, Upload,
};
use crate::time::iso;
use crate::token::{Token, random_hex};

/// Why a command did not do what it was told.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The database.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The system has no random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(#[from] getrandom::Error),
    /// The terminal or the pipe is gone.
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
    /// What it was told makes no sense.
    #[error("{0}")]
    Refused(String),
}

/// Makes a token and gives it, this once.
///
/// # Errors
/// When it cannot be written.
pub async fn create_token(
    storage: &Storage,
    name: &str,
    rights: Vec<Right>,
) -> Result<(TokenHead, Token), CommandError> {
    let token = Token::random()?;
    let hash = Token::hash_of(token.reveal()).unwrap_or_default();
    let mut distinct: Vec<Right> = Vec::new();
    for right in rights {
        match distinct
            .iter_mut()
            .find(|known| known.pattern == right.pattern)
        {
            Some(known) => known.can_write |= right.can_write,
            None => distinct.push(right),
        }
    }
    let head = TokenHead {
        id: random_hex::<4>()?,
        name: name.to_owned(),
        rights: distinct,
        created_ms: now_ms(),
        revoked_ms: None,
    };
    let mut change = storage.change().await?;
    change.add_token(&hash, &head).await?;
    change.commit().await?;
    Ok((head, token))
}

/// Whether there is no token yet, not even one that was revoked.
///
/// # Errors
/// When the database cannot be read.
pub async fn has_no_tokens(storage: &Storage) -> Result<bool, StorageError> {
    Ok(storage.tokens().await?.is_empty())
}

/// Prints one line for each token: id, state, name, rights, time.
///
/// # Errors
/// When they cannot be read or printed.
pub async fn list_tokens(storage: &Storage, out: &mut impl Write) -> Result<(), CommandError> {
    for token in storage.tokens().await? {
        let state = match token.revoked_ms {
            Some(ms) => format!("revoked {}", iso(ms)),
            None => "valid".to_owned(),
        };
        let rights: Vec<String> = token.rights.iter().map(ToString::to_string).collect();
        let TokenHead {
            id,
            name,
            created_ms,
            ..
        } = token;
        let created = iso(created_ms);
        writeln!(
            out,
            "{id}\t{name}\t{}\tcreated {created}\t{state}",
            rights.join(", ")
        )?;
    }
    Ok(())
}

/// Makes a token worthless, from the next request on.
///
/// # Errors
/// When there is no such token, or it cannot be written.
pub async fn revoke_token(storage: &Storage, id: &str) -> Result<(), CommandError> {
    let mut change = storage.change().await?;
    if !change.revoke(id, now_ms()).await? {
        let message = "there is no token with this id; token list shows them";
        return Err(CommandError::Refused(message.to_owned()));
    }
    change.commit().await?;
    Ok(())
}

/// Prints one line for each revision, the newest first: version, time, author, bytes, key.
///
/// # Errors
/// When they cannot be read or printed.
pub async fn history(
    storage: &Storage,
    repository: &str,
    key: Option<&str>,
    out: &mut impl Write,
) -> Result<(), CommandError> {
    let mut before = None;
    loop {
        // A version can have as many revisions as a repository entries, and is not to be cut in two.
        let most = i64::try_from(REVISIONS.saturating_mul(200)).unwrap_or(i64::MAX);
        let revisions = storage.history(repository, key, before, most).await?;
        for revision in &revisions {
            writeln!(
                out,
                "{}\t{}\t{}\t{}\t{}",
                revision.version,
                iso(revision.written_ms),
                revision.author,
                revision.bytes,
                revision.key
            )?;
        }
        let is_last = i64::try_from(revisions.len()).is_ok_and(|count| count < most);
        match revisions.last() {
            Some(last) if !is_last => before = Some(last.version),
            Some(_) => return Ok(()),
            None if before.is_some() => return Ok(()),
            None => {
                let message = "there is no such repository or entry";
                return Err(CommandError::Refused(message.to_owned()));
            }
        }
    }
}

/// Writes what an entry had in a version as a new version, which it gives.
///
/// # Errors
/// When there is no such revision, when it would be refused today, or when it cannot be written.
pub async fn restore(
    storage: &Storage,
    limits: &Limits,
    repository: &str,
    key: &str,
    version: i64,
) -> Result<i64, CommandError> {
    let refused = |message: &str| CommandError::Refused(message.to_owned());
    if Repository::parse(repository).is_none() {
        return Err(refused("a repository is named owner/repo"));
    }
    let revision = storage.revision(repository, key, version).await?;
    let content = revision
        .ok_or_else(|| refused("the entry has no such version; history shows them"))?
        .content;
    // Today's rules may know more secrets than those of that time.
    let texts = BTreeMap::from([(key.to_owned(), content.clone())]);
    if let Some(secret) = entries::secrets(&texts).first() {
        let message = format!("there is a secret in that version ({})", secret.rule);
        return Err(CommandError::Refused(message));
    }
    let checksum = checksum(&content);
    let upload = Upload {
        repository: repository.to_owned(),
        condition: Condition::Operator,
        entries: BTreeMap::from([(key.to_owned(), Entry { content, checksum })]),
        author: Author {
            name: "operator".to_owned(),
            token: None,
        },
    };
    let mut change = storage.change().await?;
    let mut indexes = Indexes::default();
    let put = change.put(&mut indexes, limits, &upload, now_ms());
    let stored = put.await?.map_err(|refusal| match refusal {
        Refusal::Key(error) => CommandError::Refused(error.message),
        _ => refused("the repository would be too large"),
    })?;
    change.commit().await?;
    Ok(stored.version)
}

fn now_ms() -> i64 {
    chrono::Utc::now().timestamp_millis()
}
