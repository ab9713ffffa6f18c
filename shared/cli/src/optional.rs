//! Parts behind cargo features, because the AWS SDKs are slow to compile and few users need them or Parquet.

use anyhow::Result;
use curlew_ports::{PortError, Ports};

/// Connects to the store of the named stack, with the credentials and the region of the environment.
#[cfg(feature = "aws")]
pub(crate) async fn stack(name: &str) -> Result<Ports> {
    let connection = curlew_aws::Connection::from_environment().await;
    let bucket = curlew_aws::find_bucket(&connection, name).await?;
    let store = curlew_aws::Store::new(&connection, curlew_aws::Names { stack: name.to_owned(), bucket });
    store.check_version().await?;
    Ok(store.ports())
}

#[cfg(feature = "aws")]
pub(crate) async fn invoke(stack: &str, function: &str, event: &str) -> Result<()> {
    let connection = curlew_aws::Connection::from_environment().await;
    curlew_aws::Functions::new(&connection, stack).invoke(function, event.as_bytes()).await?;
    Ok(())
}

/// Returns the right that the credentials lack, if that is the error: the action that AWS names, or else `action`.
#[cfg(feature = "aws")]
pub(crate) fn missing_right(error: &PortError, action: &str) -> Option<String> {
    let denied = curlew_aws::MissingRight::find(error)?;
    Some(format!("{} on {}", denied.action.as_deref().unwrap_or(action), denied.place))
}

#[cfg(not(feature = "aws"))]
pub(crate) fn missing_right(_: &PortError, _: &str) -> Option<String> {
    None
}

#[cfg(not(feature = "aws"))]
#[expect(clippy::unused_async, reason = "the build that has the feature waits for the stack")]
pub(crate) async fn stack(_: &str) -> Result<Ports> {
    Err(missing("--aws", "aws"))
}

#[cfg(not(feature = "aws"))]
pub(crate) async fn invoke(_: &str, _: &str, _: &str) -> Result<()> {
    Err(missing("--aws", "aws"))
}

#[cfg(not(all(feature = "aws", feature = "parquet")))]
pub(crate) fn missing(what: &str, feature: &str) -> anyhow::Error {
    crate::failure::usage(format!(
        "{what} needs a `curlew` built with the feature {feature}: \
         `cargo build --release --features {feature}` builds one"
    ))
}
