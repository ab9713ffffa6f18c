//! The classifier against a local endpoint that speaks the service's protocol (awsJson1_1).
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use aws_config::{BehaviorVersion, Region};
use curlew_rekognition::Rekognition;
use curlew_screen::Topic;
use curlew_screen::image::{Detection, ImageClassifier, ImageInput, NotClassified, Rgb};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A recorded call: its header lines in lower case, and its body.
type Asked = (String, Value);

async fn read_call(stream: &mut TcpStream) -> Asked {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece).await.unwrap();
        bytes.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_ascii_lowercase();
        let length =
            head.lines().find_map(|l| l.strip_prefix("content-length:")).map_or(0, |l| l.trim().parse().unwrap());
        if body.len() >= length {
            return (head, serde_json::from_str(body).unwrap());
        }
    }
}

/// Starts an endpoint that answers each call the same way; returns the recorded calls, and the classifier that makes
/// them.
async fn endpoint(status: &'static str, body: Value) -> (Arc<Mutex<Vec<Asked>>>, Rekognition) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
    let log = asked.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let call = read_call(&mut stream).await;
            log.lock().unwrap().push(call);
            let body = body.to_string();
            let head = "content-type: application/x-amz-json-1.1\r\nconnection: close";
            let answer = format!("HTTP/1.1 {status}\r\n{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    let config = aws_config::defaults(BehaviorVersion::latest()).endpoint_url(url).region(Region::new("eu-west-1"));
    let config = config.http_client(aws_smithy_http_client::Builder::new().build_http());
    (asked, Rekognition::new(&config.test_credentials().load().await))
}

async fn classified(rekognition: &Rekognition) -> Result<Vec<Detection>, NotClassified> {
    let pixels = [90; 64 * 64 * 3];
    let rgb = Rgb::new(64, 64, &pixels).unwrap();
    rekognition.classify(&ImageInput { rgb, jpeg: b"a picture" }).await
}

#[tokio::test]
async fn labels_become_topics_each_from_its_own_confidence_on() {
    let label = |name: &str, parent: &str, confidence: f64| json!({ "Name": name, "ParentName": parent, "Confidence": confidence, "TaxonomyLevel": 2 });
    let labels = [
        label("Explicit", "", 97.0),
        label("Explicit Nudity", "Explicit", 97.0),
        label("Weapons", "Violence", 99.0),
        label("Graphic Violence", "Violence", 60.0),
        label("Swimwear or Underwear", "", 99.0),
    ];
    let (asked, rekognition) =
        endpoint("200 OK", json!({ "ModerationLabels": labels, "ModerationModelVersion": "7.0" })).await;
    let seen = classified(&rekognition).await.unwrap();
    let scores: Vec<(Topic, bool)> = seen.iter().map(|s| (s.score.topic, s.score.score >= 0.5)).collect();
    assert_eq!(scores, [(Topic::Adult, true), (Topic::Violence, false)]);
    assert_eq!(seen[0].why, "Amazon Rekognition calls it “Explicit” with 97 %");
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 1, "each call costs");
    assert!(asked[0].0.contains("x-amz-target: rekognitionservice.detectmoderationlabels"), "{}", asked[0].0);
    assert_eq!(asked[0].1, json!({ "Image": { "Bytes": "YSBwaWN0dXJl" }, "MinConfidence": 25.0 }));
}

#[tokio::test]
async fn a_refusal_says_why_and_is_not_tried_again() {
    let refusal =
        json!({ "__type": "AccessDeniedException", "Message": "no rekognition:DetectModerationLabels for you" });
    let (asked, rekognition) = endpoint("400 Bad Request", refusal).await;
    let why = classified(&rekognition).await.unwrap_err().to_string();
    assert!(why.contains("AccessDenied") && !why.contains('\n'), "{why}");
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_service_that_is_overloaded_is_asked_twice_and_no_more() {
    let throttled = json!({ "__type": "ProvisionedThroughputExceededException", "Message": "slow down" });
    let (asked, rekognition) = endpoint("400 Bad Request", throttled).await;
    assert!(classified(&rekognition).await.is_err());
    assert_eq!(asked.lock().unwrap().len(), 2);
}
