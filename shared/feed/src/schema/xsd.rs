//! Parses XML Schema, limited to the part of version 1.1 that these schemas use:
//!
//! - `schema` with `targetNamespace`; global `element` with `name` and `type`; named `complexType` and `simpleType`.
//! - In a complex type: `mixed`; `openContent` with one `any`; one `all` of elements with `name`, `type`, `minOccurs`,
//!   `maxOccurs`; `simpleContent` with an `extension`; `attribute`; `anyAttribute`; `assert` of a choice of children.
//! - In a simple type: `restriction` with `enumeration`, `pattern`, `minLength` 1 and `maxInclusive`.
//!
//! Anything else is an error, so that no requirement of a schema remains unchecked.

use super::value::{Simple, code_of};
use crate::token::{Tag, Token, Tokens};
use crate::work::Work;
use curlew_text::references;
use regex::Regex;
use std::collections::HashMap;

/// Maximum number of child elements of a complex type, so that their counts fit into an array.
pub(super) const MAX_CHILDREN: usize = 24;

#[derive(Debug)]
pub(super) struct XsdSchema {
    pub(super) namespace: String,
    pub(super) roots: Vec<(String, TypeId)>,
    pub(super) types: Vec<Complex>,
}

pub(super) type TypeId = usize;

/// A complex type. A child element of a simple type gets a complex type without attributes.
#[derive(Clone, Debug, Default)]
pub(super) struct Complex {
    pub(super) children: Vec<Child>,
    pub(super) open: Wildcard,
    /// Type of the text. Without one, text is allowed only if the type is mixed.
    pub(super) text: Option<Simple>,
    pub(super) mixed: bool,
    pub(super) attributes: Vec<Attribute>,
    pub(super) any_attribute: bool,
    /// Lists of child elements. At least one child of each list is required.
    pub(super) one_of: Vec<Vec<String>>,
}

/// Rule for child elements that the type does not define.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Wildcard {
    #[default]
    Closed,
    Other,
    Any,
}

#[derive(Clone, Debug)]
pub(super) struct Child {
    pub(super) name: String,
    pub(super) least: u32,
    pub(super) most: u32,
    pub(super) kind: TypeId,
}

#[derive(Clone, Debug)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) required: bool,
    pub(super) kind: Simple,
}

impl XsdSchema {
    pub(super) fn read(text: &str) -> Result<XsdSchema, String> {
        let root = tree(text)?;
        let mut reader = XsdReader { simple: HashMap::new(), ids: HashMap::new(), types: Vec::new() };
        for node in root.children.iter().filter(|n| n.name == "simpleType") {
            let simple = reader.simple_type(node)?;
            reader.simple.insert(node.get("name").to_owned(), simple);
        }
        let complex: Vec<&XsdNode> = root.children.iter().filter(|n| n.name == "complexType").collect();
        for (id, node) in complex.iter().enumerate() {
            reader.ids.insert(node.get("name").to_owned(), id);
        }
        reader.types = vec![Complex::default(); complex.len()];
        for (id, node) in complex.iter().enumerate() {
            reader.types[id] = reader.complex_type(node)?;
        }
        let mut roots = Vec::new();
        for node in &root.children {
            match node.name.as_str() {
                "element" => roots.push((node.get("name").to_owned(), reader.type_of(node.get("type"))?)),
                "complexType" | "simpleType" => {}
                other => return Err(format!("'{other}' in the schema")),
            }
        }
        Ok(XsdSchema { namespace: root.get("targetNamespace").to_owned(), roots, types: reader.types })
    }
}

struct XsdReader {
    simple: HashMap<String, Simple>,
    ids: HashMap<String, TypeId>,
    types: Vec<Complex>,
}

impl XsdReader {
    fn simple_named(&self, name: &str) -> Result<Simple, String> {
        let found = match name.split_once(':') {
            Some(("xs", built_in)) => Simple::built_in(built_in),
            _ => self.simple.get(local(name)).cloned(),
        };
        found.ok_or_else(|| format!("the simple type '{name}'"))
    }

    /// Returns the type of an element. A simple type is wrapped in a complex type.
    fn type_of(&mut self, name: &str) -> Result<TypeId, String> {
        if let Some(id) = self.ids.get(local(name)) {
            return Ok(*id);
        }
        let text = Some(self.simple_named(name)?);
        self.types.push(Complex { text, ..Complex::default() });
        let id = self.types.len() - 1;
        self.ids.insert(local(name).to_owned(), id);
        Ok(id)
    }

    fn simple_type(&self, node: &XsdNode) -> Result<Simple, String> {
        let [restriction] = node.children.as_slice() else { return Err("a simple type without a restriction".into()) };
        let mut simple = self.simple_named(restriction.get("base"))?;
        if let Some(code) = code_of(node.get("name")) {
            simple.code = code;
        }
        for facet in &restriction.children {
            let value = facet.get("value");
            match facet.name.as_str() {
                "enumeration" => simple.allowed.push(value.to_owned()),
                "pattern" => simple.pattern = Some(Regex::new(&format!("^(?:{value})$")).map_err(|e| e.to_string())?),
                "minLength" if value == "1" => simple.not_empty = true,
                "maxInclusive" => simple.most = Some(value.parse().map_err(|_| format!("the bound '{value}'"))?),
                other => return Err(format!("the facet '{other}'")),
            }
        }
        Ok(simple)
    }

    fn complex_type(&mut self, node: &XsdNode) -> Result<Complex, String> {
        let mut complex = Complex { mixed: node.get("mixed") == "true", ..Complex::default() };
        for part in &node.children {
            match part.name.as_str() {
                "openContent" => complex.open = open_content(part)?,
                "all" => complex.children = part.children.iter().map(|n| self.child(n)).collect::<Result<_, _>>()?,
                "simpleContent" => {
                    let [extension] = part.children.as_slice() else { return Err("simple content of its own".into()) };
                    complex.text = Some(self.simple_named(extension.get("base"))?);
                    for part in &extension.children {
                        self.attribute(part, &mut complex)?;
                    }
                }
                "assert" => {
                    complex.one_of.push(part.get("test").split(" or ").map(|n| local(n.trim()).to_owned()).collect())
                }
                _ => self.attribute(part, &mut complex)?,
            }
        }
        if complex.children.len() > MAX_CHILDREN {
            return Err(format!("more than {MAX_CHILDREN} children"));
        }
        Ok(complex)
    }

    fn child(&mut self, node: &XsdNode) -> Result<Child, String> {
        let bound = |name: &str| match node.get(name) {
            "" => Ok(1),
            "unbounded" => Ok(u32::MAX),
            number => number.parse().map_err(|_| format!("the bound '{number}'")),
        };
        let (least, most) = (bound("minOccurs")?, bound("maxOccurs")?);
        match node.name.as_str() {
            "element" => {
                Ok(Child { name: node.get("name").to_owned(), least, most, kind: self.type_of(node.get("type"))? })
            }
            other => Err(format!("'{other}' among the elements")),
        }
    }

    fn attribute(&self, node: &XsdNode, complex: &mut Complex) -> Result<(), String> {
        match node.name.as_str() {
            "anyAttribute" => complex.any_attribute = true,
            "attribute" => complex.attributes.push(Attribute {
                name: node.get("name").to_owned(),
                required: node.get("use") == "required",
                kind: self.simple_named(node.get("type"))?,
            }),
            other => return Err(format!("'{other}' in a type")),
        }
        Ok(())
    }
}

fn open_content(node: &XsdNode) -> Result<Wildcard, String> {
    match node.children.as_slice() {
        [any] if any.name == "any" && node.get("mode") == "interleave" => match any.get("namespace") {
            "##other" => Ok(Wildcard::Other),
            "##any" => Ok(Wildcard::Any),
            other => Err(format!("elements of '{other}'")),
        },
        _ => Err("open content of another kind".into()),
    }
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

#[derive(Debug, Default)]
struct XsdNode {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<XsdNode>,
}

impl XsdNode {
    fn get(&self, name: &str) -> &str {
        self.attributes.iter().find(|(n, _)| n == name).map_or("", |(_, v)| v)
    }

    fn from_tag(tag: &Tag<'_>) -> Result<XsdNode, String> {
        let Some(name) = tag.name.strip_prefix("xs:") else { return Err(format!("<{}>", tag.name)) };
        let attributes = tag.attributes().map(|(n, v)| (n.to_owned(), references::decode(v).into_owned())).collect();
        Ok(XsdNode { name: name.to_owned(), attributes, children: Vec::new() })
    }
}

fn tree(text: &str) -> Result<XsdNode, String> {
    let work = Work::default();
    let mut tokens = Tokens::new(text, &work);
    let mut open: Vec<XsdNode> = vec![XsdNode::default()];
    while let Some(token) = tokens.next() {
        let closed = match token {
            Token::Start(tag) if tag.empty => Some(XsdNode::from_tag(&tag)?),
            Token::Start(tag) => {
                open.push(XsdNode::from_tag(&tag)?);
                None
            }
            Token::End(_) => open.pop(),
            Token::Text(_) | Token::CData(_) => None,
        };
        if let (Some(node), Some(parent)) = (closed, open.last_mut()) {
            parent.children.push(node);
        }
    }
    let mut roots = open.pop().map(|root| root.children).unwrap_or_default();
    roots.pop().filter(|root| root.name == "schema").ok_or_else(|| "no schema".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_an_error_and_not_passed_over() {
        let schema =
            |inside: &str| XsdSchema::read(&format!("<xs:schema>{inside}</xs:schema>")).err().unwrap_or_default();
        let restriction = "<xs:restriction base='xs:string'><xs:maxLength value='3'/></xs:restriction>";
        for (inside, error) in [
            ("<xs:element name='a' type='xs:string'/>", ""),
            ("<xs:element name='a' type='xs:decimal'/>", "the simple type 'xs:decimal'"),
            ("<xs:import/>", "'import' in the schema"),
            ("<xs:complexType name='a'><xs:sequence/></xs:complexType>", "'sequence' in a type"),
            (&format!("<xs:simpleType name='a'>{restriction}</xs:simpleType>"), "the facet 'maxLength'"),
        ] {
            assert_eq!(schema(inside), error);
        }
        assert_eq!(XsdSchema::read("<a/>").err().unwrap_or_default(), "<a>");
    }
}
