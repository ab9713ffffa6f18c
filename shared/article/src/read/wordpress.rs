//! Names that WordPress themes give to the text of a post, and that other systems have adopted.

/// True if a value of `class` or `id`, in lower case, names an element as the text of a post: WordPress first, then similar
/// systems.
pub(crate) fn is_content(names: &str) -> bool {
    names.split_ascii_whitespace().any(|name| {
        matches!(
            name,
            "entry-content"
                | "post-content"
                | "article-content"
                | "article-body"
                | "post-body"
                | "story-body"
                | "entry-body"
                | "article__body"
                | "article__content"
                | "article-text"
                | "article_body"
                | "articlebody"
                | "articlecontent"
                | "single-content"
                | "post__content"
                | "post__body"
                | "post-entry"
                | "td-post-content"
                | "entry__content"
                | "blog-content"
                | "blog-post-content"
                | "blog-post-body"
                | "news-content"
                | "story-content"
                | "story__body"
                | "content-body"
                | "body-content"
                | "rich-text"
                | "rte"
                | "wp-block-post-content"
                | "elementor-widget-theme-post-content"
                | "c-entry-content"
                | "post_content"
                | "post-text"
                | "postcontent"
                | "gh-content"
                | "kg-canvas"
                | "field--name-body"
                | "field-name-body"
                | "article__text"
                | "single-post-content"
                | "blog-article-content"
                | "available-content"
                | "prose"
        )
    })
}
