//! What operators are told of pictures that no model looks at.

use curlew_app::ImageScreening;

/// Returns a sentence for operators whose pictures no model looks at, with the command that changes it; `None` if one
/// does. `program` is how the operator calls it.
pub(crate) fn without_a_model(image: &ImageScreening, program: &str) -> Option<String> {
    match image {
        ImageScreening::Off => Some("pictures are not looked at: [screen] image is \"off\"".to_owned()),
        ImageScreening::Skin => Some(format!(
            "pictures are not really looked at: colours of skin are found, which count only with words; \
             `{program} model add open-nsfw FILE` has a model look at them"
        )),
        ImageScreening::Installed(_) | ImageScreening::Onnx(_) => None,
    }
}
