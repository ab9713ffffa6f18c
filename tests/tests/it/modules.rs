//! Modules: the graph of uses between the modules inside each crate of this workspace, read from its sources.
//!
//! **Module.** Each library and each program of a package is a tree of modules, from its root file down. Modules and
//! other items under `#[cfg(test)]` are left out, and so are tests, examples and benchmarks.
//!
//! **Use.** Module A uses module B if A has a path that ends at B or at an item that B defines. Paths are those of
//! `use` declarations, of types, expressions and patterns, and of the tokens of macros and attributes. A re-export is
//! followed to the module that defines the item; if that is of another crate, the module that re-exports it counts. An
//! inherent method belongs to the module of its `impl` block: `self.method()` and `Type::method` use that module as
//! well. Calls of methods on other values, and derived code, are not seen.
//!
//! **Room.** A module with all modules below it is a room. For each module, the rooms of its child modules are the
//! nodes of a graph: room A points to room B if any module of A uses any module of B. None of these graphs may have a
//! cycle. A use between a module and one above or below it in the tree lies inside one room and counts for no graph.
//!
//! **Order.** [`ROOMS`] gives the rooms below a crate's root from the lowest to the highest. A room may use lower ones.
//!
//! **Defining module.** In the crates of [`STRICT`], no module may take a name from the root that the root re-exports.
//!
//! **Names of types.** No struct, enum, union, trait or alias of a type has the name of another one of its crate.

mod examples;
mod tree;

use cargo_metadata::{MetadataCommand, TargetKind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;
use tree::{Edge, Sources, Tree};

/// The rooms below the roots of some crates, from the lowest to the highest. A row lists all rooms of its crate.
const ROOMS: &[(&str, &[&str])] = &[
    (
        "curlew-policy",
        &[
            "rules",
            "chance",
            "address",
            "trace",
            "skew",
            "delivery",
            "mapping_rest",
            "page",
            "robots",
            "site",
            "politeness",
            "polling",
        ],
    ),
    ("curlew-text", &["references", "url", "html", "leftovers", "links", "charset", "hygiene", "date"]),
    ("curlew-article", &["text", "work", "lists", "read", "markup", "candidates", "learned", "choose", "explain"]),
    ("curlew-crawl", &["bulk", "parsing", "worker", "politeness", "pages", "feeds", "crawler"]),
    (
        "curlew-screen",
        &[
            "fold",
            "topic",
            "lists",
            "lexicon",
            "score",
            "settings",
            "image",
            "overrides",
            "persons",
            "verdict",
            "screener",
        ],
    ),
    ("curlew-signature", &["signer", "keys", "accept", "request", "directory"]),
    (
        "curlew-search",
        &[
            "cursor",
            "error",
            "cold",
            "bundle",
            "pieces",
            "analyze",
            "tokens",
            "schema",
            "query",
            "bits",
            "bounds",
            "manifest",
            "hidden",
            "tiers",
            "snippet",
            "split",
            "sites",
            "build",
            "budget",
            "statistics",
            "plan",
            "rank",
            "listing",
            "proximity",
            "spelling",
            "hit",
            "open_splits",
            "lookups",
            "run",
            "suggest",
        ],
    ),
];

/// Crates whose modules import each name from the module that defines it.
const STRICT: &[&str] = &[
    "curlew-text",
    "curlew-policy",
    "curlew-catalog",
    "curlew-crawl",
    "curlew-people",
    "curlew-simulator",
    "curlew-suffix",
    "curlew-model",
    "curlew-screen",
    "curlew-search",
    "curlew-signature",
    "curlew-fetcher",
    "curlew-embedded",
    "curlew-aws",
    "curlew-onnx",
    "curlew-web",
    "curlew-fixtureweb",
    "curlew-lambda",
    "curlew",
    "curlew-testkit",
    "curlew-tests",
    "curlew-fuzz",
    "xtask",
];

/// One crate of the workspace: the module trees of its library and its programs.
struct Package {
    name: String,
    trees: Vec<Tree>,
}

impl Package {
    fn new(name: &str, roots: &[&str], sources: &Sources) -> Package {
        Package { name: name.to_owned(), trees: roots.iter().map(|root| Tree::read(root, sources)).collect() }
    }

    /// Returns each cycle between rooms, with its uses.
    fn circles(&self) -> Vec<String> {
        let each = |tree: &Tree| circles(tree).into_iter().map(|circle| told(tree, &circle)).collect::<Vec<_>>();
        self.trees.iter().flat_map(each).map(|circle| format!("{}: {circle}", self.name)).collect()
    }

    /// Returns each use of a higher room by a lower one, and each room without a place in the order.
    fn upward(&self, order: &[&str]) -> Vec<String> {
        let mut broken = Vec::new();
        let rooms: BTreeSet<&str> = self.trees.iter().flat_map(Tree::tops).collect();
        let listed: BTreeSet<&str> = order.iter().copied().collect();
        broken.extend(rooms.difference(&listed).map(|room| format!("{room} has no place in ROOMS")));
        broken.extend(listed.difference(&rooms).map(|room| format!("{room} has a place in ROOMS, but does not exist")));
        let floor = |room: Option<&str>| room.and_then(|room| order.iter().position(|listed| *listed == room));
        for tree in &self.trees {
            for edge in tree.edges() {
                let (Some(from), Some(to)) = (floor(tree.top(edge.from)), floor(tree.top(edge.to))) else { continue };
                if from < to {
                    let rule = format!("{} is below {}", order[from], order[to]);
                    broken.push(format!("{}: {rule}", told(tree, &[edge])));
                }
            }
        }
        broken.into_iter().map(|broken| format!("{}: {broken}", self.name)).collect()
    }

    /// Returns each import of a name from the root that another module defines.
    fn by_root(&self) -> Vec<String> {
        let mut broken = Vec::new();
        for tree in &self.trees {
            for Edge { from, to, line, name, .. } in tree.edges().into_iter().filter(|edge| edge.by_root) {
                let (from, to) = (&tree.modules[from].file, &tree.modules[to].file);
                broken.push(format!("{}: {from}:{line}: import {name} from the defining module, {to}", self.name));
            }
        }
        broken
    }

    /// Returns the places of each name that several types have.
    fn twice(&self) -> BTreeMap<String, Vec<String>> {
        let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for module in self.trees.iter().flat_map(|tree| &tree.modules) {
            for (name, line) in &module.types {
                places.entry(name.clone()).or_default().push(format!("{}:{line}", module.file));
            }
        }
        places.retain(|_, places| places.len() > 1);
        places
    }
}

/// Formats a cycle: `a.rs -> b.rs (line, name) -> a.rs (line, name)`. If a path leaves a room by another file than it
/// entered, that file stands between.
fn told(tree: &Tree, uses: &[Edge]) -> String {
    let file = |module: usize| tree.modules[module].file.trim_start_matches("src/");
    let mut told = String::new();
    let mut at = "";
    for edge in uses {
        let (from, to) = (file(edge.from), file(edge.to));
        if at != from {
            told += if at.is_empty() { "" } else { " .. " };
            told += from;
        }
        told += &format!(" -> {to} ({}, {})", edge.line, edge.name);
        at = to;
    }
    told
}

/// Returns a shortest cycle through each room that is on one, without those that share a room with an earlier cycle.
fn circles(tree: &Tree) -> Vec<Vec<Edge>> {
    let mut uses: BTreeMap<usize, BTreeMap<usize, Edge>> = BTreeMap::new();
    for edge in tree.edges() {
        if let Some((from, to)) = tree.rooms(&edge) {
            uses.entry(from).or_default().entry(to).or_insert(edge);
        }
    }
    let mut known: BTreeSet<usize> = BTreeSet::new();
    let mut circles = Vec::new();
    for start in uses.keys() {
        let Some(circle) = circle(&uses, *start) else { continue };
        if circle.iter().all(|(room, _)| !known.contains(room)) {
            known.extend(circle.iter().map(|(room, _)| *room));
            circles.push(circle.into_iter().map(|(_, edge)| edge).collect());
        }
    }
    circles
}

/// Returns a shortest way from a room back to it: each room that is left, with the use that leads to the next.
fn circle(uses: &BTreeMap<usize, BTreeMap<usize, Edge>>, start: usize) -> Option<Vec<(usize, Edge)>> {
    let mut come_from: BTreeMap<usize, (usize, &Edge)> = BTreeMap::new();
    let mut border = vec![start];
    while !border.is_empty() && !come_from.contains_key(&start) {
        let mut next = Vec::new();
        for room in border {
            for (to, edge) in uses.get(&room).into_iter().flatten() {
                if !come_from.contains_key(to) {
                    come_from.insert(*to, (room, edge));
                    next.push(*to);
                }
            }
        }
        border = next;
    }
    let mut circle = Vec::new();
    let mut room = start;
    while circle.is_empty() || room != start {
        let (from, edge) = come_from.get(&room)?;
        circle.push((*from, (*edge).clone()));
        room = *from;
    }
    circle.reverse();
    Some(circle)
}

/// All members of the workspace that have a library or a program.
static WORKSPACE: LazyLock<Vec<Package>> = LazyLock::new(workspace);

fn workspace() -> Vec<Package> {
    let metadata = MetadataCommand::new()
        .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"))
        .no_deps()
        .other_options(["--locked".to_owned()])
        .exec()
        .expect("cargo metadata describes the workspace");
    let package = |package: &cargo_metadata::Package| {
        let folder = package.manifest_path.parent().expect("a manifest is in a folder").as_std_path();
        let mut sources = Sources::new();
        read_below(&folder.join("src"), "src", &mut sources);
        let of_production = |target: &&cargo_metadata::Target| {
            target.kind.iter().any(|kind| matches!(kind, TargetKind::Lib | TargetKind::Bin))
        };
        let roots: Vec<String> = (package.targets.iter().filter(of_production))
            .filter_map(|target| Some(target.src_path.as_std_path().strip_prefix(folder).ok()?.to_str()?.to_owned()))
            .collect();
        Package::new(&package.name, &roots.iter().map(String::as_str).collect::<Vec<_>>(), &sources)
    };
    metadata.workspace_packages().into_iter().map(package).collect()
}

fn read_below(folder: &Path, name: &str, sources: &mut Sources) {
    for entry in std::fs::read_dir(folder).expect("sources can be listed") {
        let path = entry.expect("an entry can be read").path();
        let name = format!("{name}/{}", path.file_name().unwrap().to_str().expect("a source has a readable name"));
        if path.is_dir() {
            read_below(&path, &name, sources);
        } else if name.ends_with(".rs") {
            sources.insert(name, std::fs::read_to_string(&path).expect("a source can be read"));
        }
    }
}

fn assert_none(what: &str, broken: &[String]) {
    assert!(broken.is_empty(), "{} {what}:\n{}", broken.len(), broken.join("\n"));
}

#[test]
fn no_modules_use_each_other_in_a_circle() {
    let read = |package: &Package| package.trees.iter().any(|tree| tree.edges().len() > 100);
    assert!(WORKSPACE.iter().any(read), "the modules are read");
    assert_none("circle(s)", &WORKSPACE.iter().flat_map(Package::circles).collect::<Vec<_>>());
}

#[test]
fn no_room_uses_one_above_it() {
    let broken = ROOMS.iter().flat_map(|(name, order)| {
        let package = WORKSPACE.iter().find(|package| package.name == *name);
        package.map_or_else(|| vec![format!("{name}: is no member of the workspace")], |package| package.upward(order))
    });
    assert_none("use(s) of a higher room", &broken.collect::<Vec<_>>());
}

#[test]
fn names_are_imported_from_their_modules() {
    for gone in STRICT {
        assert!(WORKSPACE.iter().any(|package| package.name == *gone), "{gone} is no member of the workspace");
    }
    let strict = WORKSPACE.iter().filter(|package| STRICT.contains(&package.name.as_str()));
    assert_none("import(s) by way of the root", &strict.flat_map(Package::by_root).collect::<Vec<_>>());
}

#[test]
fn no_name_has_two_types() {
    let broken = WORKSPACE.iter().flat_map(|package| {
        let twice = package.twice().into_iter();
        twice.map(|(name, places)| format!("{}: {name}: {}", package.name, places.join(", ")))
    });
    assert_none("name(s) of several types", &broken.collect::<Vec<_>>());
}
