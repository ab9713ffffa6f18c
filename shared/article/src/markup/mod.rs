//! Statements about the article in the page's markup: JSON-LD and microdata.

pub(crate) mod jsonld;
pub(crate) mod microdata;

/// Maximum number of authors.
pub(crate) const MAX_AUTHORS: usize = 20;

/// What one sort of markup says of the article, as written.
#[derive(Debug, Default)]
pub(crate) struct Statements {
    pub(crate) headline: Option<String>,
    pub(crate) body: Option<String>,
    pub(crate) published: Option<String>,
    pub(crate) modified: Option<String>,
    pub(crate) author: Option<String>,
    /// Name of an organisation that is given as the author.
    pub(crate) office: Option<String>,
    pub(crate) image: Option<String>,
    /// Address of the article's page.
    pub(crate) address: Option<String>,
    /// Addresses of the logos of its publisher and of organisations.
    pub(crate) logos: Vec<String>,
    pub(crate) language: Option<String>,
    /// Name of the website.
    pub(crate) site_name: Option<String>,
    pub(crate) publisher: Option<String>,
    /// The first organisation named.
    pub(crate) organization: Option<String>,
    /// True if it says that the article, or a part of it, is not free.
    pub(crate) is_paywalled: bool,
    /// True if an article is a live blog, whose entries have days of their own.
    pub(crate) is_live: bool,
    /// Number of values or nodes examined.
    pub(crate) steps: u64,
}

impl Statements {
    /// Returns the names of the site: that of the website, the publisher of the article, an organisation.
    pub(crate) fn sites(&self) -> impl Iterator<Item = &str> {
        [&self.site_name, &self.publisher, &self.organization].into_iter().flatten().map(String::as_str)
    }
}

/// True if a text is schema.org's `False`, with the vocabulary's address or without it.
fn is_false(text: &str) -> bool {
    text.trim().rsplit('/').next().is_some_and(|value| value.eq_ignore_ascii_case("false"))
}

/// True for schema.org types that are Article or one of its subtypes.
fn is_article(kind: &str) -> bool {
    const KINDS: &str = "\
        Article NewsArticle BlogPosting Report TechArticle ScholarlyArticle SocialMediaPosting AnalysisNewsArticle \
        OpinionNewsArticle ReportageNewsArticle ReviewNewsArticle LiveBlogPosting BackgroundNewsArticle \
        AskPublicNewsArticle AdvertiserContentArticle SatiricalArticle MedicalScholarlyArticle \
        DiscussionForumPosting Review CreativeWork MedicalWebPage Recipe HowTo";
    KINDS.split(' ').any(|known| known == kind)
}
