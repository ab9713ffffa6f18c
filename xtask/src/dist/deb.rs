//! The Debian package: the prefix below `/usr`, settings in `/etc`, and the service's user.

use super::archive;
use crate::run::{VERSION, output, program, root};
use crate::tools;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Scripts in `contrib/debian/` that dpkg runs.
const SCRIPTS: [&str; 2] = ["postinst", "prerm"];
/// Path of the service's settings, as in the systemd unit.
const SETTINGS: &str = "etc/curlew.toml";
/// Debian's name of this architecture.
const ARCHITECTURE: &str = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };

/// Builds the package of a prefix whose program requires this version of glibc.
pub(super) fn build(prefix: &Path, packages: &Path, glibc: [u32; 2], level: u8) -> Result<PathBuf> {
    let tree = packages.join("deb");
    let (usr, control) = (tree.join("usr"), tree.join("DEBIAN"));
    fs::create_dir_all(&tree)?;
    output(program("cp").arg("--recursive").arg(prefix).arg(&usr))?;
    output(program("gzip").args(["--no-name", "--recursive", "-9"]).arg(usr.join("share/man")))?;
    // Debian has separate folders for the completions of packages and of users.
    fs::create_dir_all(usr.join("share/zsh/vendor-completions"))?;
    fs::rename(usr.join("share/zsh/site-functions/_curlew"), usr.join("share/zsh/vendor-completions/_curlew"))?;
    fs::remove_dir(usr.join("share/zsh/site-functions"))?;
    fs::rename(usr.join("share/doc/curlew/LICENSE"), usr.join("share/doc/curlew/copyright"))?;
    replace(&usr.join("lib/systemd/system/curlew.service"), "/usr/local/bin/curlew", "/usr/bin/curlew")?;
    fs::create_dir_all(tree.join("etc"))?;
    fs::copy(usr.join("share/doc/curlew/examples/curlew.toml"), tree.join(SETTINGS))?;
    replace(&tree.join(SETTINGS), "data = \"curlew-data\"", "data = \"/var/lib/curlew\"")?;

    fs::create_dir_all(&control)?;
    fs::write(control.join("conffiles"), format!("/{SETTINGS}\n"))?;
    for script in SCRIPTS {
        fs::copy(root().join("contrib/debian").join(script), control.join(script))?;
    }
    archive::open_to_read(&tree)?;
    let size = output(program("du").args(["--summarize", "--apparent-size", "--block-size=1024"]).arg(&usr))?;
    let size = size.split_whitespace().next().context("du names a size")?.to_owned();
    fs::write(control.join("control"), description(&size, glibc, &libraries(&usr.join("bin/curlew"))?))?;
    let package = packages.join(format!("curlew_{}_{ARCHITECTURE}.deb", VERSION));
    let mut build = program(tools::dpkg_deb()?);
    // xz makes the package a third smaller, but takes eight times as long.
    let form = if level > 6 { "-Zxz" } else { "-Zgzip" };
    build.args(["--build", "--root-owner-group", form, &format!("-z{level}")]).arg(&tree).arg(&package);
    output(build.env("SOURCE_DATE_EPOCH", archive::time().to_string()))?;
    fs::remove_dir_all(&tree)?;
    Ok(package)
}

fn description(kilobytes: &str, glibc: [u32; 2], libraries: &str) -> String {
    let [major, minor] = glibc;
    format!(
        "Package: curlew
Version: {VERSION}
Architecture: {ARCHITECTURE}
Maintainer: The Curlew contributors <curlew@localhost>
Section: web
Priority: optional
Depends: libc6 (>= {major}.{minor}){libraries}, ca-certificates, passwd
Installed-Size: {kilobytes}
Description: polite, feed-driven crawler and search engine
 Name sites, and Curlew finds their feeds, polls them as often as they have
 news, fetches what is new, and serves a search page over it. What goes from
 the web goes from the index too.
"
    )
}

/// Returns the packages, for `Depends`, of the libraries that a program needs in addition to the C library.
fn libraries(binary: &Path) -> Result<String> {
    let headers = output(program(tools::objdump()?).arg("-p").arg(binary))?;
    let needed = headers.lines().filter_map(|line| line.trim().strip_prefix("NEEDED")).map(str::trim);
    let mut packages = String::new();
    for library in needed {
        match library.split(".so").next().unwrap_or_default() {
            "libc" | "libm" | "libdl" | "libpthread" | "librt" | "libutil" | "libresolv" => {}
            name if name.starts_with("ld-linux") => {}
            "libgcc_s" => packages += ", libgcc-s1 | libgcc1",
            _ => bail!("the program needs {library}, and no system libraries are wanted (docs/decisions/0075)"),
        }
    }
    Ok(packages)
}

/// Replaces a text that must occur exactly once in a file.
fn replace(file: &Path, from: &str, to: &str) -> Result<()> {
    let text = fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
    if text.matches(from).count() != 1 {
        bail!("{} does not have {from} once", file.display());
    }
    Ok(fs::write(file, text.replace(from, to))?)
}
