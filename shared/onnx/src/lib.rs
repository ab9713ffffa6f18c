//! Classifies images with an ONNX model that the operator names, by a card that describes its input and outputs. rten
//! computes it on one thread beside the runtime. A model is tried out when it is loaded, so a mismatch with its card is
//! found at the start. [`KNOWN`] models have their card here; a file that the operator has fetched is taken for one
//! only if its hash is the known one.

mod card;
mod files;
mod known;
mod model;
mod wheel;

pub use card::{Card, MAX_CARD_BYTES};
pub use files::FileError;
pub use known::{AddError, CARD_FILE, KNOWN, KnownFile, KnownModel, LICENCE_FILE, MODEL_FILE, remove};
pub use model::Onnx;

/// A model that cannot be used; one line.
#[derive(Debug, thiserror::Error)]
#[error("the model card {card}: {why}")]
pub struct Unusable {
    /// The path of the card.
    pub card: String,
    /// Reason.
    pub why: String,
}
