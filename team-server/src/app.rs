//! What all requests share, and the router over it.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::response::{IntoResponse, Response};
use tokio::task::JoinHandle;
use tower_http::catch_panic::CatchPanicLayer;

use crate::answers::Answers;
use crate::api;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::observe::observe;
use crate::page;
use crate::problem::Problem;
use crate::rate::Rate;
use crate::storage::Storage;
use crate::writer::Writer;

/// One server without its socket.
#[derive(Debug)]
pub struct App {
    pub(crate) storage: Storage,
    pub(crate) writer: Writer,
    pub(crate) limits: Limits,
    pub(crate) rate: Rate,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) answers: Answers,
    stopping: AtomicBool,
}

impl App {
    /// Starts the writer over a database. The task ends, with everything written, when the app and
    /// its router are dropped.
    #[must_use]
    pub fn start(storage: Storage, limits: Limits) -> (Arc<Self>, JoinHandle<()>) {
        let metrics = Arc::new(Metrics::new());
        let (writer, task) = Writer::start(storage.clone(), limits.clone(), Arc::clone(&metrics));
        let app = Self {
            rate: Rate::new(&limits),
            answers: Answers::default(),
            stopping: AtomicBool::new(false),
            storage,
            writer,
            limits,
            metrics,
        };
        (Arc::new(app), task)
    }

    /// Everything that the server answers.
    pub fn router(self: &Arc<Self>) -> Router {
        let (router, _) = api::routes().split_for_parts();
        let panicked = CatchPanicLayer::custom(|_: Box<dyn Any + Send>| -> Response {
            Problem::internal().into_response()
        });
        router
            .merge(page::routes())
            .fallback(|| async { Problem::not_found() })
            .method_not_allowed_fallback(|| async { Problem::method() })
            .layer(panicked)
            .layer(axum::middleware::from_fn_with_state(
                Arc::clone(self),
                observe,
            ))
            .with_state(Arc::clone(self))
    }

    /// From now on it says that it is not ready, so that a load balancer looks elsewhere.
    pub(crate) fn begin_to_stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}
