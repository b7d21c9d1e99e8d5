//! The page on which people read: three files that load nothing else. The policy lets no text of a
//! memory become anything but text, even if the script had a mistake.

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::app::App;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

pub(crate) fn routes() -> Router<Arc<App>> {
    let html = || async { file("text/html", include_str!("index.html")) };
    let script = || async { file("text/javascript", include_str!("app.js")) };
    let style = || async { file("text/css", include_str!("app.css")) };
    Router::new()
        .route("/", get(html))
        .route("/app.js", get(script))
        .route("/app.css", get(style))
}

fn file(kind: &'static str, text: &'static str) -> Response {
    let headers: [(HeaderName, String); 4] = [
        (header::CONTENT_TYPE, format!("{kind}; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
    ];
    (headers, text).into_response()
}
