//! The stages behind a batch.

use crate::batch::Worker;
use async_trait::async_trait;
use curlew_model::{ExtractJob, Job};
use curlew_stages::stage::{StageError, Verdict};
use curlew_wiring::Program;

#[async_trait]
impl Worker for Program {
    async fn run(&self, job: &Job) -> Result<Verdict, StageError> {
        Program::run(self, job).await
    }

    async fn run_batch(&self, jobs: &[ExtractJob]) -> Vec<Result<Verdict, StageError>> {
        self.extract.run_batch(jobs).await
    }
}
