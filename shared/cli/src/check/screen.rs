use super::{Answer, CheckError, Question, bad_input};
use curlew_crawl::pages::image::{DECODED_BYTES, scaled_down};
use curlew_crawl::pages::judge::Judge;
use curlew_ports::InlinePool;
use curlew_screen::Page;
use serde_json::{Value, json};
use url::Url;

pub(super) async fn answer(question: &Question, judge: &Judge) -> Answer {
    let url = question.text("url").and_then(|u| Url::parse(u).ok());
    let (text, image) = (question.text("text"), image(question)?);
    if text.is_none() && image.is_none() {
        return Err(bad_input("'text' or 'image_b64' is needed"));
    }
    let page = Page {
        title: question.text("title").unwrap_or_default(),
        text: text.unwrap_or_default(),
        language: question.text("language"),
        host: url.as_ref().and_then(Url::host_str),
    };
    let screened = judge.page(&InlinePool, &page, image.as_deref()).await;
    let screening = screened.map_err(|why| CheckError { kind: "unreadable", message: why.to_string() })?;
    let mut answer = json!(screening);
    answer["explanation"] = Value::from(screening.explain());
    if let (Some(eye), true) = (judge.eye(), image.is_some()) {
        answer["classifier"] = Value::from(eye);
    }
    Ok(answer)
}

/// Returns the image as a crawl would store it: decoded under the same limits, and scaled down.
fn image(question: &Question) -> Result<Option<Vec<u8>>, CheckError> {
    if question.0.get("image_b64").is_none_or(Value::is_null) {
        return Ok(None);
    }
    let bytes = question.bytes("", "image_b64")?;
    let jpeg = scaled_down(&bytes, DECODED_BYTES).map_err(|why| CheckError { kind: "image", message: why })?;
    Ok(Some(jpeg.to_vec()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use curlew_app::{Flags, Settings};
    use std::io::Cursor;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let picture = image::RgbImage::from_fn(width, height, |x, _| {
            let light = 0.6 + 0.4 * (x as f32 / width as f32);
            image::Rgb([232.0, 184.0, 152.0].map(|c: f32| (c * light) as u8))
        });
        let mut out = Cursor::new(Vec::new());
        image::DynamicImage::from(picture).write_to(&mut out, image::ImageFormat::Png).unwrap();
        out.into_inner()
    }

    fn ask(image: &[u8], adult: &str) -> Answer {
        let environment = [("CURLEW_SCREEN_ADULT".to_owned(), adult.to_owned())];
        let settings = Settings::load(&Flags::default(), environment.into_iter()).unwrap();
        let question = json!({ "image_b64": STANDARD.encode(image) });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(answer(&Question(question), &settings.judge))
    }

    #[test]
    fn an_image_alone_is_judged_and_the_region_that_decides_is_named() {
        let rejected = ask(&png(320, 240), "0.4").ok().unwrap();
        assert_eq!(rejected["verdict"], "reject");
        assert_eq!(rejected["topics"][0]["region"], json!({ "left": 0, "top": 0, "width": 100, "height": 100 }));
        assert!(rejected["explanation"].as_str().unwrap().contains("because of its image"));
        let passes = ask(&png(320, 240), "on").ok().unwrap();
        assert_eq!((&passes["verdict"], &passes["classifier"]), (&json!("pass"), &json!("skin regions")));
    }

    #[test]
    fn b13_an_image_that_breaks_a_limit_is_an_error_with_its_reason() {
        let mut huge = png(64, 64);
        huge[16..20].copy_from_slice(&50_000u32.to_be_bytes());
        huge[20..24].copy_from_slice(&50_000u32.to_be_bytes());
        for image in [huge, png(1, 1), b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(), b"GIF89a".to_vec()] {
            let error = ask(&image, "on").err().unwrap();
            assert_eq!(error.kind, "image");
            assert!(!error.message.is_empty());
        }
    }
}
