//! Layering: the directions of dependency between the crates of this workspace, checked with `cargo metadata`.
//!
//! The table [`RULES`] has one row for each member. A new crate without a row fails, and so does a row without a crate.
//! Optional and build dependencies count as normal ones. Dependencies of tests (`dev-dependencies`) may in addition be
//! the crates of [`FOR_TESTS`].

use cargo_metadata::{DependencyKind, MetadataCommand};
use std::collections::{BTreeMap, BTreeSet};

/// Dependencies that one crate may have.
struct Rule {
    name: &'static str,
    /// The workspace's crates that it may use.
    knows: &'static [&'static str],
    kind: Kind,
}

/// Kind of a crate; it determines the foreign crates that it may use.
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
    /// Adapters of AWS.
    Aws,
    /// The code inside a function: the glue, and the functions.
    Function,
    /// Tests and tasks only: may use everything.
    Workshop,
}

const MODEL: &str = "curlew-model";
const POLICY: &str = "curlew-policy";
const SUFFIX: &str = "curlew-suffix";
const TEXT: &str = "curlew-text";
const FEED: &str = "curlew-feed";
const ARTICLE: &str = "curlew-article";
const SCREEN: &str = "curlew-screen";
const SIGNATURE: &str = "curlew-signature";
const SEARCH: &str = "curlew-search";
const WARC: &str = "curlew-warc";
const PORTS: &str = "curlew-ports";
const CATALOG: &str = "curlew-catalog";
const CRAWL: &str = "curlew-crawl";
const PEOPLE: &str = "curlew-people";
const APP: &str = "curlew-app";
const FETCHER: &str = "curlew-fetcher";
const EMBEDDED: &str = "curlew-embedded";
const WEB: &str = "curlew-web";
const CLI: &str = "curlew";
const TESTKIT: &str = "curlew-testkit";
const SIMULATOR: &str = "curlew-simulator";
const FIXTUREWEB: &str = "curlew-fixtureweb";
const AWS: &str = "curlew-aws";
const ONNX: &str = "curlew-onnx";
const LAMBDA: &str = "curlew-lambda";
const TESTS: &str = "curlew-tests";
const FUZZ: &str = "curlew-fuzz";
const XTASK: &str = "xtask";

/// One row a member of the workspace.
const RULES: &[Rule] = &[
    Rule { name: MODEL, knows: &[], kind: Kind::Pure },
    Rule { name: SUFFIX, knows: &[], kind: Kind::Pure },
    Rule { name: TEXT, knows: &[MODEL], kind: Kind::Pure },
    Rule { name: POLICY, knows: &[MODEL, SUFFIX, TEXT], kind: Kind::Pure },
    Rule { name: FEED, knows: &[MODEL, TEXT], kind: Kind::Pure },
    Rule { name: ARTICLE, knows: &[MODEL, TEXT], kind: Kind::Pure },
    Rule { name: SCREEN, knows: &[MODEL, TEXT], kind: Kind::Pure },
    Rule { name: SIGNATURE, knows: &[MODEL], kind: Kind::Pure },
    Rule { name: WARC, knows: &[], kind: Kind::Pure },
    Rule { name: SEARCH, knows: &[MODEL, TEXT], kind: Kind::Plain },
    Rule { name: PORTS, knows: &[MODEL], kind: Kind::Plain },
    Rule { name: CATALOG, knows: &[MODEL, POLICY, SEARCH, WARC, PORTS], kind: Kind::Plain },
    Rule {
        name: CRAWL,
        knows: &[MODEL, POLICY, FEED, ARTICLE, SCREEN, SEARCH, SIGNATURE, PORTS, CATALOG, TEXT],
        kind: Kind::Plain,
    },
    Rule {
        name: PEOPLE,
        knows: &[MODEL, POLICY, FEED, ARTICLE, SCREEN, SEARCH, PORTS, CATALOG, CRAWL, TEXT],
        kind: Kind::Plain,
    },
    Rule { name: FETCHER, knows: &[MODEL, PORTS], kind: Kind::Fetcher },
    Rule { name: EMBEDDED, knows: &[MODEL, PORTS], kind: Kind::Store },
    Rule { name: AWS, knows: &[MODEL, PORTS], kind: Kind::Aws },
    // The image classifier that is more than a rule; the trait is in the crate that screens.
    Rule { name: ONNX, knows: &[SCREEN], kind: Kind::Plain },
    // The three doors, built once from settings and the HTTP adapter, over any store.
    Rule {
        name: APP,
        knows: &[
            MODEL, POLICY, FEED, ARTICLE, SCREEN, SEARCH, SIGNATURE, WARC, PORTS, CATALOG, CRAWL, PEOPLE, FETCHER, WEB,
        ],
        kind: Kind::Plain,
    },
    Rule {
        name: LAMBDA,
        knows: &[MODEL, POLICY, SCREEN, PORTS, CATALOG, CRAWL, PEOPLE, FETCHER, ONNX, APP, AWS, WEB],
        kind: Kind::Function,
    },
    Rule { name: "curlew-fn-dispatch", knows: &[LAMBDA], kind: Kind::Function },
    Rule { name: "curlew-fn-discover", knows: &[LAMBDA], kind: Kind::Function },
    Rule { name: "curlew-fn-poll", knows: &[LAMBDA], kind: Kind::Function },
    Rule { name: "curlew-fn-fetch", knows: &[LAMBDA], kind: Kind::Function },
    Rule { name: "curlew-fn-extract", knows: &[LAMBDA], kind: Kind::Function },
    Rule { name: "curlew-fn-index", knows: &[LAMBDA], kind: Kind::Function },
    Rule { name: "curlew-fn-remove", knows: &[LAMBDA], kind: Kind::Function },
    Rule { name: "curlew-fn-sample", knows: &[LAMBDA], kind: Kind::Function },
    Rule { name: "curlew-fn-web", knows: &[LAMBDA], kind: Kind::Function },
    Rule { name: WEB, knows: &[MODEL, TEXT, POLICY, SIGNATURE, PORTS, CATALOG, CRAWL, PEOPLE], kind: Kind::Plain },
    // The bundled web of the demo uses none of our crates, since its content and its logs judge the rest.
    Rule { name: FIXTUREWEB, knows: &[], kind: Kind::Plain },
    Rule { name: TESTKIT, knows: &[MODEL, POLICY, PORTS], kind: Kind::Plain },
    // The simulator drives the program over fakes.
    Rule {
        name: SIMULATOR,
        knows: &[MODEL, POLICY, FEED, PORTS, CATALOG, CRAWL, PEOPLE, APP, TESTKIT],
        kind: Kind::Plain,
    },
    Rule {
        name: CLI,
        knows: &[
            MODEL, POLICY, FEED, ARTICLE, SCREEN, SEARCH, SIGNATURE, WARC, PORTS, CATALOG, CRAWL, PEOPLE, FETCHER, APP,
            EMBEDDED, AWS, ONNX, WEB, FIXTUREWEB,
        ],
        kind: Kind::Plain,
    },
    // The library of the tests, for tests only. They examine programs from outside, so they need few inner crates.
    Rule {
        name: TESTS,
        // The meter of everyday use runs the functions over services in memory.
        knows: &[MODEL, POLICY, PORTS, AWS, LAMBDA, FIXTUREWEB, TESTKIT],
        kind: Kind::Workshop,
    },
    Rule { name: FUZZ, knows: &[MODEL, POLICY, FEED, ARTICLE, SEARCH, FETCHER, WARC, CRAWL], kind: Kind::Workshop },
    Rule { name: XTASK, knows: &[], kind: Kind::Workshop },
];

/// Crates that the tests of any crate may use, but production code only if its row says so.
const FOR_TESTS: &[&str] = &[TESTKIT, SIMULATOR, FIXTUREWEB, APP];

/// Foreign crates that only some kinds may have, with the reason.
const FOREIGN: &[(&[&str], &[Kind], &str)] = &[
    (&["reqwest"], &[Kind::Fetcher], "only curlew-fetcher opens sockets to sites"),
    (&["rusqlite"], &[Kind::Store], "only curlew-embedded knows the database"),
    (
        &[
            "aws-config",
            "aws-sdk-dynamodb",
            "aws-sdk-lambda",
            "aws-sdk-s3",
            "aws-sdk-sqs",
            "aws-smithy-http-client",
            "aws-smithy-runtime-api",
        ],
        &[Kind::Aws],
        "only curlew-aws knows the SDK",
    ),
    (&["lambda_runtime", "lambda_http"], &[Kind::Function], "only functions know that they are functions"),
    (
        &["tokio", "rand", "fastrand", "getrandom"],
        &[Kind::Plain, Kind::Fetcher, Kind::Store, Kind::Aws, Kind::Function],
        "a pure crate neither waits nor draws lots",
    ),
];

/// Origin of a dependency: production code, or tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    Production,
    Tests,
}

/// The workspace: its members, and each edge from one of them.
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
            graph.members.insert(package.name.to_string());
            for dependency in &package.dependencies {
                let tests = dependency.kind == DependencyKind::Development;
                let by = if tests { Use::Tests } else { Use::Production };
                graph.edges.insert((package.name.to_string(), dependency.name.clone(), by));
            }
        }
        graph
    }

    /// Returns every broken rule as one line that names the edge and the rule.
    fn broken(&self) -> Vec<String> {
        let rules: BTreeMap<&str, &Rule> = RULES.iter().map(|rule| (rule.name, rule)).collect();
        let mut broken = Vec::new();
        for member in self.members.iter().filter(|member| !rules.contains_key(member.as_str())) {
            broken.push(format!("{member}: has no row in RULES; say there what it may know"));
        }
        for gone in RULES.iter().filter(|rule| !self.members.contains(rule.name)) {
            broken.push(format!("{}: has a row in RULES, but is no member of the workspace", gone.name));
        }
        for (from, to, by) in &self.edges {
            let Some(rule) = rules.get(from.as_str()) else { continue };
            let why = if self.members.contains(to) { own(rule, to, *by) } else { foreign(rule, to, *by) };
            broken.extend(why.map(|why| format!("{from} -> {to} ({by:?}): {why}")));
        }
        broken
    }
}

/// Returns the reason why this crate may not use that one of ours.
fn own(rule: &Rule, to: &str, by: Use) -> Option<String> {
    let Rule { name, knows, kind } = rule;
    let allowed = knows.contains(&to) || (by == Use::Tests && (*kind == Kind::Workshop || FOR_TESTS.contains(&to)));
    if allowed {
        return None;
    }
    Some(match to {
        TESTKIT => "production code never knows testkit".to_owned(),
        _ if knows.is_empty() => format!("{name} knows no crate of ours"),
        _ => format!("{name} may know only {}", knows.join(", ")),
    })
}

/// Returns the reason why this crate may not use that foreign one. Tests may use all.
fn foreign(rule: &Rule, to: &str, by: Use) -> Option<String> {
    if by == Use::Tests || rule.kind == Kind::Workshop {
        return None;
    }
    let (_, _, why) = FOREIGN.iter().find(|(names, kinds, _)| names.contains(&to) && !kinds.contains(&rule.kind))?;
    Some((*why).to_owned())
}

#[test]
fn the_crates_know_only_whom_they_may() {
    let graph = Graph::of_this_workspace();
    assert!(graph.edges.iter().any(|(from, to, _)| from == CRAWL && to == PORTS), "the graph is read");
    let broken = graph.broken();
    assert!(broken.is_empty(), "{} broken rule(s) of dependency:\n{}", broken.len(), broken.join("\n"));
}

/// Returns a workspace of all members with these additional edges.
fn with(edges: &[(&str, &str, Use)]) -> Graph {
    Graph {
        members: RULES.iter().map(|rule| rule.name.to_owned()).collect(),
        edges: edges.iter().map(|(from, to, by)| ((*from).to_owned(), (*to).to_owned(), *by)).collect(),
    }
}

#[test]
fn every_forbidden_edge_is_named_with_its_rule() {
    use Use::{Production, Tests};
    let forbidden = [
        (MODEL, POLICY, Production, "knows no crate of ours"),
        (POLICY, PORTS, Production, "curlew-policy may know only curlew-model"),
        (POLICY, FEED, Tests, "curlew-policy may know only curlew-model"),
        (CRAWL, FETCHER, Production, "curlew-crawl may know only"),
        (CRAWL, EMBEDDED, Tests, "curlew-crawl may know only"),
        (EMBEDDED, FETCHER, Production, "curlew-embedded may know only curlew-model, curlew-ports"),
        (EMBEDDED, FETCHER, Tests, "curlew-embedded may know only curlew-model, curlew-ports"),
        (WEB, FETCHER, Production, "curlew-web may know only"),
        (FETCHER, POLICY, Production, "curlew-fetcher may know only"),
        (CRAWL, TESTKIT, Production, "production code never knows testkit"),
        (CLI, TESTKIT, Production, "production code never knows testkit"),
        (TESTKIT, EMBEDDED, Tests, "curlew-testkit may know only"),
        (FIXTUREWEB, MODEL, Production, "curlew-fixtureweb knows no crate of ours"),
        (CRAWL, FIXTUREWEB, Production, "curlew-crawl may know only"),
        (WEB, "reqwest", Production, "only curlew-fetcher opens sockets"),
        (CLI, "reqwest", Production, "only curlew-fetcher opens sockets"),
        (CRAWL, "rusqlite", Production, "only curlew-embedded knows the database"),
        (FETCHER, "rusqlite", Production, "only curlew-embedded knows the database"),
        (CLI, "aws-sdk-s3", Production, "only curlew-aws knows"),
        (LAMBDA, "aws-sdk-sqs", Production, "only curlew-aws knows"),
        (CLI, "lambda_runtime", Production, "only functions know"),
        (AWS, CRAWL, Production, "curlew-aws may know only"),
        ("curlew-fn-fetch", CRAWL, Production, "curlew-fn-fetch may know only"),
        (POLICY, "tokio", Production, "a pure crate"),
        (ARTICLE, "rand", Production, "a pure crate"),
        (SIGNATURE, "getrandom", Production, "a pure crate"),
        (SCREEN, "reqwest", Production, "only curlew-fetcher opens sockets"),
        (XTASK, MODEL, Production, "xtask knows no crate of ours"),
        (TESTS, EMBEDDED, Production, "curlew-tests may know only"),
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
        (CRAWL, PORTS, Production),
        (CLI, EMBEDDED, Production),
        (CLI, FIXTUREWEB, Production),
        (SIMULATOR, TESTKIT, Production),
        (EMBEDDED, TESTKIT, Tests),
        (FETCHER, "reqwest", Production),
        (EMBEDDED, "rusqlite", Production),
        (FIXTUREWEB, "reqwest", Tests),
        (CRAWL, "tokio", Production),
        (TESTS, EMBEDDED, Tests),
        (TESTS, FIXTUREWEB, Production),
        (TESTS, "rusqlite", Production),
    ];
    assert_eq!(with(&allowed).broken(), Vec::<String>::new());
}

#[test]
fn a_crate_needs_a_row_and_a_row_a_crate() {
    let mut graph = with(&[]);
    graph.members.insert("curlew-new".to_owned());
    graph.members.remove(WEB);
    let broken = graph.broken();
    assert_eq!(broken.len(), 2, "{broken:?}");
    assert!(broken[0].starts_with("curlew-new: has no row"), "{broken:?}");
    assert!(broken[1].starts_with("curlew-web: has a row"), "{broken:?}");
}
