//! How the body of an upload is read: not for ever, and not without end.

use axum::body::Body;
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout_at};

use crate::limits::Limits;
use crate::problem::Problem;

/// A body that is too large is read on and thrown away up to so many times the limit: a client that
/// still sends would not see the answer.
const DRAIN: usize = 8;

pub(crate) async fn read(body: Body, limits: &Limits) -> Result<Vec<u8>, Problem> {
    let deadline = Instant::now()
        .checked_add(limits.body_time)
        .ok_or_else(Problem::internal)?;
    let mut body = body;
    let mut bytes = Vec::new();
    let mut received: usize = 0;
    loop {
        let frame = timeout_at(deadline, body.frame()).await;
        let frame = match frame.map_err(|_| Problem::slow())? {
            Some(frame) => frame.map_err(|_| Problem::bad_request("the body ends too early"))?,
            None => break,
        };
        let Ok(data) = frame.into_data() else {
            continue;
        };
        received = received.saturating_add(data.len());
        if received <= limits.body_bytes {
            bytes.extend_from_slice(&data);
        } else if received > limits.body_bytes.saturating_mul(DRAIN) {
            break;
        }
    }
    if received > limits.body_bytes {
        return Err(Problem::body_too_large(limits.body_bytes));
    }
    Ok(bytes)
}
