//! Detects feeds of comments by words in their titles and addresses.

/// Words for comments. Only whole words match, so a newspaper called "Commentary" does not.
const WORDS: &str = "\
    comment comments kommentar kommentare kommentaren kommentarer kommentarfeed commentaire commentaires \
    comentario comentarios comentaris comentário comentários comentarii commento commenti reactie reacties \
    komentarz komentarze komentarzy komentáře komentari kommentit kommentek hozzászólások yorum yorumlar \
    комментарий комментарии комментариев коментарі σχόλια";
/// Words for comments in languages without spaces between words.
const PIECES: [&str; 5] = ["コメント", "评论", "評論", "留言", "댓글"];
const IN_ADDRESSES: [&str; 3] = ["commentsfeed", "commentrss", "comments-rss"];

pub(crate) fn speaks_of(text: &str) -> bool {
    let text = text.to_lowercase();
    PIECES.iter().chain(&IN_ADDRESSES).any(|piece| text.contains(piece))
        || text.split(|c: char| !c.is_alphanumeric()).any(|word| WORDS.split(' ').any(|known| known == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_known_in_several_languages_and_not_seen_where_there_are_none() {
        for title in [
            "Mudflat » Comments Feed",
            "Kommentar-Feed",
            "Flux des commentaires",
            "Mudflat » RSS dei commenti",
            "Feed de comentários",
            "Лента комментариев",
            "マッドフラット » コメントフィード",
            "/feeds/comments/default",
            "/?feed=comments-rss2",
        ] {
            assert!(speaks_of(title), "{title}");
        }
        for title in ["Commentary", "Mudflat Feed", "/commentary/feed", "Commentators' choice", "/documents/feed"] {
            assert!(!speaks_of(title), "{title}");
        }
    }
}
