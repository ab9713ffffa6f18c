//! The container image, written without a daemon, in the layout of the OCI image specification 1.0.
//!
//! The lower layer has what the program needs of a system (this machine's C library, certificates, the user), the upper
//! one the program. The program runs as an unprivileged user, writes only to `/data`, and needs no shell.

use super::archive;
use crate::run::{VERSION, output, program};
use crate::tools;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Id of the user and the group that run the program: `nonroot`, as in distroless images.
const USER: &str = "65532";
/// The only folder that the program writes to.
const DATA: &str = "data";
/// Files in which distributions keep the licence of the C library.
const GLIBC_LICENCES: [&str; 2] = ["/usr/share/doc/libc6/copyright", "/usr/share/licenses/glibc/LICENSES"];
/// Libraries that older versions of glibc load to look up host names; newer versions have them built in.
const NAME_SERVICES: [&str; 3] = ["libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2"];
/// OCI's name of this architecture.
const ARCHITECTURE: &str = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
const NANOSECONDS: u64 = 1_000_000_000;

/// Writes the image of a prefix as an archive of its layout. Returns the archive's path.
pub(super) fn build(prefix: &Path, packages: &Path, stem: &str, level: u8) -> Result<PathBuf> {
    let layout = packages.join("image");
    let blobs = layout.join("blobs/sha256");
    fs::create_dir_all(&blobs)?;
    let (base, top) = (packages.join("base"), packages.join("top"));
    system(&base, &prefix.join("bin/curlew"))?;
    fs::create_dir_all(&top)?;
    output(program("cp").arg("--recursive").arg(prefix).arg(top.join("usr")))?;
    let mut layers = Vec::new();
    for (folder, members) in [(&base, &["etc", "lib64", "lib", "tmp", "usr"][..]), (&top, &["usr"])] {
        let there: Vec<&str> = members.iter().copied().filter(|member| folder.join(member).exists()).collect();
        let tar = archive::tar(folder, &there, &folder.with_extension("tar"))?;
        if folder.join(DATA).exists() {
            archive::append(folder, &[DATA], USER, &tar)?;
        }
        let unpacked = archive::sha256(&tar)?;
        layers.push((unpacked, blob(&blobs, &archive::gzip(&tar, level)?, "layer.v1.tar+gzip")?));
        fs::remove_dir_all(folder)?;
    }
    let written = |value: &Value, kind: &str| -> Result<Value> {
        let file = packages.join("blob.json");
        fs::write(&file, serde_json::to_vec(value)?)?;
        blob(&blobs, &file, kind)
    };
    let diffs: Vec<&str> = layers.iter().map(|(unpacked, _)| unpacked.as_str()).collect();
    let config = written(&config(&diffs)?, "config.v1+json")?;
    let layers: Vec<&Value> = layers.iter().map(|(_, layer)| layer).collect();
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": media_type("manifest.v1+json"),
        "config": config,
        "layers": layers,
    });
    let mut manifest = written(&manifest, "manifest.v1+json")?;
    let name = format!("curlew:{VERSION}");
    manifest["annotations"] = json!({
        "org.opencontainers.image.ref.name": name,
        "io.containerd.image.name": format!("docker.io/library/{name}"),
    });
    let index = json!({"schemaVersion": 2, "mediaType": media_type("index.v1+json"), "manifests": [manifest]});
    fs::write(layout.join("index.json"), serde_json::to_vec(&index)?)?;
    fs::write(layout.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#)?;
    archive::open_to_read(&layout)?;
    let image =
        archive::tar(&layout, &["oci-layout", "index.json", "blobs"], &packages.join(format!("{stem}-oci.tar")))?;
    fs::remove_dir_all(layout)?;
    Ok(image)
}

/// Returns the configuration of the image, with the SHA-256 of each layer's uncompressed archive.
fn config(layers: &[&str]) -> Result<Value> {
    let time = archive::time();
    let created = output(program("date").args(["--utc", "+%Y-%m-%dT%H:%M:%SZ", &format!("--date=@{time}")]))?;
    let created = created.trim();
    let layers: Vec<String> = layers.iter().map(|digits| format!("sha256:{digits}")).collect();
    let history = |by: &str| json!({"created": created, "created_by": by});
    Ok(json!({
        "created": created,
        "architecture": ARCHITECTURE,
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "Env": ["PATH=/usr/bin", format!("CURLEW_DATA=/{DATA}")],
            "Entrypoint": ["/usr/bin/curlew"],
            "Cmd": ["serve", "--listen", "0.0.0.0:8080"],
            "WorkingDir": format!("/{DATA}"),
            "Volumes": {format!("/{DATA}"): {}},
            "ExposedPorts": {"8080/tcp": {}},
            "StopSignal": "SIGTERM",
            // Not part of the specification, but Docker reads it.
            "Healthcheck": {
                "Test": ["CMD", "/usr/bin/curlew", "health"],
                "Interval": 30 * NANOSECONDS,
                "Timeout": 15 * NANOSECONDS,
                "StartPeriod": 60 * NANOSECONDS,
                "Retries": 3,
            },
            "Labels": {
                "org.opencontainers.image.title": "Curlew",
                "org.opencontainers.image.version": VERSION,
                "org.opencontainers.image.licenses": "Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": layers},
        "history": [history("C library, certificates, user"), history("curlew")],
    }))
}

/// Moves a file to the blobs, and returns its descriptor.
fn blob(blobs: &Path, file: &Path, kind: &str) -> Result<Value> {
    let (sha256, size) = (archive::sha256(file)?, fs::metadata(file)?.len());
    fs::rename(file, blobs.join(&sha256))?;
    Ok(json!({"mediaType": media_type(kind), "digest": format!("sha256:{sha256}"), "size": size}))
}

fn media_type(kind: &str) -> String {
    format!("application/vnd.oci.image.{kind}")
}

/// Writes the files that the program needs of a system to a folder.
fn system(base: &Path, binary: &Path) -> Result<()> {
    for folder in ["etc/ssl/certs", "tmp", DATA, "usr/share/doc/libc6"] {
        fs::create_dir_all(base.join(folder))?;
    }
    fs::write(
        base.join("etc/passwd"),
        format!("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:{USER}:{USER}:nonroot:/{DATA}:/sbin/nologin\n"),
    )?;
    fs::write(base.join("etc/group"), format!("root:x:0:\nnonroot:x:{USER}:\n"))?;
    fs::write(base.join("etc/nsswitch.conf"), "hosts: files dns\n")?;
    fs::copy(tools::certificates()?, base.join("etc/ssl/certs/ca-certificates.crt"))?;
    let licence = GLIBC_LICENCES.iter().find(|file| Path::new(file).is_file());
    fs::copy(
        licence.context("the licence of the C library is not found")?,
        base.join("usr/share/doc/libc6/copyright"),
    )?;
    for library in libraries(binary)? {
        let copy = base.join(library.strip_prefix("/").context("a library has an absolute path")?);
        fs::create_dir_all(copy.parent().context("a library lies in a folder")?)?;
        fs::copy(&library, &copy).with_context(|| format!("{} cannot be copied", library.display()))?;
    }
    archive::open_to_read(base)?;
    // Sticky, as usual: everybody may write, and nobody may remove the files of others.
    output(program("chmod").arg("1777").arg(base.join("tmp"))).map(drop)
}

/// Returns the paths of the shared libraries that a program loads, and of the loader.
fn libraries(binary: &Path) -> Result<Vec<PathBuf>> {
    let said = output(program("ldd").arg(binary))?;
    // `libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)`; the loader's line has only its path.
    let path = |line: &str| line.split_whitespace().find(|word| word.starts_with('/')).map(PathBuf::from);
    let mut libraries: Vec<PathBuf> = said.lines().filter_map(path).collect();
    let libc = libraries.iter().find(|path| path.ends_with("libc.so.6"));
    let Some(folder) = libc.and_then(|path| path.parent()).map(Path::to_owned) else {
        bail!("{} does not use the C library of this machine:\n{said}", binary.display());
    };
    libraries.extend(NAME_SERVICES.map(|name| folder.join(name)).into_iter().filter(|path| path.is_file()));
    Ok(libraries)
}
