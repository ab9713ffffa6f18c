//! The parts of the program that are cargo features, and what is said where one was left out.
//!
//! The default build is the embedded engine. The AWS SDKs and the ONNX runtime take longer to compile than all the rest, and
//! few need them.

use anyhow::Result;
use curlew_screen::image::ImageClassifier;
use curlew_stages::program::Ports;
use std::path::Path;
use std::sync::Arc;

/// The store of a stack, by the credentials and the region of the environment.
#[cfg(feature = "aws")]
pub(crate) async fn stack(name: &str) -> Result<Ports> {
    let connection = curlew_aws::Connection::from_environment().await;
    let bucket = curlew_aws::find_bucket(&connection, name).await?;
    let store = curlew_aws::Store::new(&connection, curlew_aws::Names { stack: name.to_owned(), bucket });
    let (hosts, jobs) = (store.hosts(), store.jobs());
    Ok(Ports {
        ledger: hosts.clone(),
        hosts,
        robots: store.robots(),
        marks: store.marks(),
        pages: store.pages(),
        sources: store.sources(),
        queue: jobs.clone(),
        inbox: jobs,
        blobs: store.objects(),
    })
}

/// The store of a stack: this build has none.
#[cfg(not(feature = "aws"))]
#[expect(clippy::unused_async, reason = "the build that has the feature waits for the stack")]
pub(crate) async fn stack(_: &str) -> Result<Ports> {
    Err(missing("--aws", "aws"))
}

/// Amazon Rekognition, by the credentials and the region of the environment.
#[cfg(feature = "aws")]
pub(crate) async fn rekognition() -> Result<Arc<dyn ImageClassifier>> {
    // Much is read to open it; every command would carry room for that.
    let connection = Box::pin(curlew_aws::Connection::from_environment()).await;
    Ok(Arc::new(curlew_rekognition::Rekognition::new(connection.config())))
}

/// Amazon Rekognition: this build has none.
#[cfg(not(feature = "aws"))]
#[expect(clippy::unused_async, reason = "the build that has the feature waits for the connection")]
pub(crate) async fn rekognition() -> Result<Arc<dyn ImageClassifier>> {
    Err(missing("[screen]: image = \"rekognition\"", "aws"))
}

/// The ONNX model that a card describes.
#[cfg(feature = "onnx")]
pub(crate) fn onnx(card: &Path) -> Result<Arc<dyn ImageClassifier>> {
    let onnx = curlew_onnx::Onnx::load(card);
    Ok(Arc::new(onnx.map_err(|e| crate::config::BadSettings::new(&format!("[screen]: {e}")))?))
}

/// The ONNX model that a card describes: this build can run none.
#[cfg(not(feature = "onnx"))]
pub(crate) fn onnx(_: &Path) -> Result<Arc<dyn ImageClassifier>> {
    Err(missing("[screen]: image = \"onnx\"", "onnx"))
}

#[cfg(not(all(feature = "aws", feature = "onnx")))]
fn missing(what: &str, feature: &str) -> anyhow::Error {
    crate::failure::usage(format!(
        "{what} needs a `curlew` that was built with the feature {feature}: \
         `cargo build --release --features {feature}` makes one"
    ))
}
