//! The socket: who connects, for how long, and how the server ends. Heads, bodies and answers that do
//! not move on are given up, so that slow clients cannot hold the server.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio_io_timeout::TimeoutStream;

use crate::app::App;
use crate::limits::{HEADERS, Limits};
use crate::storage::{Address, Storage, StorageError};

/// Bytes of a head that are read at all. Smaller ones that are still too large get a proper answer.
const HEAD_BYTES: usize = 128 * 1024;
/// Pause after the system would not give a connection, as when there are too many files open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

type Connection =
    http1::Connection<TokioIo<Pin<Box<TimeoutStream<TcpStream>>>>, TowerToHyperService<Router>>;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The address.
    #[error("cannot listen at {0}: {1}")]
    Listen(String, std::io::Error),
}

/// A server that runs.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    storage: Storage,
    accepting: JoinHandle<()>,
    writing: JoinHandle<()>,
}

impl Server {
    /// Opens the database and the socket; from then on it answers.
    ///
    /// # Errors
    /// When one of them cannot be opened.
    pub async fn start(data: &Address, listen: &str, limits: Limits) -> Result<Self, StartError> {
        let storage = Storage::open(data).await?;
        let fail = |error| StartError::Listen(listen.to_owned(), error);
        let listener = TcpListener::bind(listen).await.map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        let (app, writing) = App::start(storage.clone(), limits);
        let (stop, stopped) = watch::channel(false);
        let accepting = tokio::spawn(accept(listener, app, stopped));
        Ok(Self {
            address,
            stop,
            storage,
            accepting,
            writing,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The database that it serves.
    #[must_use]
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Takes no new connection, answers what was asked, writes what waits, and closes the database.
    pub async fn stop(self) {
        let _ = self.stop.send(true);
        // A task that panicked has ended, too.
        let _ = self.accepting.await;
        let _ = self.writing.await;
        self.storage.close().await;
    }
}

async fn accept(listener: TcpListener, app: Arc<App>, mut stopped: watch::Receiver<bool>) {
    let router = app.router();
    let places = Arc::new(Semaphore::new(app.limits.connections.max(1)));
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        tokio::select! {
            _ = stopped.changed() => break,
            // Takes the ended ones out.
            Some(_) = connections.join_next() => {}
            (place, connection) = next => match (place, connection) {
                (Ok(place), Ok((stream, _))) => {
                    let connection = serve(&app.limits, router.clone(), stream);
                    let connection = graceful.watch(connection);
                    connections.spawn(async move {
                        // Between two machines anything goes wrong; there is nothing to do about it.
                        let _ = connection.await;
                        drop(place);
                    });
                }
                _ => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
        }
    }
    app.begin_to_stop();
    drop(listener);
    let grace = app.limits.grace_time;
    if tokio::time::timeout(grace, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("some requests had not ended when the server did");
    }
    connections.shutdown().await;
}

fn serve(limits: &Limits, router: Router, stream: TcpStream) -> Connection {
    // An answer is small or goes out in large pieces.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.stall_time));
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_headers(HEADERS.saturating_mul(4))
        .max_buf_size(HEAD_BYTES)
        .serve_connection(
            TokioIo::new(Box::pin(stream)),
            TowerToHyperService::new(router),
        )
}
