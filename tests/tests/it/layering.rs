//! Layering: the directions of dependency between the crates of this workspace, checked with `cargo metadata`.
//!
//! The table [`RULES`] has one row for each member of the workspace. A crate without a row fails the test, and so does
//! a row without a crate. Optional and build dependencies count as normal ones. Test dependencies (`dev-dependencies`)
//! may also be the crates of [`FOR_TESTS`].

use cargo_metadata::{DependencyKind, MetadataCommand};
use std::collections::BTreeSet;

/// The kind of a crate, which determines the foreign crates that it may use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Pure decisions: no runtime, no I/O, no randomness.
    Pure,
    /// A library without a network client or a database of its own.
    Plain,
    /// The HTTP adapter.
    Fetcher,
    /// The SQLite adapter.
    Store,
    /// Adapters for AWS.
    Aws,
    /// The code inside a Lambda function: the glue, and the functions.
    Function,
    /// Code for tests and tasks only, which may use everything.
    Workshop,
}

/// One row for each member of the workspace: its name, its kind, and the workspace's crates that it may use. Names have
/// no prefix `curlew-`; the crate of the command line, `curlew`, is called `cli`.
///
/// The bundled web uses no other crate of the workspace, since its content and its logs judge the others. The tests
/// examine programs from outside, so they need few inner crates; the meter of everyday use runs the functions over
/// in-memory services.
const RULES: &[(&str, Kind, &str)] = &[
    ("model", Kind::Pure, ""),
    ("suffix", Kind::Pure, ""),
    ("text", Kind::Pure, "model"),
    ("policy", Kind::Pure, "model suffix text"),
    ("feed", Kind::Pure, "model text"),
    ("article", Kind::Pure, "model text"),
    ("screen", Kind::Pure, "model text"),
    ("signature", Kind::Pure, "model"),
    ("warc", Kind::Pure, ""),
    ("search", Kind::Plain, "model text"),
    ("ports", Kind::Plain, "model"),
    ("catalog", Kind::Plain, "model policy search warc ports"),
    ("crawl", Kind::Plain, "model policy feed article screen search signature ports catalog text"),
    ("people", Kind::Plain, "model policy feed article screen search ports catalog crawl text"),
    ("fetcher", Kind::Fetcher, "model ports"),
    ("embedded", Kind::Store, "model ports"),
    ("aws", Kind::Aws, "model ports"),
    ("onnx", Kind::Plain, "screen"),
    (
        "app",
        Kind::Plain,
        "model policy feed article screen search signature warc ports catalog crawl people fetcher web",
    ),
    ("lambda", Kind::Function, "model policy screen ports catalog crawl people fetcher onnx app aws web"),
    ("fn-dispatch", Kind::Function, "lambda"),
    ("fn-discover", Kind::Function, "lambda"),
    ("fn-poll", Kind::Function, "lambda"),
    ("fn-fetch", Kind::Function, "lambda"),
    ("fn-extract", Kind::Function, "lambda"),
    ("fn-index", Kind::Function, "lambda"),
    ("fn-remove", Kind::Function, "lambda"),
    ("fn-sample", Kind::Function, "lambda"),
    ("fn-web", Kind::Function, "lambda"),
    ("web", Kind::Plain, "model text policy signature ports catalog crawl people"),
    ("fixtureweb", Kind::Plain, ""),
    ("testkit", Kind::Plain, "model policy ports"),
    ("simulator", Kind::Plain, "model policy feed ports catalog crawl people app testkit"),
    (
        "cli",
        Kind::Plain,
        "model policy feed article screen search signature warc ports catalog crawl people fetcher app embedded aws onnx \
         web fixtureweb",
    ),
    ("tests", Kind::Workshop, "model policy ports aws lambda fixtureweb testkit"),
    ("fuzz", Kind::Workshop, "model policy feed article search fetcher warc crawl"),
    ("xtask", Kind::Workshop, ""),
];

/// Returns the name of a crate as [`RULES`] spells it.
fn short(name: &str) -> &str {
    if name == "curlew" { "cli" } else { name.strip_prefix("curlew-").unwrap_or(name) }
}

/// Crates that the tests of any crate may use, but production code only if its row says so.
const FOR_TESTS: &[&str] = &["testkit", "simulator", "fixtureweb", "app"];

/// Foreign crates that only crates of some kinds may use, with the reason.
const FOREIGN: &[(&str, &[Kind], &str)] = &[
    ("reqwest", &[Kind::Fetcher], "only fetcher opens sockets to sites"),
    ("rusqlite", &[Kind::Store], "only embedded knows the database"),
    (
        "aws-config aws-sdk-dynamodb aws-sdk-lambda aws-sdk-s3 aws-sdk-sqs aws-smithy-http-client aws-smithy-runtime-api",
        &[Kind::Aws],
        "only aws knows the SDK",
    ),
    ("lambda_runtime lambda_http", &[Kind::Function], "only functions know that they are functions"),
    (
        "tokio rand fastrand getrandom",
        &[Kind::Plain, Kind::Fetcher, Kind::Store, Kind::Aws, Kind::Function],
        "a pure crate neither waits nor draws random numbers",
    ),
];

fn has(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| known == name)
}

/// Origin of a dependency: production code, or tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    Production,
    Tests,
}

/// The dependency graph of the workspace: its members and their dependencies.
#[derive(Default)]
struct Graph {
    members: BTreeSet<String>,
    edges: BTreeSet<(String, String, Use)>,
}

impl Graph {
    fn of_this_workspace() -> Graph {
        let metadata = MetadataCommand::new()
            .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"))
            .no_deps()
            .other_options(["--locked".to_owned()])
            .exec()
            .expect("cargo metadata describes the workspace");
        let mut graph = Graph::default();
        for package in metadata.workspace_packages() {
            let name = package.name.to_string();
            let from = short(&name);
            graph.members.insert(from.to_owned());
            for dependency in &package.dependencies {
                let tests = dependency.kind == DependencyKind::Development;
                let by = if tests { Use::Tests } else { Use::Production };
                graph.edges.insert((from.to_owned(), short(&dependency.name).to_owned(), by));
            }
        }
        graph
    }

    /// Returns one line for each broken rule, which names the edge and the rule.
    fn broken(&self) -> Vec<String> {
        let mut broken = Vec::new();
        for member in self.members.iter().filter(|member| RULES.iter().all(|(name, ..)| name != *member)) {
            broken.push(format!("{member}: has no row in RULES; say there what it may know"));
        }
        for (gone, ..) in RULES.iter().filter(|(name, ..)| !self.members.contains(*name)) {
            broken.push(format!("{gone}: has a row in RULES, but is no member of the workspace"));
        }
        for (from, to, by) in &self.edges {
            let Some((_, kind, knows)) = RULES.iter().find(|(name, ..)| name == from) else { continue };
            let is_ours = self.members.contains(to);
            let why = if is_ours { own(from, knows, *kind, to, *by) } else { foreign(*kind, to, *by) };
            broken.extend(why.map(|why| format!("{from} -> {to} ({by:?}): {why}")));
        }
        broken
    }
}

/// Returns the reason why this crate may not use another crate of the workspace.
fn own(name: &str, knows: &str, kind: Kind, to: &str, by: Use) -> Option<String> {
    if has(knows, to) || by == Use::Tests && (kind == Kind::Workshop || FOR_TESTS.contains(&to)) {
        return None;
    }
    Some(match to {
        "testkit" => "production code never knows testkit".to_owned(),
        _ if knows.is_empty() => format!("{name} knows no crate of ours"),
        _ => format!("{name} may know only {knows}"),
    })
}

/// Returns the reason why a crate of this kind may not use a foreign crate. Tests may use all crates.
fn foreign(kind: Kind, to: &str, by: Use) -> Option<String> {
    if by == Use::Tests || kind == Kind::Workshop {
        return None;
    }
    let (_, _, why) = FOREIGN.iter().find(|(names, kinds, _)| has(names, to) && !kinds.contains(&kind))?;
    Some((*why).to_owned())
}

#[test]
fn the_crates_know_only_whom_they_may() {
    let graph = Graph::of_this_workspace();
    assert!(graph.edges.iter().any(|(from, to, _)| from == "crawl" && to == "ports"), "the graph must be read");
    let broken = graph.broken();
    assert!(broken.is_empty(), "{} broken rule(s) of dependency:\n{}", broken.len(), broken.join("\n"));
}

/// Returns a workspace of all members with these additional edges.
fn with(edges: &[(&str, &str, Use)]) -> Graph {
    Graph {
        members: RULES.iter().map(|(name, ..)| (*name).to_owned()).collect(),
        edges: edges.iter().map(|(from, to, by)| ((*from).to_owned(), (*to).to_owned(), *by)).collect(),
    }
}

#[test]
fn every_forbidden_edge_is_named_with_its_rule() {
    use Use::{Production, Tests};
    let forbidden = [
        ("model", "policy", Production, "knows no crate of ours"),
        ("policy", "ports", Production, "policy may know only model"),
        ("policy", "feed", Tests, "policy may know only model"),
        ("crawl", "fetcher", Production, "crawl may know only"),
        ("crawl", "embedded", Tests, "crawl may know only"),
        ("embedded", "fetcher", Production, "embedded may know only model ports"),
        ("embedded", "fetcher", Tests, "embedded may know only model ports"),
        ("web", "fetcher", Production, "web may know only"),
        ("fetcher", "policy", Production, "fetcher may know only"),
        ("crawl", "testkit", Production, "production code never knows testkit"),
        ("cli", "testkit", Production, "production code never knows testkit"),
        ("testkit", "embedded", Tests, "testkit may know only"),
        ("fixtureweb", "model", Production, "fixtureweb knows no crate of ours"),
        ("crawl", "fixtureweb", Production, "crawl may know only"),
        ("web", "reqwest", Production, "only fetcher opens sockets"),
        ("cli", "reqwest", Production, "only fetcher opens sockets"),
        ("crawl", "rusqlite", Production, "only embedded knows the database"),
        ("fetcher", "rusqlite", Production, "only embedded knows the database"),
        ("cli", "aws-sdk-s3", Production, "only aws knows"),
        ("lambda", "aws-sdk-sqs", Production, "only aws knows"),
        ("cli", "lambda_runtime", Production, "only functions know"),
        ("aws", "crawl", Production, "aws may know only"),
        ("fn-fetch", "crawl", Production, "fn-fetch may know only"),
        ("policy", "tokio", Production, "a pure crate"),
        ("article", "rand", Production, "a pure crate"),
        ("signature", "getrandom", Production, "a pure crate"),
        ("screen", "reqwest", Production, "only fetcher opens sockets"),
        ("xtask", "model", Production, "xtask knows no crate of ours"),
        ("tests", "embedded", Production, "tests may know only"),
    ];
    for (from, to, by, rule) in forbidden {
        let broken = with(&[(from, to, by)]).broken();
        let start = format!("{from} -> {to} ({by:?}): ");
        assert!(broken.len() == 1 && broken[0].starts_with(&start) && broken[0].contains(rule), "{start}{broken:?}");
    }
}

#[test]
fn edges_that_are_in_order_are_let_through() {
    use Use::{Production, Tests};
    let allowed = [
        ("crawl", "ports", Production),
        ("cli", "embedded", Production),
        ("cli", "fixtureweb", Production),
        ("simulator", "testkit", Production),
        ("embedded", "testkit", Tests),
        ("fetcher", "reqwest", Production),
        ("embedded", "rusqlite", Production),
        ("fixtureweb", "reqwest", Tests),
        ("crawl", "tokio", Production),
        ("tests", "embedded", Tests),
        ("tests", "fixtureweb", Production),
        ("tests", "rusqlite", Production),
    ];
    assert_eq!(with(&allowed).broken(), Vec::<String>::new());
}

#[test]
fn a_crate_needs_a_row_and_a_row_a_crate() {
    let mut graph = with(&[]);
    graph.members.insert("new".to_owned());
    graph.members.remove("web");
    let broken = graph.broken();
    assert_eq!(broken.len(), 2, "{broken:?}");
    assert!(broken[0].starts_with("new: has no row"), "{broken:?}");
    assert!(broken[1].starts_with("web: has a row"), "{broken:?}");
}
