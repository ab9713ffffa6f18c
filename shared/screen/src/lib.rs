//! Content screening: decides by the density and variety of a topic's listed words whether a page must be kept out of
//! the index. Words of medicine, law, education and news reduce the score, because a text *about* a topic is not one
//! *of* it. Pure.

mod fold;
pub mod image;
mod lexicon;
mod lists;
mod overrides;
mod persons;
mod score;
mod screener;
mod settings;
mod topic;
mod verdict;

pub use lists::{LANGUAGES, List, MAX_LIST_BYTES};
pub use overrides::{Override, Scope};
pub use screener::{MAX_TEXT_BYTES, MAX_TITLE_BYTES, Page, Screener, Unusable};
pub use settings::{Allowed, MAX_PERSONS, MAX_PERSONS_BYTES, Person, REJECT_AT, Settings, TOGETHER_FROM, TopicRule};
pub use topic::{Topic, TopicScore, Verdict};
pub use verdict::{Evidence, Finding, NamedPerson, Place, REPORT_AT, Screening};
