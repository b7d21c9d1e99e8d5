//! Who may speak to the server, as the database has it.

use super::database::Value;
use super::{OpenChange, Storage, StorageError};
use crate::rights::Right;
use crate::token::Person;

/// A token as it is listed.
#[derive(Clone, Debug)]
pub struct TokenHead {
    /// What `revoke` takes.
    pub id: String,
    /// Whose it is.
    pub name: String,
    /// What it allows.
    pub rights: Vec<Right>,
    /// When it was made, milliseconds since the epoch.
    pub created_ms: i64,
    /// When it was revoked.
    pub revoked_ms: Option<i64>,
}

impl OpenChange {
    pub(crate) async fn add_token(
        &mut self,
        hash: &str,
        token: &TokenHead,
    ) -> Result<(), StorageError> {
        let sql = "INSERT INTO tokens (id, name, hash, created_ms) VALUES ($1, $2, $3, $4)";
        let values = [
            Value::Text(&token.id),
            Value::Text(&token.name),
            Value::Text(hash),
            Value::Int(token.created_ms),
        ];
        self.change.rows(sql, &values).await?;
        for right in &token.rights {
            let sql = "INSERT INTO rights (token, pattern, can_write) VALUES ($1, $2, $3)";
            let values = [
                Value::Text(&token.id),
                Value::Text(right.pattern.text()),
                Value::Int(i64::from(right.can_write)),
            ];
            self.change.rows(sql, &values).await?;
        }
        Ok(())
    }

    /// Whether there was such a token.
    pub(crate) async fn revoke(&mut self, id: &str, now_ms: i64) -> Result<bool, StorageError> {
        // What was revoked before keeps its time.
        let sql = "UPDATE tokens SET revoked_ms = COALESCE(revoked_ms, $1) WHERE id = $2 \
            RETURNING id";
        let values = [Value::Int(now_ms), Value::Text(id)];
        Ok(!self.change.rows(sql, &values).await?.is_empty())
    }
}

impl Storage {
    /// Whose token has this hash, if it was not revoked.
    pub(crate) async fn person(&self, hash: &str) -> Result<Option<Person>, StorageError> {
        let sql = "SELECT t.id, t.name, r.pattern, r.can_write FROM tokens t \
            JOIN rights r ON r.token = t.id WHERE t.hash = $1 AND t.revoked_ms IS NULL";
        let mut person = None;
        for row in self.rows(sql, &[Value::Text(hash)]).await? {
            let person = match &mut person {
                Some(person) => person,
                none => none.insert(Person {
                    id: row.text(0)?,
                    name: row.text(1)?,
                    rights: Vec::new(),
                }),
            };
            person
                .rights
                .push(Right::stored(&row.text(2)?, row.int(3)?)?);
        }
        Ok(person)
    }

    /// All tokens, the oldest first.
    pub(crate) async fn tokens(&self) -> Result<Vec<TokenHead>, StorageError> {
        let sql = "SELECT t.id, t.name, t.created_ms, t.revoked_ms, r.pattern, r.can_write \
            FROM tokens t JOIN rights r ON r.token = t.id \
            ORDER BY t.created_ms, t.id, r.pattern";
        let mut tokens: Vec<TokenHead> = Vec::new();
        for row in self.rows(sql, &[]).await? {
            let id = row.text(0)?;
            let right = Right::stored(&row.text(4)?, row.int(5)?)?;
            match tokens.last_mut() {
                Some(last) if last.id == id => last.rights.push(right),
                _ => tokens.push(TokenHead {
                    id,
                    name: row.text(1)?,
                    rights: vec![right],
                    created_ms: row.int(2)?,
                    revoked_ms: row.maybe_int(3)?,
                }),
            }
        }
        Ok(tokens)
    }
}
