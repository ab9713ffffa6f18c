//! Drops sections inside an article that do not belong to it, recognized by their headings: "Related posts", "Leggi
//! anche".

use crate::read::outline::{Block, Reason, Tag};
use crate::text;

/// Names of such sections: the whole line, or its beginning if nothing but a few words follow.
const NAMES: [&str; 147] = [
    "still have questions",
    "about this article",
    "more articles by",
    "more by",
    "other articles",
    "other posts",
    "other stories",
    "you may have missed",
    "you might have missed",
    "join our",
    "in case you missed it",
    "similar posts",
    "similar articles",
    "share your thoughts",
    "what do you think",
    "get in touch",
    "contact us",
    "contact us today",
    "関連記事",
    "関連ニュース",
    "関連リンク",
    "関連キーワード",
    "関連タグ",
    "あわせて読みたい",
    "こちらもおすすめ",
    "おすすめ記事",
    "おすすめの記事",
    "人気記事",
    "人気の記事",
    "人気記事ランキング",
    "アクセスランキング",
    "新着記事",
    "最新記事",
    "ランキング",
    "この記事を書いた人",
    "この記事をシェアする",
    "コメント",
    "관련기사",
    "관련 기사",
    "관련뉴스",
    "많이 본 뉴스",
    "많이 본 기사",
    "인기기사",
    "최신기사",
    "추천기사",
    "댓글",
    "相关阅读",
    "相关文章",
    "related",
    "related posts",
    "related articles",
    "related stories",
    "related content",
    "related topics",
    "related news",
    "related companies",
    "related searches",
    "related links",
    "related resources",
    "related products",
    "related reading",
    "you may also like",
    "you might also like",
    "you may also enjoy",
    "you may be interested",
    "you might be interested",
    "more from",
    "more like this",
    "more on this",
    "more stories",
    "more articles",
    "more posts",
    "more news",
    "read more",
    "read next",
    "read also",
    "also read",
    "up next",
    "keep reading",
    "recommended",
    "recommended for you",
    "recommended articles",
    "recommended reading",
    "recommended posts",
    "good articles to read",
    "recent posts",
    "recent articles",
    "latest posts",
    "latest articles",
    "latest news",
    "latest stories",
    "popular posts",
    "popular articles",
    "trending",
    "trending now",
    "top stories",
    "most read",
    "most popular",
    "explore more",
    "discover more",
    "share this",
    "share on",
    "share the",
    "follow us",
    "connect with us",
    "about the author",
    "about the authors",
    "meet the author",
    "leave a reply",
    "leave a comment",
    "post a comment",
    "join the conversation",
    "comments",
    "subscribe",
    "subscribe to",
    "sign up for",
    "join our newsletter",
    "newsletter",
    "get our newsletter",
    "stay updated",
    "articoli correlati",
    "articoli simili",
    "potrebbe interessarti",
    "potrebbero interessarti",
    "ti potrebbe interessare",
    "leggi anche",
    "condividi",
    "commenti",
    "lascia un commento",
    "ultime notizie",
    "iscriviti alla newsletter",
    "ähnliche artikel",
    "das könnte sie auch interessieren",
    "mehr zum thema",
    "kommentare",
    "articles similaires",
    "à lire aussi",
    "lire aussi",
    "commentaires",
    "artículos relacionados",
    "te puede interesar",
    "también te puede interesar",
    "comentarios",
    "artigos relacionados",
    "leia também",
    "comentários",
    "lees ook",
];
/// Maximum length of a line that is examined, in characters.
const LONGEST: usize = 60;
/// Maximum number of words that may follow a name.
const MORE_WORDS: usize = 6;
/// Length in characters above which a paragraph with few links continues the article.
const PROSE: usize = 280;

/// Drops such sections from the kept blocks.
pub(crate) fn drop_from(blocks: &[Block], left: &mut [Option<Reason>]) {
    let total: usize =
        blocks.iter().zip(left.iter()).filter(|(_, left)| left.is_none()).map(|(block, _)| block.chars).sum();
    let mut before = 0;
    let mut at = 0;
    while let Some(block) = blocks.get(at) {
        if left.get(at) == Some(&None) && *block.names_section.get_or_init(|| is_name(block)) {
            let end = section_end(blocks, at, before * 3 >= total);
            for reason in left.get_mut(at..end).unwrap_or_default() {
                *reason = reason.or(Some("a section named as other articles, sharing or signing up"));
            }
            at = end;
            continue;
        }
        before += block.chars;
        at += 1;
    }
}

fn is_name(block: &Block) -> bool {
    if block.chars > LONGEST || matches!(block.tag, Tag::Pre | Tag::Cell) {
        return false;
    }
    let line = text::fold(&block.text);
    let heading = matches!(block.tag, Tag::Heading(_));
    NAMES.iter().any(|name| {
        line.strip_prefix(name).is_some_and(|rest| {
            // In a heading a few more words may follow; a line of text must consist of the name alone.
            rest.is_empty()
                || (heading
                    && rest.starts_with(' ')
                    && (name.contains(' ') || *name == "related")
                    && rest.split_whitespace().count() <= MORE_WORDS)
        })
    })
}

/// Returns the end of a section: the next heading of its level or above, or the start of running text.
fn section_end(blocks: &[Block], at: usize, late: bool) -> usize {
    let level = match blocks.get(at).map(|block| block.tag) {
        Some(Tag::Heading(level)) => level,
        _ => 7,
    };
    let rest = blocks.get(at + 1..).unwrap_or_default();
    let length = rest.iter().take_while(|block| {
        let linked = block.link_chars * 2 > block.chars;
        match block.tag {
            Tag::Heading(next) => linked || next > level,
            // Teasers have a few lines of text, but only below the article.
            Tag::Paragraph | Tag::Other | Tag::Quote => linked || (late && level < 7 && block.chars < PROSE),
            Tag::Item => linked || (late && level < 7),
            Tag::Cell | Tag::Pre => linked,
        }
    });
    at + 1 + length.count()
}
