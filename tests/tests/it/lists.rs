//! Checks lists of all variants: each `const ALL` of an enum names every variant once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// The enums of a file with their variants, and the lists of its `impl` blocks.
#[derive(Default)]
struct Reader {
    enums: BTreeMap<String, BTreeSet<String>>,
    lists: Vec<(String, Vec<String>)>,
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        let variants = item.variants.iter().map(|variant| variant.ident.to_string()).collect();
        self.enums.insert(item.ident.to_string(), variants);
    }

    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        if let syn::Type::Path(of) = &*block.self_ty
            && let Some(of) = of.path.get_ident()
        {
            for item in &block.items {
                if let syn::ImplItem::Const(list) = item
                    && list.ident == "ALL"
                    && let syn::Expr::Array(array) = &list.expr
                {
                    let last = |path: &syn::ExprPath| path.path.segments.last().map(|last| last.ident.to_string());
                    let named =
                        array.elems.iter().filter_map(|e| if let syn::Expr::Path(p) = e { last(p) } else { None });
                    self.lists.push((of.to_string(), named.collect()));
                }
            }
        }
        visit::visit_item_impl(self, block);
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("sources can be listed") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns the number of lists in a source text, and a message for each list that differs from its enum.
fn check(text: &str) -> (usize, Vec<String>) {
    let mut reader = Reader::default();
    reader.visit_file(&syn::parse_file(text).expect("a source is Rust"));
    let is_whole = |(of, named): &(String, Vec<String>)| {
        let variants = reader.enums.get(of);
        let as_set: BTreeSet<String> = named.iter().cloned().collect();
        as_set.len() == named.len() && variants.is_some_and(|variants| *variants == as_set)
    };
    let broken = reader.lists.iter().filter(|list| !is_whole(list)).map(|(of, named)| format!("{of}: {named:?}"));
    (reader.lists.len(), broken.collect())
}

#[test]
fn a_list_of_all_variants_has_them_all() {
    let mut files = Vec::new();
    for folder in ["shared", "tests/src", "xtask/src"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder), &mut files);
    }
    let checked = files.iter().map(|file| (file, check(&std::fs::read_to_string(file).expect("a source can be read"))));
    let (mut lists, mut broken) = (0, Vec::new());
    for (file, (number, wrong)) in checked {
        lists += number;
        broken.extend(wrong.into_iter().map(|wrong| format!("{}: {wrong}", file.display())));
    }
    assert!(lists >= 4, "{lists} lists were found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_list_that_lacks_or_repeats_a_variant_is_found() {
    for (list, is_whole) in
        [("E::A, E::B", true), ("E::B, Self::A", true), ("E::A", false), ("E::A, E::A, E::B", false)]
    {
        let text = format!("enum E {{ A, B }} impl E {{ const ALL: [E; 2] = [{list}]; }}");
        assert_eq!(check(&text).1.is_empty(), is_whole, "{list}");
    }
}
