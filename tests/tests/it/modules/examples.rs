//! Small crates that each break one rule, and small ones that break none.

use super::tree::Sources;
use super::{Package, circles};

/// Returns a crate of these files; the first is its root.
fn package(files: &[(&str, &str)]) -> Package {
    let sources: Sources = files.iter().map(|(file, text)| (format!("src/{file}"), (*text).to_owned())).collect();
    Package::new("small", &[&format!("src/{}", files[0].0)], &sources)
}

#[track_caller]
fn assert_circle(files: &[(&str, &str)], expected: &str) {
    assert_eq!(package(files).circles(), [format!("small: {expected}")]);
}

#[track_caller]
fn assert_no_circle(files: &[(&str, &str)]) {
    assert_eq!(package(files).circles(), Vec::<String>::new());
}

const A_B: (&str, &str) = ("lib.rs", "mod a;\nmod b;\n");
const A_B_C: (&str, &str) = ("lib.rs", "mod a;\nmod b;\nmod c;\n");

#[test]
fn two_modules_that_import_each_other_are_a_circle() {
    assert_circle(
        &[A_B, ("a.rs", "\nuse crate::b::Y;\npub struct X;"), ("b.rs", "use super::a::X;\npub struct Y;")],
        "a.rs -> b.rs (2, Y) -> a.rs (1, X)",
    );
}

#[test]
fn a_circle_of_three_is_found() {
    assert_circle(
        &[
            A_B_C,
            ("a.rs", "use crate::b::Y;\npub struct X;"),
            ("b.rs", "use crate::c::{self, Z};\npub struct Y;"),
            ("c.rs", "pub struct Z;\nfn f(_: crate::a::X) {}"),
        ],
        "a.rs -> b.rs (1, Y) -> c.rs (1, Z) -> a.rs (2, X)",
    );
}

#[test]
fn a_way_in_one_direction_is_none() {
    assert_no_circle(&[
        A_B_C,
        ("a.rs", "use crate::{b::Y, c};\npub struct X;\nfn f() { c::g() }"),
        ("b.rs", "use crate::c::*;\npub struct Y;"),
        ("c.rs", "use std::b::Y; use a::X;\npub fn g() {}"),
    ]);
}

/// Each of these texts makes `b` use `a`, which uses `b`.
#[test]
fn every_form_of_a_path_counts() {
    for text in [
        "use crate::a as other;\nfn f() { other::g() }",
        "use crate::{a::{X, g as h}};",
        "use crate::a::*;",
        "fn f(_: &[Option<crate::a::X>]) {}",
        "fn f() -> impl Fn(super::a::X) { |_| () }",
        "fn f() { let crate::a::X = x; }",
        "fn f() { use crate::a::X; }",
        "impl crate::a::T for Y {}",
        "fn f() { println!(\"{}\", [super::a::g()][0]); }",
        "#[derive(Deserialize)] struct Z { #[serde(default = \"crate::a::g\")] z: u8 }",
        "#[arg(value_parser = crate::a::g)] struct Z;",
        "mod inner { use super::super::a::X; }",
        "use self::inner::X; mod inner { pub use crate::a::X; }",
        "impl Y { fn f(&self) { self.abroad() } }",
        "impl Y { fn f() { Self::abroad() } }",
        "fn f(y: &Y) { Y::abroad(y) }",
    ] {
        let a = "use crate::b::Y;\npub struct X;\npub trait T {}\npub fn g() {}\nimpl Y { fn abroad(&self) {} }";
        let b = format!("pub struct Y;\n{text}");
        let files = [A_B, ("a.rs", a), ("b.rs", b.as_str())];
        let found = package(&files).circles();
        assert!(
            found.len() == 1 && found[0].starts_with("small: a.rs -> b.rs (1, Y) -> a.rs (2, "),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn what_is_for_tests_or_of_other_crates_counts_for_nothing() {
    for text in [
        "#[cfg(test)]\nmod tests { use crate::a::X; }",
        "#[cfg(test)]\nmod tests;",
        "#[cfg(test)]\nuse crate::a::X;",
        "#[test]\nfn f() { crate::a::g(); }",
        "impl Y { #[cfg(test)] fn f() { crate::a::g(); } }",
        "fn f() { a::g(); other::a::X; }",
        "fn f() { \"crate::a::X\"; }",
        "//! crate::a::X",
        "impl Y { fn f(&self, z: Z) { z.abroad(); } }",
    ] {
        let a = "use crate::b::Y;\npub struct X;\npub fn g() {}\nimpl Y { fn abroad(&self) {} }";
        let b =
            if text.starts_with("//!") { format!("{text}\npub struct Y;") } else { format!("pub struct Y;\n{text}") };
        let files = [A_B, ("a.rs", a), ("b.rs", b.as_str())];
        assert_eq!(package(&files).circles(), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn an_item_belongs_to_the_module_that_defines_it() {
    let root = ("lib.rs", "mod a;\nmod b;\npub use a::X;\npub use b::deep::Y;\n");
    let deep = ("b/deep.rs", "pub struct Y;");
    assert_circle(
        &[root, ("a.rs", "use crate::Y;\npub struct X;"), ("b.rs", "pub mod deep;\nuse crate::X;"), deep],
        "a.rs -> b/deep.rs (1, Y) .. b.rs -> a.rs (2, X)",
    );
    assert_no_circle(&[root, ("a.rs", "pub struct X;"), ("b.rs", "pub mod deep;\nuse crate::X;"), deep]);
}

#[test]
fn a_name_of_another_crate_belongs_to_the_module_it_is_taken_from() {
    let b = ("b.rs", "pub use other::Z;\nuse crate::a::X;");
    assert_circle(&[A_B, ("a.rs", "use crate::b::Z;\npub struct X;"), b], "a.rs -> b.rs (1, Z) -> a.rs (2, X)");
    assert_no_circle(&[A_B, ("a.rs", "use other::Z;\npub struct X;"), b]);
}

#[test]
fn a_module_and_those_below_it_are_one_room() {
    let root = ("main.rs", "mod a;\npub struct Z;\nuse a::X;");
    assert_no_circle(&[
        root,
        ("a/mod.rs", "mod c;\npub use c::Y;\npub struct X(Y);"),
        ("a/c.rs", "use super::X;\nuse crate::Z;\npub struct Y;"),
    ]);
}

#[test]
fn children_of_one_module_may_be_no_circle() {
    assert_circle(
        &[
            ("lib.rs", "mod room;"),
            ("room.rs", "mod a;\nmod b;\nuse a::X;"),
            ("room/a.rs", "use super::b::Y;\npub struct X;"),
            ("room/b.rs", "use super::X;\npub struct Y;"),
        ],
        "room/a.rs -> room/b.rs (1, Y) -> room/a.rs (1, X)",
    );
}

/// No file of it is on a cycle of files.
#[test]
fn rooms_may_be_no_circle() {
    assert_circle(
        &[
            A_B,
            ("a.rs", "pub mod one;\npub mod two;"),
            ("a/one.rs", "use crate::b::Y;"),
            ("a/two.rs", "pub struct X;"),
            ("b.rs", "mod other;\npub struct Y;"),
            ("b/other.rs", "use crate::a::two::X;"),
        ],
        "a/one.rs -> b.rs (1, Y) .. b/other.rs -> a/two.rs (1, X)",
    );
}

#[test]
fn circles_apart_are_each_told() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "use crate::b;"),
        ("b.rs", "use crate::a; use crate::c;"),
        ("c.rs", "use crate::d;"),
        ("d.rs", "use crate::c;"),
    ];
    assert_eq!(circles(&package(&files).trees[0]).len(), 2);
}

#[test]
fn a_lower_room_may_not_use_a_higher_one() {
    let files = [A_B_C, ("a.rs", "use crate::b::deep::Y;"), ("b.rs", "pub mod deep;"), ("b/deep.rs", "pub struct Y;")];
    let files: Vec<_> = files.into_iter().chain([("c.rs", "pub struct Z;")]).collect();
    let broken = |order: &[&str]| package(&files).upward(order);
    assert_eq!(broken(&["c", "b", "a"]), Vec::<String>::new());
    assert_eq!(broken(&["a", "b", "c"]), ["small: a.rs -> b/deep.rs (1, Y): a is below b"]);
    assert_eq!(broken(&["b", "a"]), ["small: c has no place in ROOMS"]);
    assert_eq!(broken(&["b", "a", "c", "d"]), ["small: d has a place in ROOMS, but does not exist"]);
}

#[test]
fn a_name_comes_from_its_module_and_not_from_the_root() {
    let root = ("lib.rs", "mod a;\nmod b;\npub use a::{X, g};\npub struct Z;");
    let a = ("a.rs", "pub struct X;\npub fn g() {}");
    let b = "use crate::X;\nfn f() { crate::g(); }";
    let told = |line, name| format!("small: src/b.rs:{line}: import {name} from the defining module, src/a.rs");
    assert_eq!(package(&[root, a, ("b.rs", b)]).by_root(), [told(1, "X"), told(2, "g")]);
    let b = "use crate::Z;\nuse crate::a::X;\nuse super::a;\nfn f() { a::g(); }";
    assert_eq!(package(&[root, a, ("b.rs", b)]).by_root(), Vec::<String>::new());
}

#[test]
fn a_type_has_a_name_of_its_own() {
    let files = [
        A_B,
        ("a.rs", "struct X;\ntrait T {}\nstruct Y;\nimpl T for Y { type Z = X; }"),
        ("b.rs", "fn f() { enum X {} }\ntype T = u8;\n#[cfg(test)] struct Y;\nfn X() {}"),
    ];
    let twice: Vec<_> = package(&files).twice().into_iter().map(|(name, places)| (name, places.join(" "))).collect();
    let expected = [("T", "src/a.rs:2 src/b.rs:2"), ("X", "src/a.rs:1 src/b.rs:1")];
    assert_eq!(twice, expected.map(|(name, places)| (name.to_owned(), places.to_owned())));
}
