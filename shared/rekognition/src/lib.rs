//! Images classified by Amazon Rekognition: `DetectModerationLabels`, one call for each image, for which AWS charges
//! about a tenth of a cent. Off unless the operator switches it on.
//!
//! The call contains the thumbnail of the image. A table here maps labels to topics; the labels are those of moderation
//! model 7. If a call fails, the page is judged by its words alone.

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_rekognition::Client;
use aws_sdk_rekognition::error::DisplayErrorContext;
use aws_sdk_rekognition::primitives::Blob;
use aws_sdk_rekognition::types::Image;
use curlew_screen::Topic;
use curlew_screen::image::labels::detections;
use curlew_screen::image::{Detection, ImageClassifier, ImageInput, Label, NotClassified};
use std::time::Duration;

/// Maximum number of tries of a call, the first one included. Each answered try is billed.
const TRIES: u32 = 2;
/// Maximum time of all tries of a call.
const CALL_TIME: Duration = Duration::from_secs(10);
/// Minimum confidence of labels that are requested, in per cent.
const LEAST_CONFIDENCE: f32 = 25.0;
/// Maximum number of characters of an error that are kept.
const MAX_WHY: usize = 300;
/// Labels of interest, each with its topic and the confidence from which on it rejects. Swimwear, weapons, alcohol and
/// tobacco are left out, since news sites and shops show them.
const LABELS: [(&str, Topic, f32); 6] = [
    ("Explicit", Topic::Adult, 0.6),
    ("Explicit Nudity", Topic::Adult, 0.6),
    ("Graphic Violence", Topic::Violence, 0.8),
    ("Self-Harm", Topic::SelfHarm, 0.8),
    ("Hate Symbols", Topic::Hate, 0.9),
    ("Gambling", Topic::Gambling, 0.9),
];

/// A classifier by Amazon Rekognition.
#[derive(Clone, Debug)]
pub struct Rekognition {
    client: Client,
}

impl Rekognition {
    /// Creates a classifier in the region and with the credentials of this configuration, which also sets the HTTP
    /// client. Makes no call.
    pub fn new(config: &SdkConfig) -> Rekognition {
        let config = aws_sdk_rekognition::config::Builder::from(config)
            .retry_config(RetryConfig::standard().with_max_attempts(TRIES))
            .timeout_config(TimeoutConfig::builder().operation_timeout(CALL_TIME).build())
            .build();
        Rekognition { client: Client::from_conf(config) }
    }
}

#[async_trait]
impl ImageClassifier for Rekognition {
    fn name(&self) -> &'static str {
        "Amazon Rekognition"
    }

    async fn classify(&self, image: &ImageInput<'_>) -> Result<Vec<Detection>, NotClassified> {
        let bytes = Image::builder().bytes(Blob::new(image.jpeg)).build();
        let call = self.client.detect_moderation_labels().image(bytes).min_confidence(LEAST_CONFIDENCE);
        let answer = call
            .send()
            .await
            .map_err(|error| NotClassified(DisplayErrorContext(&error).to_string().chars().take(MAX_WHY).collect()))?;
        let known: Vec<(Label, f32)> = answer
            .moderation_labels()
            .iter()
            .filter_map(|found| Some((label(found.name()?)?, found.confidence()? / 100.0)))
            .collect();
        Ok(detections(known.iter().map(|(label, confidence)| (label, *confidence)), self.name()))
    }
}

fn label(name: &str) -> Option<Label> {
    let (name, topic, from) = LABELS.into_iter().find(|(known, _, _)| *known == name)?;
    Some(Label { name: name.to_owned(), topic: Some(topic), from })
}
