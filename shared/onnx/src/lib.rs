//! Images classified by an ONNX model that the operator names: the model's file, and a card that says how it wants its
//! input and what its outputs mean. Computed by rten, in Rust, on one thread beside the runtime.
//!
//! What is bounded: the bytes of the card and of the model, the pixels of the input, the number of labels, the time that a
//! page waits for its image, and the images under way, of which there is one. A model is tried out when it is loaded, so
//! that one which does not fit its card is refused at the start and not with the first image.

mod card;
mod model;

pub use card::{Activation, Card, Layout, MAX_CARD_BYTES, MAX_LABELS, MAX_SIDE};
pub use model::{MAX_MODEL_BYTES, Onnx, TIME_LIMIT};

/// Why a model cannot be used; one line.
#[derive(Debug, thiserror::Error)]
#[error("the model card {card}: {why}")]
pub struct Unusable {
    /// The path of the card.
    pub card: String,
    /// What is wrong.
    pub why: String,
}
