//! Tests the packages that `cargo xtask dist` makes, here from the program under test: they are unpacked, installed and
//! run in an environment that has nothing but what they declare.
//!
//! `cargo xtask nightly` runs these tests. `CURLEW_PACKAGES` names the folder of the packages. The tests enter their
//! roots with chroot. A user other than root needs a kernel that permits user namespaces; otherwise the tests fail.

use crate::commands_failing::is_root;
use crate::documents;
use curlew_tests::{BRISK, Child, LIMIT, Ran, Server, Web, get, root};
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Maximum time from the archive to the first hit of a site.
const FIRST_HIT: Duration = Duration::from_secs(120);
/// Maximum time until a serving program answers, or has ended.
const SOON: Duration = Duration::from_secs(60);
/// Certificates of authorities, which any system has whose programs call the web.
const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";
/// User number that runs the image.
const NONROOT: u32 = 65_532;

/// Returns the only package whose name ends with `ending`.
fn package(ending: &str) -> PathBuf {
    let folder = std::env::var_os("CURLEW_PACKAGES").map_or_else(|| root().join("target/packages"), PathBuf::from);
    let entries = std::fs::read_dir(&folder);
    let entries = entries.unwrap_or_else(|e| panic!("{}: {e}: `cargo xtask nightly` makes it", folder.display()));
    let mut found: Vec<PathBuf> =
        entries.map(|e| e.unwrap().path()).filter(|p| p.to_string_lossy().ends_with(ending)).collect();
    assert_eq!(found.len(), 1, "{}: {found:?} end with {ending}", folder.display());
    found.remove(0)
}

/// Runs a program of this machine and returns what it prints.
#[track_caller]
fn tool(words: &[&str]) -> String {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).stdin(Stdio::null());
    Child::spawn(command).wait(LIMIT).ok().stdout
}

/// Returns a folder with the content of the archive.
fn unpacked() -> TempDir {
    let folder = TempDir::new().unwrap();
    tool(&["tar", "-xzf", text(&package("-linux.tar.gz")), "-C", text(folder.path()), "--strip-components=1"]);
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A folder that serves as the root of programs.
struct Root {
    folder: TempDir,
}

impl Root {
    /// Makes a root with these programs of this machine and the libraries that they name, and nothing else.
    fn with(programs: &[&str]) -> Root {
        let root = Root { folder: TempDir::with_prefix("curlew-root-").unwrap() };
        for folder in ["tmp", "etc", "bin"] {
            std::fs::create_dir_all(root.path(folder)).unwrap();
        }
        for name in programs {
            let file = tool(&["sh", "-c", &format!("command -v {name}")]);
            let file = file.trim();
            std::fs::copy(file, root.path("bin").join(name)).unwrap();
            root.copy_libraries(file);
        }
        // A program of this machine's compiler needs its run-time library, which every system has.
        root.copy_libraries(text(&curlew_tests::binary()));
        root
    }

    fn copy_libraries(&self, program: &str) {
        for library in tool(&["ldd", program]).split_whitespace().filter(|word| word.starts_with('/')) {
            let copy = self.path(library);
            std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
            std::fs::copy(library, copy).unwrap();
        }
    }

    /// Returns the path outside the root for a path inside it.
    fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join(inside.trim_start_matches('/'))
    }

    /// Returns a command that runs inside this root as its root user.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(if is_root() { "chroot" } else { "unshare" });
        command.args(if is_root() { &[][..] } else { &["--map-root-user", "chroot"] }).arg(self.folder.path());
        command.args(words).stdin(Stdio::null()).env_clear().env("PATH", "/bin:/usr/bin:/usr/sbin");
        command
    }

    fn run(&self, words: &[&str]) -> Ran {
        Child::spawn(self.command(words)).wait(LIMIT)
    }
}

#[test]
fn three_commands_lead_from_the_archive_to_a_hit_on_a_machine_without_a_compiler() {
    let root = Root::with(&["sh", "tar", "gzip"]);
    for there_is_none in ["cc", "gcc", "cargo", "python3"] {
        assert!(!root.path("bin").join(there_is_none).exists());
    }
    std::fs::create_dir_all(root.path(CERTIFICATES).parent().unwrap()).unwrap();
    std::fs::copy(CERTIFICATES, root.path(CERTIFICATES)).unwrap();
    let archive = package("-linux.tar.gz");
    std::fs::copy(&archive, root.path("/").join(archive.file_name().unwrap())).unwrap();
    let (web, site) = (Web::demo(), "harbour-lantern.test");
    let commands = documents::block("docs/index.md", "tar -xzf curlew-");
    assert_eq!(commands.trim().lines().count(), 3, "three commands:\n{commands}");
    let commands = commands.replace("https://example.org/", &format!("http://{site}/"));

    let began = Instant::now();
    let mut shell = root.command(&["/bin/sh", "-euc", &commands]);
    shell.env("CURLEW_RESOLVE", web.resolve());
    let ran = Child::spawn(shell).wait(LIMIT).ok();
    let took = began.elapsed();
    assert!(ran.stdout.contains(&format!("http://{site}/")), "{}\n{}", ran.stdout, ran.stderr);
    eprintln!("from the archive to the first hit: {took:.1?}");
    assert!(took < FIRST_HIT, "{took:?}");
}

#[test]
fn the_archive_is_a_prefix_with_everything_that_belongs_to_it() {
    let archive = package("-linux.tar.gz");
    let list = tool(&["tar", "--list", "--file", text(&archive)]);
    let files: BTreeSet<&str> =
        list.lines().filter_map(|line| Some(line.split_once('/')?.1)).filter(|f| !f.is_empty()).collect();
    let expected = "bin/curlew lib/systemd/system/curlew.service share/bash-completion/completions/curlew \
        share/doc/curlew/LICENSE share/doc/curlew/LICENSES-THIRD-PARTY.txt share/doc/curlew/curlew.cdx.json \
        share/doc/curlew/examples/Caddyfile share/doc/curlew/examples/curlew.toml share/doc/curlew/examples/nginx.conf \
        share/fish/vendor_completions.d/curlew.fish share/man/man1/curlew.1 share/man/man1/curlew-crawl.1 \
        share/zsh/site-functions/_curlew";
    for file in expected.split(' ') {
        assert!(files.contains(file), "{file} is missing: {files:?}");
    }
    let sums = archive.parent().unwrap();
    let check = format!("cd {} && sha256sum --check --strict SHA256SUMS", text(sums));
    assert_eq!(tool(&["sh", "-c", &check]).lines().filter(|line| line.ends_with(": OK")).count(), 4);
}

#[test]
fn bash_completes_commands_options_and_values() {
    let folder = unpacked();
    let script = folder.path().join("share/bash-completion/completions/curlew");
    let complete = |words: &str| -> BTreeSet<String> {
        // This imitates bash at the Tab key.
        let ask = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _curlew curlew \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            text(&script)
        );
        tool(&["bash", "--norc", "-c", &ask]).split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(complete("curlew sea"), ["search".to_owned()].into());
    assert!(complete("curlew config ''").is_superset(&["check", "show"].map(str::to_owned).into()));
    assert!(complete("curlew crawl --hi").contains("--history"));
    assert!(complete("curlew completions ''").is_superset(&["bash", "fish", "zsh"].map(str::to_owned).into()));
    for (file, beginning) in
        [("share/zsh/site-functions/_curlew", "#compdef curlew"), ("share/fish/vendor_completions.d/curlew.fish", "#")]
    {
        let script = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(script.starts_with(beginning) && script.contains("completions"), "{file}");
    }
}

#[test]
fn each_crate_of_the_program_stands_in_the_bill_and_its_licence_beside() {
    let folder = unpacked();
    let doc = folder.path().join("share/doc/curlew");
    let bill = std::fs::read(doc.join("curlew.cdx.json")).unwrap();
    assert_eq!(bill, std::fs::read(package("-linux.cdx.json")).unwrap());
    let bill: Value = serde_json::from_slice(&bill).unwrap();
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    let sum = tool(&["sha256sum", text(&folder.path().join("bin/curlew"))]);
    assert!(sum.starts_with(bill["metadata"]["component"]["hashes"][0]["content"].as_str().unwrap()));
    let licences = std::fs::read_to_string(doc.join("LICENSES-THIRD-PARTY.txt")).unwrap();
    let (list, texts) = licences.split_once(&"-".repeat(80)).unwrap();
    let components = bill["components"].as_array().unwrap();
    let mut foreign = 0;
    for component in components {
        let name = format!("{} {}", component["name"].as_str().unwrap(), component["version"].as_str().unwrap());
        assert!(!component["licenses"][0]["expression"].as_str().unwrap().is_empty(), "{name}");
        if component["purl"].is_string() {
            foreign += 1;
            assert_eq!(component["hashes"][0]["content"].as_str().unwrap().len(), 64, "{name}");
            assert!(list.contains(&format!("\n{name}: ")), "{name} is not in the list");
            assert!(texts.contains(&name), "{name} has no text");
        }
    }
    let names: BTreeSet<&str> = components.iter().filter_map(|c| c["name"].as_str()).collect();
    assert!(foreign > 200 && names.contains("curlew-people") && names.contains("zstd-sys"), "{foreign}");
    assert!(!names.contains("syn") || names.contains("askama"), "only crates of the program, and its macros");
}

#[test]
fn the_debian_package_is_installed_and_removed() {
    let deb = package(".deb");
    let about = tool(&["dpkg-deb", "--info", text(&deb)]);
    for line in ["Package: curlew", "Depends: libc6 (>= 2.", "ca-certificates", "conffiles", "postinst"] {
        assert!(about.contains(line), "{line} is missing:\n{about}");
    }
    let root = Root::with(&["sh", "getent", "useradd"]);
    for (file, text) in [("etc/passwd", "root:x:0:0::/:/bin/sh\n"), ("etc/group", "root:x:0:\n")] {
        std::fs::write(root.path(file), text).unwrap();
    }
    for folder in ["var/lib/dpkg/updates", "var/lib/dpkg/info"] {
        std::fs::create_dir_all(root.path(folder)).unwrap();
    }
    for file in ["var/lib/dpkg/status", "var/lib/dpkg/available"] {
        std::fs::write(root.path(file), "").unwrap();
    }
    // The libraries exist, but not as packages.
    let dpkg = |words: &[&str]| {
        let enter: &[&str] = if is_root() { &[] } else { &["unshare", "--map-root-user"] };
        let root = format!("--root={}", text(root.folder.path()));
        let sbin = "export PATH=$PATH:/usr/sbin:/sbin; exec \"$@\"";
        tool(&[enter, &["sh", "-c", sbin, "sh", "dpkg", &root, "--force-depends", "--force-not-root"], words].concat())
    };
    dpkg(&["--install", text(&deb)]);
    assert!(root.run(&["/usr/bin/curlew", "--version"]).ok().stdout.starts_with("curlew "));
    let users = std::fs::read_to_string(root.path("etc/passwd")).unwrap();
    assert!(users.contains("\ncurlew:") && users.contains(":/var/lib/curlew:/usr/sbin/nologin"), "{users}");
    // The files that the unit names exist, and its settings are valid.
    let unit = std::fs::read_to_string(root.path("usr/lib/systemd/system/curlew.service")).unwrap();
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let words: Vec<&str> = start.split(' ').collect();
    assert_eq!((words[0], words[1], words[2]), ("/usr/bin/curlew", "serve", "--config"));
    let checked = root.run(&["/usr/bin/curlew", "config", "check", "--config", words[3]]).ok();
    assert!(checked.stdout.contains("are valid") && checked.stdout.contains("No contact"), "{}", checked.stdout);
    let settings = std::fs::read_to_string(root.path(words[3])).unwrap();
    assert!(settings.contains("data = \"/var/lib/curlew\""), "{settings}");
    tool(&["gzip", "--test", text(&root.path("usr/share/man/man1/curlew-serve.1.gz"))]);
    for file in ["bash-completion/completions/curlew", "zsh/vendor-completions/_curlew", "doc/curlew/copyright"] {
        assert!(root.path("usr/share").join(file).is_file(), "{file}");
    }

    dpkg(&["--remove", "curlew"]);
    assert!(!root.path("usr/bin/curlew").exists() && root.path("etc/curlew.toml").is_file(), "settings stay");
    assert!(std::fs::read_to_string(root.path("etc/passwd")).unwrap().contains("\ncurlew:"), "the user stays");
}

/// An unpacked image.
struct Image {
    /// The root of the image's programs.
    root: Root,
    config: Value,
    data: TempDir,
}

impl Image {
    /// Unpacks an image according to its specification, and checks each checksum.
    fn unpack(archive: &Path) -> Image {
        let layout = TempDir::new().unwrap();
        tool(&["tar", "-xf", text(archive), "-C", text(layout.path())]);
        let json = |path: PathBuf| -> Value { serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() };
        assert_eq!(json(layout.path().join("oci-layout"))["imageLayoutVersion"], "1.0.0");
        let blob = |descriptor: &Value| -> PathBuf {
            let digits = descriptor["digest"].as_str().unwrap().strip_prefix("sha256:").unwrap();
            let path = layout.path().join("blobs/sha256").join(digits);
            assert!(tool(&["sha256sum", text(&path)]).starts_with(digits));
            assert_eq!(descriptor["size"].as_u64().unwrap(), path.metadata().unwrap().len());
            path
        };
        let index = json(layout.path().join("index.json"));
        let manifest = json(blob(&index["manifests"][0]));
        let config = json(blob(&manifest["config"]));
        let root = Root { folder: TempDir::with_prefix("curlew-image-").unwrap() };
        let layers = manifest["layers"].as_array().unwrap();
        let diffs = config["rootfs"]["diff_ids"].as_array().unwrap();
        assert_eq!(layers.len(), diffs.len());
        for (layer, diff) in layers.iter().zip(diffs) {
            let layer = blob(layer);
            let sum = tool(&["sh", "-c", &format!("gzip -dc {} | sha256sum", text(&layer))]);
            assert!(sum.starts_with(diff.as_str().unwrap().strip_prefix("sha256:").unwrap()));
            tool(&["tar", "-xzpf", text(&layer), "-C", text(root.folder.path())]);
        }
        // A runtime provides devices, one of which the image needs, and a volume.
        std::fs::create_dir(root.path("dev")).unwrap();
        std::fs::write(root.path("dev/urandom"), "").unwrap();
        let data = TempDir::with_prefix("curlew-volume-").unwrap();
        if is_root() {
            tool(&["chown", &format!("{NONROOT}:{NONROOT}"), text(data.path())]);
        }
        Image { root, config, data }
    }

    /// Returns the command of the image with these arguments, run by the image's user with a read-only root.
    fn command(&self, arguments: &[&str]) -> Command {
        let strings = |key: &str| -> Vec<&str> {
            self.config["config"][key].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
        };
        assert_eq!(self.config["config"]["User"], format!("{NONROOT}:{NONROOT}"));
        let mut command = Command::new("unshare");
        command.args(if is_root() { &["--mount"][..] } else { &["--map-root-user", "--mount"] });
        let enter = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && mount --bind \"$2\" \"$1/data\" \
                     && mount --bind /dev/urandom \"$1/dev/urandom\" && shift 2 && exec chroot \"$@\"";
        command.args(["sh", "-euc", enter, "sh"]).args([self.root.folder.path(), self.data.path()]);
        // A tester who is not root cannot become another user.
        command.args(is_root().then(|| format!("--userspec={NONROOT}:{NONROOT}")));
        command.arg(self.root.folder.path()).args(strings("Entrypoint")).args(arguments);
        command.stdin(Stdio::null()).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        let variables = strings("Env").into_iter().filter_map(|set| set.split_once('='));
        command.envs(variables.filter(|(name, _)| *name != "PATH"));
        command
    }

    fn run(&self, arguments: &[&str], resolve: &str) -> Ran {
        let mut command = self.command(arguments);
        command.env("CURLEW_RESOLVE", resolve).envs(BRISK);
        Child::spawn(command).wait(LIMIT)
    }
}

#[test]
fn the_image_crawls_serves_and_tells_its_health_as_a_user_without_rights() {
    let image = Image::unpack(&package("-oci.tar"));
    assert!(!image.root.path("bin/sh").exists(), "the image has no shell");
    let mode = |path: &str| image.root.path(path).metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode("tmp"), mode("usr/bin/curlew")), (0o1777, 0o755));
    let data = image.root.path("data").metadata().unwrap().uid();
    assert!(!is_root() || data == NONROOT, "a fresh volume takes over the image's owner, {data}");
    assert!(image.root.path(CERTIFICATES).metadata().unwrap().len() > 10_000);

    let (web, site) = (Web::demo(), "sharp-tongues.test");
    image.run(&["crawl", &format!("http://{site}/")], &web.resolve()).ok();
    let owner = image.data.path().join("curlew.sqlite3").metadata().unwrap().uid();
    assert!(!is_root() || owner == NONROOT, "written by user {owner}");
    let root_is_closed = image.run(&["init", "/etc/here"], "").stderr;
    assert!(root_is_closed.contains("cannot be written"), "{root_is_closed}");

    let cmd = image.config["config"]["Cmd"].as_array().unwrap();
    assert_eq!((&cmd[0], &cmd[1]), (&"serve".into(), &"--listen".into()));
    let addr = Server::free_address();
    let listen = addr.to_string();
    let health = || image.run(&["health", "--listen", &listen], "");
    health().refused(1, &[&listen, "curlew serve"]);
    let mut serving = Child::spawn(image.command(&["serve", "--listen", &listen]));
    let began = Instant::now();
    while health().code() != 0 {
        assert!(serving.is_running() && began.elapsed() < SOON, "{:?}", serving.wait(SOON));
        std::thread::sleep(Duration::from_millis(100));
    }
    let check = &image.config["config"]["Healthcheck"]["Test"];
    assert_eq!((&check[0], &check[1], &check[2]), (&"CMD".into(), &"/usr/bin/curlew".into(), &"health".into()));
    let page = get(addr, &format!("/?q=site%3A{site}"));
    assert!(page.status == 200 && page.text().contains(&format!("http://{site}/")), "{}", page.text());
    serving.terminate();
    serving.wait(SOON).ok();
}
