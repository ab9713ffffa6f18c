//! Tables, queues and objects in memory, and the endpoint through which a function calls them.

use super::access::lock;
use super::mappings::MemoryMappings;
use super::objects::Bucket;
use super::processor::Processor;
use super::queues::Queues;
use super::tables::Tables;
use crate::aws::call::{Call, Service};
use crate::aws::charge::json;
use crate::aws::dynamodb::Asked;
use crate::aws::meter::Meter;
use async_trait::async_trait;
use bytes::Bytes;
use curlew_aws::Endpoint;
use http::{Request, Response, StatusCode};
use std::sync::{Arc, Mutex};

/// Everything that a stack stores.
#[derive(Debug, Default)]
pub(super) struct Cloud {
    pub(super) tables: Mutex<Tables>,
    pub(super) objects: Mutex<Bucket>,
    pub(super) queues: Queues,
    pub(super) mappings: MemoryMappings,
    pub(super) meter: Meter,
}

impl Cloud {
    /// Answers a call and bills it.
    fn answer(&self, call: &Call, path: &str, request: &Request<Bytes>) -> Response<Bytes> {
        let body = request.body();
        match call.service {
            Service::DynamoDb => {
                let asked = Asked::of(&call.operation, body);
                let (status, answer) = lock(&self.tables).call(&call.operation, &json(&asked.body()));
                let answer = Bytes::from(answer.to_string());
                of_json(status, asked.metered(&self.meter, call, status, answer))
            }
            Service::Sqs => {
                let answer = Bytes::from(self.queues.call(&call.operation, &json(body)).to_string());
                self.meter.answered(call, path, body, 200, &answer);
                of_json(200, answer)
            }
            Service::S3 => {
                let answer = lock(&self.objects).call(&call.operation, path, request);
                self.meter.answered(call, path, body, answer.status().as_u16(), answer.body());
                answer
            }
            _ => {
                let (status, answer) = self.mappings.call(request.method().as_str(), path, &json(body));
                let answer = Bytes::from(answer.to_string());
                self.meter.answered(call, path, body, status, &answer);
                of_json(status, answer)
            }
        }
    }
}

/// The endpoint of one execution environment.
#[derive(Debug)]
pub(super) struct Entrance {
    pub(super) cloud: Arc<Cloud>,
    pub(super) caller: &'static str,
    pub(super) processor: Arc<Processor>,
}

#[async_trait]
impl Endpoint for Entrance {
    async fn answer(&self, request: Request<Bytes>) -> Response<Bytes> {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
        let call = Call::of(request.method().as_str(), &path, request.headers());
        let call = Call { caller: self.caller.to_owned(), ..call };
        self.processor.called(&call, request.body()).await;
        tokio::time::sleep(call.service.call_time()).await;
        self.cloud.answer(&call, &path, &request)
    }
}

fn of_json(status: u16, body: Bytes) -> Response<Bytes> {
    let mut answer = Response::new(body);
    *answer.status_mut() = StatusCode::from_u16(status).unwrap();
    answer.headers_mut().insert("content-type", "application/x-amz-json-1.0".parse().unwrap());
    answer
}
