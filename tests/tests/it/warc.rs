//! Raw pages are kept, exported as WARC that warcio accepts, imported elsewhere, extracted again, and erased with their
//! pages. Damaged files are refused or read as far as possible.

use curlew_fixtureweb::Uniform;
use curlew_tests::{Child, LIMIT, Steps, Store, Web, named, text, unpacked_objects};
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const PAGES: u64 = 60;
pub(crate) const KEEP: &str = "[raw]\nkeep = true\n";

pub(crate) fn warcio(args: &[&str], file: &Path) -> String {
    let mut command = Command::new(named("WARCIO", ".tools/warcio/bin/warcio"));
    command.args(args).arg(file);
    Child::spawn(command).wait(LIMIT).ok().stdout
}

#[test]
fn raw_pages_go_out_and_come_in_as_warc() {
    let spec = Uniform { hosts: 3, pages: 20, bytes: 20 * 1024, images: true, prefix: "raw".into() };
    let web = Web::uniform(&spec);
    let mut store = Store::brisk(&web);
    store.configure(KEEP);
    let summary = store.crawl(&web.starts());
    assert_eq!(summary["accepted"], json!(PAGES), "{summary}");
    let file: PathBuf = store.around().join("pages.warc.gz");
    let path = file.to_str().unwrap();
    let calls = web.calls().len();

    let mut steps = Steps::new();
    steps.step("export: warcio finds nothing wrong and reads every page", || {
        store.run(&["export", "warc", "--output", path]).ok();
        warcio(&["check"], &file);
        let index = warcio(&["index", "-f", "warc-type,warc-target-uri,http:status,http:content-type"], &file);
        let count = |kind: &str| index.lines().filter(|line| line.contains(&format!("\"{kind}\""))).count() as u64;
        assert_eq!((count("warcinfo"), count("request"), count("response")), (1, PAGES, PAGES), "{index}");
        assert!(index.contains("\"http:status\": \"200\"") && index.contains("text/html"), "{index}");
        let host = text(&store.records()[0], "host");
        store.run(&["export", "warc", "--site", &host, "--output", path]).ok();
        let index = warcio(&["index", "-f", "warc-type"], &file);
        assert_eq!(index.matches("response").count() as u64, PAGES / 3);
        store.run(&["export", "warc", "--output", path]).ok();
    });
    steps.step("import: the same pages without a call, once", || {
        let mut other = Store::brisk(&web);
        other.configure(KEEP);
        let import = |known: u64| {
            let told = other.run(&["import", "warc", path, "--json"]).ok().json();
            assert_eq!((&told["accepted"], &told["known"]), (&json!(PAGES - known), &json!(known)), "{told}");
        };
        import(0);
        import(PAGES);
        let mut ours: Vec<_> = store.records().iter().map(|r| (text(r, "url"), text(r, "text"))).collect();
        let mut theirs: Vec<_> = other.records().iter().map(|r| (text(r, "url"), text(r, "text"))).collect();
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs);
        let words: Vec<&str> = ours[0].1.split_whitespace().take(3).collect();
        assert!(!other.found(&words.join(" ")).is_empty());
        other.run(&["fsck"]).ok();
    });
    steps.step("reextract: nothing has changed", || {
        let told = store.run(&["reextract", "--json"]).ok().json();
        assert_eq!((&told["same"], &told["revised"], &told["without_raw"]), (&json!(PAGES), &json!(0), &json!(0)));
    });
    assert_eq!(web.calls().len(), calls, "no site was called for any of it");
    steps.step("a page that is removed has no byte left", || {
        let url = text(&store.records()[0], "url");
        assert!(unpacked_objects(&store.data(), "raw").contains(&url));
        store.run(&["override", "deny", &url]).ok();
        assert!(!unpacked_objects(&store.data(), "raw").contains(&url));
        store.run(&["fsck"]).ok();
        store.run(&["export", "warc", "--output", path]).ok();
        assert!(!warcio(&["index", "-f", "warc-target-uri"], &file).contains(&format!("\"{url}\"")));
    });
    steps.step("import: damaged files are named, and what was read before stays", || {
        damaged(&web, &file);
    });
    steps.end();
}

fn damaged(web: &Web, file: &Path) {
    let other = Store::brisk(web);
    let whole = std::fs::read(file).unwrap();
    let mut plain = Vec::new();
    std::io::copy(&mut flate2::read::MultiGzDecoder::new(&whole[..]), &mut plain).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&whole).unwrap();
    let twice = other.file("twice.warc.gz", gzip.finish().unwrap());
    let shown = String::from_utf8_lossy(&plain).into_owned();
    let at = shown.match_indices("WARC-Type: response").nth(5).unwrap().0;
    let lie = shown[at..].find("Content-Length: ").unwrap() + at + "Content-Length: ".len();
    let mut lying = plain.clone();
    lying[lie] = b'9';
    let lying = other.file("lying.warc", &lying);
    let cut = other.file("cut.warc.zst", zstd::encode_all(&plain[..plain.len() / 2], 3).unwrap());
    let mut bomb = zstd::Encoder::new(Vec::new(), 3).unwrap();
    bomb.write_all(b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 99999999999\r\n\r\n").unwrap();
    for _ in 0..200 {
        bomb.write_all(&vec![0; 1 << 20]).unwrap();
    }
    let bomb = other.file("bomb.warc.zst", bomb.finish().unwrap());
    for (name, says, accepted) in [
        (&twice, "compressed twice", 0),
        (&lying, "at byte", 5),
        (&cut, "ends within the record", 20),
        (&bomb, "times its size", 0),
        (&"missing.warc".to_owned(), "No such file", 0),
    ] {
        let ran = other.run(&["import", "warc", name, "--json"]);
        assert_eq!(ran.code(), 1, "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains(says) && ran.stderr.contains(name.as_str()), "{name}: {}", ran.stderr);
        let told = ran.json();
        assert_eq!(told["cut"], json!(1));
        assert!(told["accepted"].as_u64().unwrap() + told["known"].as_u64().unwrap() >= accepted, "{name}: {told}");
    }
    // A million records without a page, read from a file.
    let record = "WARC/1.1\r\nWARC-Type: metadata\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
    let many = other.file("many.warc", record.repeat(1_000_000));
    let told = other.run(&["import", "warc", &many, "--json"]).ok().json();
    assert_eq!(told["other"], json!(1_000_000));
}
