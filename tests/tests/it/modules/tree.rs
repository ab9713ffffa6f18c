//! The module tree of one target, read from its sources, and the modules that each module uses.

use proc_macro2::{Span, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, Stmt, UseTree};

/// The sources of a package by their paths below it, such as `src/lib.rs`.
pub(super) type Sources = BTreeMap<String, String>;

/// Maximum number of re-exports that are followed for one name.
const MOST_HOPS: usize = 32;

/// Index of the root in [`Tree::modules`].
const ROOT: usize = 0;

/// All modules of a target except those of tests. The root comes first, and each parent before its children.
pub(super) struct Tree {
    pub(super) modules: Vec<Module>,
    /// The methods of each type, by the module and the name of the type, with the modules that define them.
    methods: BTreeMap<(usize, String), BTreeMap<String, usize>>,
}

#[derive(Default)]
pub(super) struct Module {
    pub(super) name: String,
    pub(super) file: String,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    items: BTreeSet<String>,
    imports: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    mentions: Vec<Mention>,
    /// Methods with the path of their type.
    methods: Vec<(Vec<String>, String)>,
    /// Calls of `self.method()` with the path of their type.
    calls: Vec<(Vec<String>, String, usize)>,
    /// Structs, enums, unions, traits and aliases of types, each with its line.
    pub(super) types: Vec<(String, usize)>,
}

/// A path as written, with its line.
struct Mention {
    path: Vec<String>,
    line: usize,
}

/// One use of a name of another module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) line: usize,
    pub(super) name: String,
    /// True if the name was imported from the root, which only re-exports it.
    pub(super) by_root: bool,
}

/// The module or item that a path refers to.
struct Target {
    module: usize,
    /// The item of that module, and the segment after it. A path may also end at the module itself.
    item: Option<(String, Option<String>)>,
    by_root: bool,
}

impl Tree {
    /// Reads the tree below this root file.
    pub(super) fn read(root: &str, sources: &Sources) -> Tree {
        let mut tree = Tree { modules: Vec::new(), methods: BTreeMap::new() };
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        tree.file(Module { file: root.to_owned(), ..Module::default() }, folder, sources);
        for (at, module) in tree.modules.iter().enumerate() {
            for (path, method) in &module.methods {
                let Some(Target { module, item: Some((name, None)), .. }) = tree.resolve(at, path) else { continue };
                tree.methods.entry((module, name)).or_default().insert(method.clone(), at);
            }
        }
        tree
    }

    /// Adds the module of a file, whose child modules are in this folder.
    fn file(&mut self, module: Module, folder: &str, sources: &Sources) -> usize {
        let name = &module.file;
        let text = sources.get(name).unwrap_or_else(|| panic!("{name} is declared and missing"));
        let parsed = syn::parse_file(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        self.add(module, &parsed.items, folder, sources)
    }

    fn add(&mut self, module: Module, items: &[Item], folder: &str, sources: &Sources) -> usize {
        let at = self.modules.len();
        let file = module.file.clone();
        self.modules.push(module);
        let mut reader = Reader { module: &mut self.modules[at], owners: Vec::new() };
        for item in items {
            reader.name(item);
            reader.visit_item(item);
        }
        for item in items {
            let Item::Mod(child) = item else { continue };
            if of_tests(&child.attrs) {
                continue;
            }
            let name = child.ident.to_string();
            let below = format!("{folder}/{name}");
            let mut module = Module { name: name.clone(), parent: Some(at), file: file.clone(), ..Module::default() };
            let index = if let Some((_, items)) = &child.content {
                self.add(module, items, &below, sources)
            } else {
                let flat = format!("{below}.rs");
                module.file = if sources.contains_key(&flat) { flat } else { format!("{below}/mod.rs") };
                self.file(module, &below, sources)
            };
            self.modules[at].children.insert(name, index);
        }
        at
    }

    /// Returns every use of a name of another module, once for each line and name.
    pub(super) fn edges(&self) -> BTreeSet<Edge> {
        let mut edges = BTreeSet::new();
        for (from, module) in self.modules.iter().enumerate() {
            for Mention { path, line } in &module.mentions {
                let Some(Target { module: to, item, by_root }) = self.resolve(from, path) else { continue };
                let name = item.as_ref().map_or_else(|| self.modules[to].name.clone(), |(name, _)| name.clone());
                edges.insert(Edge { from, to, line: *line, name, by_root });
                if let Some((name, Some(method))) = item {
                    edges.extend(self.method(from, (to, name), &method, *line));
                }
            }
            for (path, method, line) in &module.calls {
                if let Some(Target { module, item: Some((name, None)), .. }) = self.resolve(from, path) {
                    edges.extend(self.method(from, (module, name), method, *line));
                }
            }
        }
        edges.retain(|edge| edge.from != edge.to);
        edges
    }

    fn method(&self, from: usize, of: (usize, String), method: &str, line: usize) -> Option<Edge> {
        let to = *self.methods.get(&of)?.get(method)?;
        Some(Edge { from, to, line, name: format!("{}::{method}", of.1), by_root: false })
    }

    /// Resolves a path of a module to the module or item where it ends; `None` for a name of another crate.
    fn resolve(&self, from: usize, path: &[String]) -> Option<Target> {
        self.follow(from, path, MOST_HOPS, true)
    }

    fn follow(&self, from: usize, path: &[String], hops: usize, own_scope: bool) -> Option<Target> {
        let hops = hops.checked_sub(1)?;
        let mut at = from;
        let mut scope = own_scope;
        for (index, name) in path.iter().enumerate() {
            match name.as_str() {
                "crate" => at = ROOT,
                "self" => {}
                "super" => at = self.modules[at].parent?,
                _ => {
                    let module = &self.modules[at];
                    if let Some(child) = module.children.get(name) {
                        at = *child;
                    } else {
                        let rest = &path[index + 1..];
                        if module.items.contains(name) {
                            return Some(item(at, name, rest));
                        }
                        let found = self.imported(at, name, rest, hops);
                        return match found {
                            // The root's own imports are no re-exports to itself.
                            Some(target) => {
                                Some(Target { by_root: target.by_root || (at == ROOT && from != ROOT), ..target })
                            }
                            // A name of another crate; taken from a module that imports it, it is that module's.
                            None if scope => None,
                            None => Some(item(at, name, rest)),
                        };
                    }
                }
            }
            scope = false;
        }
        Some(Target { module: at, item: None, by_root: false })
    }

    /// Resolves a name of a module's imports.
    fn imported(&self, at: usize, name: &str, rest: &[String], hops: usize) -> Option<Target> {
        let module = &self.modules[at];
        if let Some(import) = module.imports.get(name) {
            return self.follow(at, &[import.as_slice(), rest].concat(), hops, true);
        }
        module.globs.iter().find_map(|glob| {
            let Target { module: of, item: None, .. } = self.follow(at, glob, hops, true)? else { return None };
            let there = &self.modules[of];
            let known = there.items.contains(name) || there.children.contains_key(name);
            let path: Vec<String> = std::iter::once(name.to_owned()).chain(rest.iter().cloned()).collect();
            if known { self.follow(of, &path, hops, true) } else { self.imported(of, name, rest, hops.checked_sub(1)?) }
        })
    }

    /// Returns the modules from the root down to this one.
    pub(super) fn line_of(&self, module: usize) -> Vec<usize> {
        let mut line: Vec<usize> = std::iter::successors(Some(module), |module| self.modules[*module].parent).collect();
        line.reverse();
        line
    }

    /// Returns the two children of the nearest common parent between which a use leads; `None` if one module holds the
    /// other.
    pub(super) fn rooms(&self, edge: &Edge) -> Option<(usize, usize)> {
        let (from, to) = (self.line_of(edge.from), self.line_of(edge.to));
        from.into_iter().zip(to).find(|(from, to)| from != to)
    }

    /// Returns the module's name below the root.
    pub(super) fn top(&self, module: usize) -> Option<&str> {
        self.line_of(module).get(1).map(|top| self.modules[*top].name.as_str())
    }

    /// Returns the names of the root's child modules.
    pub(super) fn tops(&self) -> impl Iterator<Item = &str> {
        self.modules[ROOT].children.keys().map(String::as_str)
    }
}

fn item(module: usize, name: &str, rest: &[String]) -> Target {
    Target { module, item: Some((name.to_owned(), rest.first().cloned())), by_root: false }
}

/// True if an item is compiled for tests only.
fn of_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = || attribute.parse_args::<syn::Path>().is_ok_and(|only| only.is_ident("test"));
        attribute.path().is_ident("test") || (attribute.path().is_ident("cfg") && condition())
    })
}

/// Records the names, imports and paths of one module.
struct Reader<'a> {
    module: &'a mut Module,
    /// The types of the `impl` blocks around the current place.
    owners: Vec<Vec<String>>,
}

impl Reader<'_> {
    /// Records the name of an item of the module.
    fn name(&mut self, item: &Item) {
        let name = match item {
            Item::Const(it) => &it.ident,
            Item::Enum(it) => &it.ident,
            Item::Fn(it) => &it.sig.ident,
            Item::Static(it) => &it.ident,
            Item::Struct(it) => &it.ident,
            Item::Trait(it) => &it.ident,
            Item::Type(it) => &it.ident,
            Item::Union(it) => &it.ident,
            Item::Macro(it) => match &it.ident {
                Some(name) => name,
                None => return,
            },
            _ => return,
        };
        self.module.items.insert(name.to_string());
    }

    fn import(&mut self, tree: &UseTree, before: &[String]) {
        let mut path = before.to_vec();
        let (name, known_as) = match tree {
            UseTree::Path(at) => {
                path.push(at.ident.to_string());
                return self.import(&at.tree, &path);
            }
            UseTree::Group(group) => return group.items.iter().for_each(|tree| self.import(tree, before)),
            UseTree::Glob(star) => {
                let line = star.star_token.spans[0].start().line;
                self.module.mentions.push(Mention { path: path.clone(), line });
                return self.module.globs.push(path);
            }
            UseTree::Name(at) => (&at.ident, &at.ident),
            UseTree::Rename(at) => (&at.ident, &at.rename),
        };
        let known_as = if known_as == "self" { path.last().cloned() } else { Some(known_as.to_string()) };
        if name != "self" {
            path.push(name.to_string());
        }
        self.module.mentions.push(Mention { path: path.clone(), line: name.span().start().line });
        self.module.imports.extend(known_as.map(|known_as| (known_as, path)));
    }

    fn mention(&mut self, mut path: Vec<String>, span: Span) {
        if path.first().is_some_and(|first| first == "Self") {
            let Some(owner) = self.owners.last() else { return };
            path.splice(..1, owner.clone());
        }
        if path.len() > 1 {
            self.module.mentions.push(Mention { path, line: span.start().line });
        }
    }

    /// Records the paths among the tokens of a macro or an attribute; there, a path may also be in a string.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut start = Span::call_site();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) if colons == 2 => path.push(name.to_string()),
                TokenTree::Punct(mark) if mark.as_char() == ':' && colons < 2 => {
                    colons += 1;
                    continue;
                }
                other => {
                    self.mention(std::mem::take(&mut path), start);
                    match other {
                        TokenTree::Ident(name) => (path, start) = (vec![name.to_string()], name.span()),
                        TokenTree::Group(group) => self.tokens(group.stream()),
                        TokenTree::Literal(text) => {
                            let path = syn::parse_str::<syn::LitStr>(&text.to_string())
                                .and_then(|text| text.parse::<syn::Path>())
                                .map_or_else(|_| Vec::new(), |path| segments(&path));
                            self.mention(path, text.span());
                        }
                        TokenTree::Punct(_) => {}
                    }
                }
            }
            colons = 0;
        }
        self.mention(path, start);
    }

    fn type_name(&mut self, name: &syn::Ident) {
        self.module.types.push((name.to_string(), name.span().start().line));
    }
}

fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Const(it) => &it.attrs,
            Item::Enum(it) => &it.attrs,
            Item::Fn(it) => &it.attrs,
            Item::Impl(it) => &it.attrs,
            Item::Macro(it) => &it.attrs,
            // A child module is read separately.
            Item::Mod(_) => return,
            Item::Static(it) => &it.attrs,
            Item::Struct(it) => &it.attrs,
            Item::Trait(it) => &it.attrs,
            Item::Type(it) => &it.attrs,
            Item::Use(it) => &it.attrs,
            _ => &Vec::new(),
        };
        if !of_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if !matches!(statement, Stmt::Local(local) if of_tests(&local.attrs)) {
            visit::visit_stmt(self, statement);
        }
    }

    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        let owner = match &*block.self_ty {
            syn::Type::Path(path) => segments(&path.path),
            _ => Vec::new(),
        };
        if block.trait_.is_none() {
            let methods = block.items.iter().filter_map(|item| match item {
                ImplItem::Fn(method) if !of_tests(&method.attrs) => Some(method.sig.ident.to_string()),
                _ => None,
            });
            self.module.methods.extend(methods.map(|method| (owner.clone(), method)));
        }
        self.owners.push(owner);
        visit::visit_item_impl(self, block);
        self.owners.pop();
    }

    fn visit_impl_item_fn(&mut self, method: &'ast syn::ImplItemFn) {
        if !of_tests(&method.attrs) {
            visit::visit_impl_item_fn(self, method);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let by_self = matches!(&*call.receiver, syn::Expr::Path(path) if path.path.is_ident("self"));
        if let (true, Some(owner)) = (by_self, self.owners.last()) {
            self.module.calls.push((owner.clone(), call.method.to_string(), call.method.span().start().line));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.import(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(first) = path.segments.first() {
            self.mention(segments(path), first.ident.span());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        visit::visit_macro(self, call);
        self.tokens(call.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.type_name(&item.ident);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.type_name(&item.ident);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.type_name(&item.ident);
        visit::visit_item_union(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.type_name(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.type_name(&item.ident);
        visit::visit_item_type(self, item);
    }
}
