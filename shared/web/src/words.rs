//! Texts of the pages in each language: one struct of sentences per page, with one value per language. [`sentences`]
//! declares each sentence in English and Italian together, so a missing one does not compile. A template receives the
//! texts of its page as `t`, and those of the frame around it as `site.t`. Prose with markup is in the templates, in a
//! `match` over the language.

/// Declares the sentences of a page, each as `name = English => Italian;` (with its type unless it is plain text), or
/// functions that return the text for each value of an enum in a language.
macro_rules! sentences {
    ($($(#[$about:meta])* fn $name:ident($kind:ident) {
        $($($variant:ident)|+ = $english:literal => $italian:literal;)+
    })+) => {
        $($(#[$about])*
        pub(crate) const fn $name(language: $crate::language::Language, value: $kind) -> &'static str {
            let (english, italian) = match value {
                $($($kind::$variant)|+ => ($english, $italian),)+
            };
            language.choose(english, italian)
        })+
    };
    ($(#[$about:meta])* struct $page:ident {
        $($(#[$note:meta])* $name:ident $(: $kind:ty)? = $english:expr => $italian:expr;)+
    }) => {
        $(#[$about])*
        #[derive(Debug)]
        pub(crate) struct $page {
            $($(#[$note])* pub(crate) $name: sentences!(type $($kind)?),)+
        }

        impl $page {
            pub(crate) const fn in_language(language: $crate::language::Language) -> &'static $page {
                const ENGLISH: $page = $page { $($name: $english,)+ };
                const ITALIAN: $page = $page { $($name: $italian,)+ };
                language.choose(&ENGLISH, &ITALIAN)
            }
        }
    };
    (type) => { &'static str };
    (type $kind:ty) => { $kind };
}

mod contact;
mod form;
mod frame;
mod message;
pub(crate) mod owner;
mod search;
mod sites;
pub(crate) mod status;
mod suggest;

pub(crate) use contact::Contact;
pub(crate) use form::Form;
pub(crate) use frame::Frame;
pub(crate) use message::{Message, Said};
pub(crate) use owner::Owner;
pub(crate) use search::{EXAMPLES, Search, example_query};
pub(crate) use sites::Sites;
pub(crate) use status::Status;
pub(crate) use suggest::Suggest;
