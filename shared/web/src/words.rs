//! Texts of the pages in each language: a struct of sentences for each page, with one value a language, so that a
//! missing sentence does not compile. A template receives those of its page as `t`, those of the frame around it as
//! `site.t`; prose with markup is in the templates, in a `match` over the language.

mod contact;
mod form;
mod frame;
mod message;
mod owner;
mod search;
mod sites;
mod status;
mod suggest;

pub(crate) use contact::Contact;
pub(crate) use form::Form;
pub(crate) use frame::Frame;
pub(crate) use message::{Message, Said};
pub(crate) use owner::Owner;
pub(crate) use search::{ExampleWords, Search};
pub(crate) use sites::Sites;
pub(crate) use status::Status;
pub(crate) use suggest::Suggest;
