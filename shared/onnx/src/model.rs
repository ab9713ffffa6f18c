//! Loads and runs the model.

use crate::Unusable;
use crate::card::{Card, MAX_CARD_BYTES};
use crate::files::{hexadecimal, read};
use async_trait::async_trait;
use curlew_screen::image::labels::detections;
use curlew_screen::image::{Detection, ImageClassifier, ImageInput, NotClassified};
use image::RgbImage;
use rten::{Model, ModelOptions, OpRegistry, RunOptions, ThreadPool, Value, op_registry};
use sha2::{Digest as _, Sha256};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

pub(crate) const MAX_MODEL_BYTES: u64 = 256 * 1024 * 1024;
/// Maximum time that a page waits for the classification of its image, including the queue. A longer computation
/// continues and delays later ones, but its result is ignored.
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// Maximum number of concurrent classifications: each needs memory for all layers of the model.
const AT_ONCE: usize = 1;

/// Image classifier that runs an ONNX model.
pub struct Onnx {
    inner: Arc<Inner>,
    turn: Arc<Semaphore>,
}

struct Inner {
    card: Card,
    model: Model,
    threads: Arc<ThreadPool>,
}

impl std::fmt::Debug for Onnx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Onnx").field("card", &self.inner.card).finish_non_exhaustive()
    }
}

/// Returns the operators used by image classifiers. A model with others is rejected when it is loaded.
fn operators() -> OpRegistry {
    op_registry! {
        Abs, Add, AveragePool, BatchNormalization, Cast, Ceil, Clip, Concat, ConstantOfShape, Conv, DequantizeLinear,
        Div, DynamicQuantizeLinear, Equal, Erf, Exp, Expand, Flatten, Floor, Gather, Gelu, Gemm, GlobalAveragePool,
        HardSigmoid, HardSwish, Identity, LayerNormalization, LeakyRelu, MatMul, MatMulInteger, Max, MaxPool, Min,
        Mul, Neg, Pad, Pow, QuantizeLinear, Range, ReduceMax, ReduceMean, ReduceSum, Relu, Reshape, Resize, Shape,
        Sigmoid, Slice, Softmax, Split, Sqrt, Squeeze, Sub, Tanh, Transpose, Unsqueeze, Where
    }
}

impl Onnx {
    /// Reads a card and its model, and tries the model on an empty image. An error is one line.
    pub fn load(path: &Path) -> Result<Onnx, Unusable> {
        let unusable = |why: String| Unusable { card: path.display().to_string(), why };
        let text = read(path, MAX_CARD_BYTES).map_err(|e| unusable(e.to_string()))?;
        let text = String::from_utf8(text).map_err(|e| unusable(e.to_string()))?;
        let card = Card::read(&text).map_err(unusable)?;
        let file = path.parent().unwrap_or(Path::new("")).join(&card.file);
        let bytes = read(&file, MAX_MODEL_BYTES).map_err(|e| unusable(e.to_string()))?;
        Onnx::new(card, bytes).map_err(|why| unusable(format!("{}: {why}", file.display())))
    }

    /// Creates a classifier from a model that matches its card, and tries it on an empty image. An error is one line.
    pub fn new(card: Card, model: Vec<u8>) -> Result<Onnx, String> {
        let hash = hexadecimal(&Sha256::digest(&model));
        if let Some(expected) = card.sha256.as_ref().filter(|expected| **expected != hash) {
            return Err(format!("its SHA-256 is {hash}, and the card states {expected}"));
        }
        let model = ModelOptions::with_ops(operators()).load(model).map_err(|e| one_line(&e))?;
        let inner = Inner { card, model, threads: Arc::new(ThreadPool::with_num_threads(1)) };
        let empty = RgbImage::new(inner.card.width, inner.card.height);
        inner.run(&empty).map_err(|why| format!("tried out on an empty image: {why}"))?;
        Ok(Onnx { inner: Arc::new(inner), turn: Arc::new(Semaphore::new(AT_ONCE)) })
    }

    async fn run(&self, picture: RgbImage) -> Result<Vec<Detection>, String> {
        let turn = self.turn.clone().acquire_owned().await.map_err(|e| e.to_string())?;
        let inner = self.inner.clone();
        let ran = tokio::task::spawn_blocking(move || {
            // Released when the computation ends, even if the caller has stopped waiting.
            let _turn = turn;
            inner.run(&picture)
        });
        ran.await.map_err(|e| format!("the model failed: {}", one_line(&e)))?
    }
}

impl Inner {
    fn run(&self, picture: &RgbImage) -> Result<Vec<Detection>, String> {
        let labels = &self.card.labels;
        let prepared = self.card.prepared(picture)?;
        let (numbers, shape) = self.card.input(prepared.as_raw());
        let input = Value::from_shape(shape, numbers).map_err(|e| one_line(&e))?;
        let options = RunOptions::default().with_thread_pool(Some(self.threads.clone()));
        let output = self.model.run_one(input.into(), Some(options)).map_err(|e| one_line(&e))?;
        let (shape, outputs) = output.into_shape_vec::<f32, 2>().map_err(|e| one_line(&e))?;
        if shape != [1, labels.len()] {
            return Err(format!("the output is {} by {}, and there are {} labels", shape[0], shape[1], labels.len()));
        }
        Ok(detections(labels.iter().zip(self.card.probabilities(&outputs)), &self.card.name))
    }
}

#[async_trait]
impl ImageClassifier for Onnx {
    fn name(&self) -> &str {
        &self.inner.card.name
    }

    async fn classify(&self, image: &ImageInput<'_>) -> Result<Vec<Detection>, NotClassified> {
        let (width, height) = (image.rgb.width(), image.rgb.height());
        let size = u32::try_from(width).ok().zip(u32::try_from(height).ok());
        let pixels: Vec<u8> = image.rgb.pixels().flatten().collect();
        let picture = size.and_then(|(width, height)| RgbImage::from_raw(width, height, pixels));
        let picture = picture.ok_or_else(|| NotClassified("its pixels do not fit its size".to_owned()))?;
        match tokio::time::timeout(TIME_LIMIT, self.run(picture)).await {
            Ok(ran) => ran.map_err(NotClassified),
            Err(_) => Err(NotClassified(format!("it took longer than {} s", TIME_LIMIT.as_secs()))),
        }
    }
}

fn one_line(error: &dyn std::error::Error) -> String {
    error.to_string().lines().collect::<Vec<_>>().join(" ")
}
