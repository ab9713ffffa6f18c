//! An AWS endpoint inside this process: a function call answers the SDK's requests instead of the network.

use async_trait::async_trait;
use aws_sdk_s3::primitives::{ByteStream, SdkBody};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use bytes::Bytes;
use http::{Request, Response};
use std::fmt::Debug;
use std::sync::Arc;

/// Answers requests like the services of AWS. For simulations, which must not wait for a network.
#[async_trait]
pub trait Endpoint: Debug + Send + Sync {
    /// Returns the response to a signed request.
    async fn answer(&self, request: Request<Bytes>) -> Response<Bytes>;
}

/// Passes the SDK's requests to the endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Inside(pub(crate) Arc<dyn Endpoint>);

impl HttpClient for Inside {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Inside {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let endpoint = Arc::clone(&self.0);
        HttpConnectorFuture::new(async move {
            let other = |error: Box<dyn std::error::Error + Send + Sync>| ConnectorError::other(error, None);
            let (head, body) = request.try_into_http1x().map_err(|e| other(e.into()))?.into_parts();
            let body = ByteStream::new(body).collect().await.map_err(|e| other(e.into()))?.into_bytes();
            let answer = endpoint.answer(Request::from_parts(head, body)).await.map(SdkBody::from);
            HttpResponse::try_from(answer).map_err(|e| other(e.into()))
        })
    }
}
