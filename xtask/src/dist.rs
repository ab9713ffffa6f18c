//! `cargo xtask dist`: packs the program in the forms in which people install it (docs/decisions/0075): an archive, a
//! Debian package and a container image, with checksums, a bill of materials and the licences of all crates.
//!
//! The archive is a prefix to unpack into `/usr/local`. The package has the same files below `/usr`. No file depends on
//! the time or the place of the build.

mod archive;
mod bill;
mod crates;
mod deb;
mod image;
mod licences;

use crate::functions::with_cargo_lambda;
use crate::run::{VERSION, cargo, emptied, output, program, root, run, target};
use crate::tools;
use anyhow::{Context, Result, bail};
use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};

/// The newest version of glibc that the published program may require: that of Debian 10, Ubuntu 18.10 and RHEL 8. zig
/// links against this version, whichever one the build machine has.
const GLIBC: [u32; 2] = [2, 28];
/// Compression level of published files, from 1 to 9.
const SMALL: u8 = 9;
/// Compression level of files for tests.
const FAST: u8 = 1;

/// Builds the program for systems with [`GLIBC`] or newer, and packs it.
pub(crate) fn dist() -> Result<()> {
    let [major, minor] = GLIBC;
    let (built, platform) = (target()?.join("dist-program"), format!("{ARCH}-unknown-linux-gnu"));
    // By default, cargo-lambda optimises for the processors of AWS, which other machines may not have.
    let build = ["lambda", "build", "--release", "--locked", "--package", "curlew", "--disable-optimizations"];
    run(with_cargo_lambda(&mut cargo())?
        .args(build)
        .args(["--target", &format!("{platform}.{major}.{minor}"), "--lambda-dir"])
        .arg(&built))?;
    let binary = built.join("curlew/bootstrap");
    let needed = glibc(&binary)?;
    if needed > GLIBC {
        bail!("the program asks for glibc {}.{}, and may ask for {major}.{minor}", needed[0], needed[1]);
    }
    let packages = pack(&binary, "dist", SMALL)?;
    for entry in fs::read_dir(&packages)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            eprintln!("xtask: {} has {} bytes", entry.path().display(), entry.metadata()?.len());
        }
    }
    Ok(())
}

/// Packs a program for the tests, with fast compression. Returns the folder of the packages.
pub(crate) fn for_tests(program: &Path) -> Result<PathBuf> {
    pack(program, "packages", FAST)
}

/// Packs a program that runs on this machine. Returns the folder of the packages, below the build folder.
fn pack(built: &Path, folder: &str, level: u8) -> Result<PathBuf> {
    let packages = emptied(folder)?;
    let name = format!("curlew-{VERSION}-{ARCH}-linux");
    let prefix = packages.join(&name);
    fill(&prefix, built)?;
    let doc = prefix.join(DOC);
    let crates = crates::of_the_program()?;
    let bill = format!("{name}.cdx.json");
    fs::write(packages.join(&bill), bill::cyclonedx(&crates, &archive::sha256(&prefix.join("bin/curlew"))?)?)?;
    fs::copy(packages.join(&bill), doc.join("curlew.cdx.json"))?;
    fs::write(doc.join("LICENSES-THIRD-PARTY.txt"), licences::texts(&crates)?)?;

    let tarball = archive::gzip(&archive::tar(&packages, &[&name], &packages.join(format!("{name}.tar")))?, level)?;
    let package = deb::build(&prefix, &packages, glibc(&prefix.join("bin/curlew"))?, level)?;
    let image = image::build(&prefix, &packages, &name, level)?;
    let mut sums = String::new();
    for file in [&tarball, &package, &image, &packages.join(&bill)] {
        let file_name = file.file_name().context("a package has a name")?.to_string_lossy();
        sums += &format!("{}  {file_name}\n", archive::sha256(file)?);
    }
    fs::write(packages.join("SHA256SUMS"), sums)?;
    fs::remove_dir_all(&prefix)?;
    Ok(packages)
}

/// The folder of documentation in a prefix.
const DOC: &str = "share/doc/curlew";

/// Writes the files of an installation below a prefix.
fn fill(prefix: &Path, built: &Path) -> Result<()> {
    let folder = |path: &str| -> Result<PathBuf> {
        let folder = prefix.join(path);
        fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        Ok(folder)
    };
    let curlew = folder("bin")?.join("curlew");
    run(program("strip").arg("-o").arg(&curlew).arg(built))?;
    output(program(&curlew).arg("man").arg(folder("share/man/man1")?))?;
    for (shell, place, name) in [
        ("bash", "share/bash-completion/completions", "curlew"),
        ("zsh", "share/zsh/site-functions", "_curlew"),
        ("fish", "share/fish/vendor_completions.d", "curlew.fish"),
    ] {
        fs::write(folder(place)?.join(name), output(program(&curlew).args(["completions", shell]))?)?;
    }
    let examples = folder(&format!("{DOC}/examples"))?;
    output(program(&curlew).arg("init").arg(examples.join("curlew.toml")))?;
    for (from, to) in [
        ("contrib/Caddyfile", &examples),
        ("contrib/nginx.conf", &examples),
        ("contrib/curlew.service", &folder("lib/systemd/system")?),
        ("LICENSE", &prefix.join(DOC)),
        ("CHANGELOG.md", &prefix.join(DOC)),
    ] {
        let name = Path::new(from).file_name().context("a file has a name")?;
        fs::copy(root().join(from), to.join(name)).with_context(|| format!("{from} cannot be copied"))?;
    }
    archive::open_to_read(prefix)
}

/// Returns the newest version of glibc that a symbol of the program requires.
fn glibc(binary: &Path) -> Result<[u32; 2]> {
    let symbols = output(program(tools::objdump()?).arg("-T").arg(binary))?;
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let mut numbers = rest.split(|c: char| !c.is_ascii_digit()).map_while(|number| number.parse().ok());
        Some([numbers.next()?, numbers.next()?])
    });
    versions.max().with_context(|| format!("{} does not use glibc", binary.display()))
}
