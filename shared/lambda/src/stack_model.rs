//! The image model in the stack's bucket: extract reads it at its start, and again if its card changes. Other functions
//! have no model, and are linked without its runtime.

use crate::failure::Failure;
use crate::in_force::InForce;
use bytes::Bytes;
use curlew_app::STACK_MODEL;
use curlew_model::Millis;
use curlew_onnx::{CARD_FILE, Card, MAX_CARD_BYTES, MODEL_FILE, Onnx};
use curlew_ports::stage::StageError;
use curlew_ports::{Blobs, PortError, Seen, Tag};
use curlew_screen::image::ImageClassifier;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Maximum size of a model in bytes: loading takes up to three times as much memory.
const MAX_MODEL: u64 = 64 << 20;
/// Interval at which the card is checked.
const LOOK_EVERY: Millis = Millis::from_mins(1);

/// The model in this process.
#[derive(Default)]
pub(crate) struct StackModel(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// Monotonic time of the last check of the card.
    looked_at: Option<Millis>,
    /// Tag of the card.
    card: Option<Tag>,
    eye: Option<Arc<dyn ImageClassifier>>,
    /// Settings as read, and a copy with the model. The copy is made once, since it remembers images.
    read: Option<Arc<InForce>>,
    judging: Option<Arc<InForce>>,
}

impl StackModel {
    /// Returns the settings in force with the stack's model, unless there is none or they choose another classifier.
    /// Fails if the model cannot be read or used: pages wait instead of being judged without it.
    pub(crate) async fn over(
        &self,
        blobs: &dyn Blobs,
        now: Millis,
        in_force: Arc<InForce>,
    ) -> Result<Arc<InForce>, Failure> {
        if in_force.settings.image_in_place_of_model().is_some() {
            return Ok(in_force);
        }
        let mut known = self.0.lock().await;
        if known.looked_at.is_none_or(|at| now.saturating_sub(at) >= LOOK_EVERY) {
            match blobs.get_changed(&key(CARD_FILE), known.card.as_ref()).await.map_err(StageError::from)? {
                Seen::Same => {}
                Seen::Changed(None) => *known = Known::default(),
                Seen::Changed(Some(card)) => {
                    let eye = load(blobs, &card.bytes).await?;
                    *known = Known { card: Some(card.tag), eye: Some(eye), ..Known::default() };
                }
            }
            known.looked_at = Some(now);
        }
        let Some(eye) = &known.eye else { return Ok(in_force) };
        let is_same = known.read.as_ref().is_some_and(|read| Arc::ptr_eq(read, &in_force));
        if let Some(judging) = known.judging.as_ref().filter(|_| is_same) {
            return Ok(judging.clone());
        }
        let judging = Arc::new(in_force.with_settings(in_force.settings.clone().with_only_eye(eye.clone())));
        (known.read, known.judging) = (Some(in_force), Some(judging.clone()));
        Ok(judging)
    }
}

fn key(file: &str) -> String {
    format!("{STACK_MODEL}{file}")
}

/// Reads the model that a card describes, and tests it.
async fn load(blobs: &dyn Blobs, card: &Bytes) -> Result<Arc<dyn ImageClassifier>, Failure> {
    let unusable = |why: String| Failure::Settings(format!("the model in {STACK_MODEL} cannot be used: {why}"));
    let text = std::str::from_utf8(card).ok().filter(|text| text.len() as u64 <= MAX_CARD_BYTES);
    let card = Card::read(text.ok_or_else(|| unusable("it is no card".to_owned()))?).map_err(unusable)?;
    let (Some(bytes), true) = (card.bytes, card.sha256.is_some()) else {
        return Err(unusable("its card does not state bytes and sha256".to_owned()));
    };
    if bytes > MAX_MODEL {
        return Err(unusable(format!("it has {bytes} bytes, and {MAX_MODEL} are the most")));
    }
    let model = match blobs.get_range(&key(MODEL_FILE), 0, bytes).await {
        Err(PortError::NotFound(_) | PortError::Corrupt { .. }) => Err(unusable("it is not whole".to_owned())),
        model => Ok(model.map_err(StageError::from)?),
    }?;
    let loaded = tokio::task::spawn_blocking(move || Onnx::new(card, model.to_vec())).await;
    let onnx = loaded.unwrap_or_else(|panic| Err(panic.to_string())).map_err(unusable)?;
    tracing::info!(model = onnx.name(), bytes, "the model for pictures was loaded");
    Ok(Arc::new(onnx))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use curlew_app::{Flags, Settings};
    use curlew_testkit::memory::MemoryBlobs;

    const CARD: &str =
        "name = \"m\"\nfile = \"m.onnx\"\nwidth = 8\nheight = 8\n[[label]]\nname = \"x\"\ntopic = \"adult\"\n";

    fn in_force(image: &str) -> Arc<InForce> {
        let environment = [("CURLEW_SCREEN_IMAGE".to_owned(), image.to_owned())];
        Arc::new(InForce::for_test(Settings::load(&Flags::default(), environment.into_iter()).unwrap()))
    }

    async fn over(card: &str, image: &str) -> Result<bool, String> {
        let (blobs, settings) = (MemoryBlobs::default(), in_force(image));
        if !card.is_empty() {
            blobs.put(&key(CARD_FILE), card.to_owned().into_bytes().into()).await.unwrap();
        }
        blobs.put(&key(MODEL_FILE), Bytes::from_static(b"no model")).await.unwrap();
        let judging = StackModel::default().over(&blobs, Millis::ZERO, settings.clone()).await;
        judging.map(|judging| Arc::ptr_eq(&judging, &settings)).map_err(|failure| failure.to_string())
    }

    #[tokio::test]
    async fn without_a_model_nothing_changes_and_one_that_cannot_be_used_is_said() {
        assert_eq!(over("", "auto").await, Ok(true));
        assert_eq!(over("no card", "skin").await, Ok(true), "it is not looked at");
        for (stated, says) in [
            ("", "does not state bytes and sha256"),
            ("bytes = 9\nsha256 = \"00\"\n", "it is not whole"),
            ("bytes = 8\nsha256 = \"00\"\n", "the card states 00"),
            ("bytes = 99999999999\nsha256 = \"00\"\n", "are the most"),
            ("bytes", "cannot be used"),
        ] {
            let failure = over(&format!("{stated}{CARD}"), "auto").await.unwrap_err();
            assert!(failure.contains(says), "{failure}");
        }
    }
}
