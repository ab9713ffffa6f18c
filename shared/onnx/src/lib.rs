//! Classifies images with an ONNX model provided by the operator, and a card that describes its input and outputs. rten
//! runs the model on one thread outside the async runtime. Loading tries the model out, so a mismatch with its card is
//! found at the start. [`KNOWN`] models have built-in cards; a file provided by the operator is accepted as one only if
//! its hash matches.

mod card;
mod files;
mod known;
mod model;
mod wheel;

pub use card::{Card, MAX_CARD_BYTES};
pub use files::FileError;
pub use known::{AddError, CARD_FILE, KNOWN, KnownFile, KnownModel, LICENCE_FILE, MODEL_FILE, remove};
pub use model::Onnx;

/// A model that cannot be used, described in one line.
#[derive(Debug, thiserror::Error)]
#[error("the model card {card}: {why}")]
pub struct Unusable {
    /// Path of the card.
    pub card: String,
    /// Reason.
    pub why: String,
}
