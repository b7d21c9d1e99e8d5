//! The one task that writes. It takes all uploads that wait into one transaction, each in a part that
//! can be undone by itself, and answers them after the commit: so fifty uploads at once cost one wait
//! for the disk, and nothing is acknowledged that a loss of power could take back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::limits::{BATCH_TIME, Limits, WRITE_TIME};
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::storage::{Indexes, OpenChange, Refusal, Storage, StorageError, Stored, Upload};

/// Uploads of one transaction.
const TOGETHER: usize = 64;

/// Where uploads wait.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Job>,
    /// Whether the last transaction came to its end.
    works: Arc<AtomicBool>,
}

/// Something to write, and who waits for it.
struct Job {
    /// None to learn whether writing works.
    upload: Option<Upload>,
    answer: oneshot::Sender<Answer>,
}

/// Why a change failed; many uploads may have failed for the same reason.
type Answer = Result<Result<Stored, Refusal>, Problem>;

impl Writer {
    /// Starts the task; it ends when all writers are gone.
    pub fn start(
        storage: Storage,
        limits: Limits,
        metrics: Arc<Metrics>,
    ) -> (Self, JoinHandle<()>) {
        let (queue, waiting) = mpsc::channel(limits.waiting.max(1));
        let works = Arc::new(AtomicBool::new(true));
        let task = Task {
            storage,
            limits,
            metrics,
            indexes: Indexes::default(),
            works: Arc::clone(&works),
        };
        let task = tokio::spawn(task.run(waiting));
        (Self { queue, works }, task)
    }

    /// Writes an upload; returns when it is on the disk.
    pub async fn put(&self, upload: Upload, limits: &Limits) -> Result<Stored, Problem> {
        let stored = self.ask(Some(upload)).await?;
        stored.map_err(|refusal| Problem::refused(refusal, limits))
    }

    /// Whether writing works; when it did not the last time, it is tried.
    pub async fn check(&self) -> Result<(), Problem> {
        if self.works.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.ask(None).await.map(drop)
    }

    async fn ask(&self, upload: Option<Upload>) -> Answer {
        let (answer, answered) = oneshot::channel();
        self.queue
            .try_send(Job { upload, answer })
            .map_err(|_| Problem::busy())?;
        match tokio::time::timeout(WRITE_TIME, answered).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => Err(Problem::busy()),
        }
    }
}

struct Task {
    storage: Storage,
    limits: Limits,
    metrics: Arc<Metrics>,
    indexes: Indexes,
    works: Arc<AtomicBool>,
}

impl Task {
    async fn run(mut self, mut waiting: mpsc::Receiver<Job>) {
        let mut jobs = Vec::new();
        while waiting.recv_many(&mut jobs, TOGETHER).await > 0 {
            // Who has gone away will ask again.
            jobs.retain(|job| !job.answer.is_closed());
            if jobs.is_empty() {
                continue;
            }
            // Two replicas that lock several repositories in different orders would wait for each other.
            jobs.sort_by(|one, two| one.name().cmp(&two.name()));
            let uploads: Vec<_> = jobs.iter().map(|job| job.upload.as_ref()).collect();
            let storage = self.storage.clone();
            let outcome = storage.within(BATCH_TIME, self.write(&uploads)).await;
            let works = outcome
                .as_ref()
                .is_ok_and(|all| all.iter().all(Result::is_ok));
            self.works.store(works, Ordering::Relaxed);
            match outcome {
                Ok(answers) => {
                    for (job, answer) in jobs.drain(..).zip(answers) {
                        // Nobody may wait any more.
                        let _ = job.answer.send(answer);
                    }
                }
                Err(error) => {
                    self.indexes.forget();
                    let problem = Problem::from(error);
                    for job in jobs.drain(..) {
                        let _ = job.answer.send(Err(problem.clone()));
                    }
                }
            }
        }
    }

    /// One transaction. An error means that nothing of it has happened, as far as anybody can tell.
    async fn write(&mut self, uploads: &[Option<&Upload>]) -> Result<Vec<Answer>, StorageError> {
        let now_ms = chrono::Utc::now().timestamp_millis();
        let mut change = self.storage.change().await?;
        let mut answers = Vec::new();
        for upload in uploads {
            answers.push(match upload {
                Some(upload) => self.part(&mut change, upload, now_ms).await?,
                None => {
                    change.probe(now_ms).await?;
                    Ok(Ok(Stored::default()))
                }
            });
        }
        change.commit().await?;
        self.metrics.committed(uploads.len());
        Ok(answers)
    }

    /// One upload. What it fails with is its own matter, as long as it can be undone alone.
    async fn part(
        &mut self,
        change: &mut OpenChange,
        upload: &Upload,
        now_ms: i64,
    ) -> Result<Answer, StorageError> {
        change.begin_part().await?;
        let put = change.put(&mut self.indexes, &self.limits, upload, now_ms);
        let stored = put.await;
        match &stored {
            Ok(Ok(_)) => change.keep_part().await?,
            Ok(Err(_)) => change.undo_part().await?,
            Err(_) if change.undo_part().await.is_ok() => {}
            Err(_) => return stored.map(Ok),
        }
        Ok(stored.map_err(Problem::from))
    }
}

impl Job {
    fn name(&self) -> Option<&str> {
        self.upload
            .as_ref()
            .map(|upload| upload.repository.as_str())
    }
}
