//! Statements about the article in the page's markup: JSON-LD and microdata.

pub(crate) mod jsonld;
pub(crate) mod microdata;

pub(crate) const MAX_AUTHORS: usize = 20;

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
    pub(crate) address: Option<String>,
    pub(crate) logos: Vec<String>,
    pub(crate) language: Option<String>,
    pub(crate) site_name: Option<String>,
    pub(crate) publisher: Option<String>,
    /// The first organisation named.
    pub(crate) organization: Option<String>,
    pub(crate) is_paywalled: bool,
    /// True if an article is a live blog, whose entries have separate dates.
    pub(crate) is_live: bool,
    pub(crate) steps: u64,
}

impl Statements {
    /// Returns the names of the site: that of the website, the publisher of the article, an organisation.
    pub(crate) fn sites(&self) -> impl Iterator<Item = &str> {
        [&self.site_name, &self.publisher, &self.organization].into_iter().flatten().map(String::as_str)
    }
}

fn is_false(text: &str) -> bool {
    text.trim().rsplit('/').next().is_some_and(|value| value.eq_ignore_ascii_case("false"))
}

fn is_article(kind: &str) -> bool {
    const KINDS: &str = "\
        Article NewsArticle BlogPosting Report TechArticle ScholarlyArticle SocialMediaPosting AnalysisNewsArticle \
        OpinionNewsArticle ReportageNewsArticle ReviewNewsArticle LiveBlogPosting BackgroundNewsArticle \
        AskPublicNewsArticle AdvertiserContentArticle SatiricalArticle MedicalScholarlyArticle \
        DiscussionForumPosting Review CreativeWork MedicalWebPage Recipe HowTo";
    KINDS.split(' ').any(|known| known == kind)
}
