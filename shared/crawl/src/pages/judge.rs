//! The judge, which screens pages by their text and their images.

use crate::pages::image::opened;
use crate::pages::overrides;
use curlew_model::{Millis, Rejection, with_defaults};
use curlew_ports::{Blobs, Clock, CpuError, CpuPool, CpuTask, PortError, compute};
use curlew_screen::image::{Detection, ImageClassifier, ImageInput, NotClassified, Rgb};
use curlew_screen::{Override, Page, Screener, Screening, Verdict};
use lru::LruCache;
use parking_lot::Mutex;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Time for which overrides are cached.
pub const RULES_KNOWN_FOR: Millis = Millis::from_mins(1);
/// Maximum number of images whose classification or thumbnail a process caches.
pub(crate) const REMEMBERED_IMAGES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(255);

with_defaults! {
    /// Judges pages.
    pub struct Judge {
        images_are_optional: bool = false,
        /// True if an image that comes after its page is not judged, so that the page waits for it.
        awaits_images: bool = false,
        screener: Option<Arc<Screener>>,
        eye: Option<Arc<dyn ImageClassifier>>,
        /// Labels of recent thumbnails: pages of one site often share one, and a classifier may cost money.
        detections: Mutex<LruCache<Box<[u8]>, Vec<Detection>>> = Mutex::new(LruCache::sparse(REMEMBERED_IMAGES)),
        rules: Mutex<Option<(Arc<Vec<Override>>, Millis)>> = Mutex::default(),
    }

    /// Creates a judge with these settings; `eye` classifies images.
    new(screener: Option<Arc<Screener>>, eye: Option<Arc<dyn ImageClassifier>>)
}

impl fmt::Debug for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judge").field("screener", &self.screener).field("eye", &self.eye()).finish_non_exhaustive()
    }
}

impl Default for Judge {
    fn default() -> Judge {
        Judge::new(None, None)
    }
}

impl Judge {
    /// Makes the judge accept pages without an image if `are_optional` is true.
    #[must_use]
    pub fn with_images_optional(self, are_optional: bool) -> Judge {
        Judge { images_are_optional: are_optional, ..self }
    }

    /// Makes pages wait for images of other hosts, for a process that is the only one to judge images.
    #[must_use]
    pub fn awaiting_images(self) -> Judge {
        Judge { awaits_images: true, ..self }
    }

    pub(crate) fn awaits_images(&self) -> bool {
        self.awaits_images && self.may_reject_by_image()
    }

    /// Returns true if pages without an image are accepted.
    pub fn are_images_optional(&self) -> bool {
        self.images_are_optional
    }

    /// Checks that a page is worth keeping ([`curlew_article::validity`]); requires no image if images are optional.
    pub(crate) fn validity(&self, title: Option<&str>, text: &str, image: Option<&str>) -> Result<(), Rejection> {
        match curlew_article::validity(title, text, image) {
            Err(Rejection::NoImage) if self.images_are_optional => Ok(()),
            validity => validity,
        }
    }

    fn screener(&self) -> &Screener {
        self.screener.as_deref().unwrap_or_else(|| Screener::standard())
    }

    /// Returns the name of the image classifier, if there is one.
    pub fn eye(&self) -> Option<&str> {
        self.eye.as_deref().map(ImageClassifier::name)
    }

    /// Returns true if an image alone can lead to a rejection.
    pub fn may_reject_by_image(&self) -> bool {
        self.eye.as_ref().is_some_and(|eye| self.screener().may_reject_at(eye.highest()))
    }

    /// Returns the operator's overrides, which are read once a minute at most.
    pub async fn rules(&self, blobs: &dyn Blobs, clock: &dyn Clock) -> Result<Arc<Vec<Override>>, PortError> {
        let now = clock.monotonic();
        let known = self.rules.lock().clone();
        if let Some((rules, _)) = known.filter(|(_, at)| now.saturating_sub(*at) < RULES_KNOWN_FOR) {
            return Ok(rules);
        }
        let rules = Arc::new(overrides::all(blobs).await?.into_iter().map(|given| given.rule).collect::<Vec<_>>());
        *self.rules.lock() = Some((rules.clone(), now));
        Ok(rules)
    }

    /// Judges a page by its text and, if that passes, by its thumbnail (JPEG). A page whose image cannot be classified
    /// is judged by its text alone, and its verdict says so.
    pub async fn page(&self, pool: &dyn CpuPool, page: &Page<'_>, image: Option<&[u8]>) -> Result<Screening, CpuError> {
        let words = self.screened(pool, page, Vec::new()).await?;
        if words.verdict == Verdict::Reject {
            return Ok(words);
        }
        let Some(jpeg) = image else { return Ok(words) };
        match self.detect(jpeg).await {
            Ok(detections) if detections.is_empty() => Ok(words),
            Ok(detections) => self.screened(pool, page, detections).await,
            Err(NotClassified(why)) => Ok(Screening { image_not_classified: Some(why), ..words }),
        }
    }

    async fn screened(&self, pool: &dyn CpuPool, page: &Page<'_>, seen: Vec<Detection>) -> Result<Screening, CpuError> {
        let screener = self.screener.clone();
        let (title, text) = (page.title.to_owned(), page.text.to_owned());
        let (language, host) = (page.language.map(str::to_owned), page.host.map(str::to_owned));
        let screen = move || {
            let page = Page { title: &title, text: &text, language: language.as_deref(), host: host.as_deref() };
            screener.as_deref().unwrap_or_else(|| Screener::standard()).screen_with(&page, &seen)
        };
        compute(pool, CpuTask::document(page.text.len()), screen).await
    }

    pub(crate) async fn image(&self, host: Option<&str>, jpeg: &[u8]) -> Option<Screening> {
        let detections = if self.may_reject_by_image() { self.detect(jpeg).await.ok()? } else { return None };
        Some(self.screener().screen_with(&Page { host, ..Page::default() }, &detections))
    }

    /// Returns the labels of a thumbnail, or the reason for having none, which is logged here.
    async fn detect(&self, jpeg: &[u8]) -> Result<Vec<Detection>, NotClassified> {
        let Some(eye) = &self.eye else { return Ok(Vec::new()) };
        if let Some(detections) = self.detections.lock().get(jpeg) {
            return Ok(detections.clone());
        }
        let unfit = || NotClassified("it is no picture of a thumbnail's size".to_owned());
        let classified = async {
            let pixels = opened(jpeg).ok_or_else(unfit)?;
            let (width, height) = pixels.dimensions();
            let rgb = Rgb::new(width as usize, height as usize, pixels.as_raw()).ok_or_else(unfit)?;
            eye.classify(&ImageInput { rgb, jpeg }).await
        };
        let classified = classified.await;
        match &classified {
            Ok(detections) => {
                self.detections.lock().put(jpeg.into(), detections.clone());
            }
            Err(why) => {
                tracing::warn!(classifier = eye.name(), reason = %why, "a page is judged by its words alone");
            }
        }
        classified
    }
}
