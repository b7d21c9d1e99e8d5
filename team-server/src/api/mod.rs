//! What is asked over HTTP, and its description: a route exists only through the handler that describes
//! it, so `/openapi.json` cannot leave one out.

mod health;
mod history;
mod query;
mod team_memory;

use std::sync::Arc;

use axum::Json;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "memdir team server",
        description = "Team memory: what a team's agents remember of a repository, by key. \
            Every answer has an `x-request-id`; every refusal has the body `ErrorBody`."
    ),
    modifiers(&Bearer)
)]
struct Description;

struct Bearer;

impl Modify for Bearer {
    fn modify(&self, description: &mut utoipa::openapi::OpenApi) {
        let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        let components = description.components.get_or_insert_default();
        components.add_security_scheme("token", bearer);
    }
}

/// All routes of the API, with their description.
pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(team_memory::get_memory, team_memory::put_memory))
        .routes(routes!(history::get_repositories))
        .routes(routes!(history::get_history))
        .routes(routes!(health::get_health))
        .routes(routes!(health::get_ready))
        .routes(routes!(health::get_metrics))
        .routes(routes!(get_description))
}

/// The description of the API as JSON.
///
/// # Errors
/// Never, as all of it has a form in JSON.
pub fn description() -> Result<String, serde_json::Error> {
    let (_, description) = routes().split_for_parts();
    serde_json::to_string_pretty(&description)
}

/// This description.
#[utoipa::path(
    get,
    path = "/openapi.json",
    tag = "server",
    responses((status = 200, description = "The description of this API.", body = Object))
)]
async fn get_description() -> Json<utoipa::openapi::OpenApi> {
    let (_, description) = routes().split_for_parts();
    Json(description)
}
