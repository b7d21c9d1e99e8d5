//! What machines ask: whether the process lives, whether it can serve, and its counters.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::problem::{ErrorBody, Problem};

#[derive(Serialize, ToSchema)]
pub(super) struct Health {
    #[schema(example = "ok")]
    status: &'static str,
}

/// Whether the process lives; a database that does not answer is no reason to start it anew.
#[utoipa::path(
    get,
    path = "/health",
    tag = "server",
    responses((status = 200, description = "It lives.", body = Health))
)]
pub(super) async fn get_health() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// Whether it can read and write.
#[utoipa::path(
    get,
    path = "/ready",
    tag = "server",
    responses(
        (status = 200, description = "It can.", body = Health),
        (status = 503, description = "The database does not answer, or the server is to end.", body = ErrorBody),
        (status = 507, description = "There is no space left to write.", body = ErrorBody)
    )
)]
pub(super) async fn get_ready(State(app): State<Arc<App>>) -> Result<Json<Health>, Problem> {
    if app.is_stopping() {
        let message = "the server is about to end";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        return Err(Problem::new(status, "stopping", message));
    }
    app.storage.check().await?;
    app.writer.check().await?;
    Ok(Json(Health { status: "ready" }))
}

/// Counters in the text format of Prometheus. They name no repository and no person.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "server",
    responses((status = 200, description = "The counters.", body = String, content_type = "application/openmetrics-text"))
)]
pub(super) async fn get_metrics(State(app): State<Arc<App>>) -> Response {
    // Without a database the other counters are wanted all the more.
    if let Ok(totals) = app.storage.totals().await {
        app.metrics.total(totals);
    }
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics.text()).into_response()
}
