//! Detects soft 404s: answers with status 200 that show the home page or an error message.

use std::collections::HashSet;

const PIECE: usize = 8;
/// Maximum number of letters of each text that are compared.
const COMPARED: usize = 20_000;
/// Minimum share of the old text's pieces that a page must still have to count as the same page.
const SAME_SHARE: f64 = 0.2;
/// Minimum share of each text's pieces that the other text must have for both to be one article.
const LIKE_SHARE: f64 = 0.5;
/// Minimum length in bytes of the title's words to search for; shorter words count only if there are no others.
const TELLING_WORD: usize = 4;
/// Number of bytes at the beginning of a text that are searched for [`NOTHING`].
const BEGINNING: usize = 400;
/// Phrases of error pages, in lower case, separated by `|`.
const NOTHING: &str = "404|410 gone|error 410|not found|cannot be found|could not be found|couldn't be found|\
    couldn’t be found|can't be found|can’t be found|can't find|can’t find|nothing was found at|no longer available|\
    no longer exists|does not exist|doesn't exist|doesn’t exist|has been removed|has been deleted|been moved or deleted|\
    moved or been deleted|is unavailable|page unavailable|isn't available|isn’t available|requested is missing|\
    something went wrong|something’s gone wrong|account suspended|account has been suspended|\
    error establishing a database connection|domain is for sale|domain may be for sale|coming soon|welcome to nginx|\
    apache2 default page|apache2 ubuntu default page|fatal error:|\
    non trovat|non esiste|non è più disponibile|non è stata trovata|\
    introuvable|n'existe p|n’existe p|pas été trouvé|\
    nicht gefunden|existiert nicht|nicht mehr verfügbar|gibt es nicht mehr|\
    no encontrad|no existe|não encontrad|não existe|no s'ha trobat|no s’ha trobat|nu a fost găsit|\
    niet gevonden|hittades inte|ikke fundet|ikke funnet|ei löytynyt|nie znaleziono|nie istnieje|nenalezen|nem található|\
    bulunamadı|δεν βρέθηκε|не найден|не существует|не знайдено|не існує|не е намерен|غير موجود|לא נמצא|\
    không tìm thấy|tidak ditemukan|ไม่พบหน้า|見つかりません|ページが存在しません|ページは存在しません|\
    页面不存在|頁面不存在|找不到该页面|找不到頁面|页面未找到|페이지를 찾을 수 없";

/// Title and text of a page at one time.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageText<'a> {
    /// Title of the page; empty if it has none.
    pub title: &'a str,
    /// Text of the page.
    pub text: &'a str,
}

/// True if a page still shows a fifth of its old text, or its old title without an error message.
pub fn is_same_page(then: PageText<'_>, now: PageText<'_>) -> bool {
    share(then.text, now.text) >= SAME_SHARE || (letters(then.title).eq(letters(now.title)) && !says_nothing(now))
}

/// True if two texts are the same article: each has half of the other.
pub fn is_one_article(one: &str, other: &str) -> bool {
    share(one, other) >= LIKE_SHARE && share(other, one) >= LIKE_SHARE
}

/// True if a new page shows an error message, and no word of the title that its feed announced.
pub fn is_in_place_of(announced: &str, now: PageText<'_>) -> bool {
    if !says_nothing(now) {
        return false;
    }
    let (announced, said) = (announced.to_lowercase(), format!("{}\n{}", now.title, now.text).to_lowercase());
    let words = || announced.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let least = if words().any(|word| word.len() >= TELLING_WORD) { TELLING_WORD } else { 0 };
    words().next().is_some() && !words().any(|word| word.len() >= least && said.contains(word))
}

fn says_nothing(now: PageText<'_>) -> bool {
    let begin = &now.text[..now.text.floor_char_boundary(BEGINNING)];
    [now.title, begin].iter().any(|text| {
        let text = text.to_lowercase();
        NOTHING.split('|').any(|words| text.contains(words))
    })
}

fn share(then: &str, now: &str) -> f64 {
    let (then, now) = (pieces(then), pieces(now));
    if then.is_empty() { 0.0 } else { then.intersection(&now).count() as f64 / then.len() as f64 }
}

fn pieces(text: &str) -> HashSet<Vec<char>> {
    let letters: Vec<char> = letters(text).take(COMPARED).collect();
    letters.windows(PIECE).map(<[char]>::to_vec).collect()
}

fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TITLE: &str = "On curlews";
    const TEXT: &str = "The curlew walks along the edge of the water and probes the mud for worms and small crabs. In spring it \
        sings over the moor, and in autumn it comes down to the coast again with its young.";

    #[test]
    fn a_page_that_has_changed_is_still_the_page_and_what_stands_in_its_place_is_not() {
        let corrected = format!("Corrected: not found where they were. {TEXT}");
        let longer = format!("{} And more was added since, about whimbrels and godwits.", &TEXT[..120]);
        for (title, text, is_same) in [
            (TITLE, TEXT, true),
            ("404 curlews counted", &corrected, true),
            ("A new title", &longer, true),
            ("on Curlews!", "All was written anew, in quite other words, since much had to be said otherwise.", true),
            (TITLE, "Subscribe to read on.", true),
            ("Waders' home", "Welcome! Read our newest articles, look at pictures, and come back soon.", false),
            ("Page not found", "We looked everywhere.", false),
            (TITLE, "Sorry, this page does not exist any more. Try the search.", false),
            ("Pagina non trovata", "La pagina che cerchi non esiste.", false),
            ("", "", false),
            ("Buy domains", "This domain is for sale.", false),
        ] {
            let then = PageText { title: TITLE, text: TEXT };
            assert_eq!(is_same_page(then, PageText { title, text }), is_same, "{title}");
        }
        let text = "昨日、東京湾でダイシャクシギを見た。とても長い嘴だった。";
        let cjk = PageText { title: "東京の鳥", text };
        assert!(is_same_page(cjk, cjk));
        assert!(!is_same_page(cjk, PageText { title: "エラー", text: "ページが見つかりません。" }));
    }

    #[test]
    fn a_message_stands_in_place_of_a_page_if_it_has_no_word_of_its_title() {
        let text = "Try the search, or go back to the start. ".repeat(9);
        for (announced, title, is_message) in [
            ("Godwits of Friesland", "Page not found", true),
            ("Godwits of Friesland", "404 – Not Found", true),
            ("Godwits of Friesland", "Oops! Something went wrong", true),
            ("Godwits of Friesland", "Oops! That page can’t be found.", true),
            ("Веретенники Фрисландии", "Страница не найдена", true),
            ("弗里斯兰的塍鹬", "页面不存在", true),
            ("弗里斯兰的塍鹬", "不存在的塍鹬", false),
            ("Grutto in Friesland", "Seite nicht gefunden", true),
            ("A 404 that was not found", "404 – Not Found", false),
            ("Godwits of Friesland", "Godwits were not found", false),
            ("Godwits of Friesland", "Birds of the north", false),
            ("...", "Page not found", false),
        ] {
            let now = PageText { title, text: &text };
            assert_eq!(is_in_place_of(announced, now), is_message, "{announced}: {title}");
        }
    }

    #[test]
    fn two_texts_are_one_article_if_each_has_half_of_the_other() {
        let other = "Bread rises in the warm kitchen while the rain falls on the roof of the old bakery by the mill. ";
        let third = "And of the miller, his three sons and their donkey, who went to sea and came back with a parrot.";
        let list = format!("{TEXT}{other}{third}");
        for (text, is_one) in [
            (TEXT, true),
            (&format!("Print version. {TEXT} Printed today."), true),
            (other, false),
            // A list of articles is not one of them.
            (&list, false),
        ] {
            assert_eq!(is_one_article(TEXT, text), is_one, "{text}");
        }
        assert!(!is_one_article("", ""));
    }
}
