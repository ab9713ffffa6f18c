//! Recognizes sentences about the page instead of its subject: sign up, follow us, this post may earn a commission.

use aho_corasick::{AhoCorasick, MatchKind};
use std::sync::LazyLock;

/// True if a short paragraph contains a phrase that only such sentences contain.
pub(crate) fn is_about_the_page(text: &str) -> bool {
    let Some(automaton) = AUTOMATON.as_ref() else { return false };
    automaton.is_match(text) || is_reading_time(text)
}

/// True for `5 min read`, `Lesezeit: 3 Minuten`, `Tempo di lettura: 4 minuti`.
fn is_reading_time(text: &str) -> bool {
    /// Maximum length of such a line, in bytes.
    const LONGEST: usize = 60;
    text.len() <= LONGEST && text.contains(|c: char| c.is_ascii_digit()) && {
        let line = crate::text::fold(text);
        let time = ["min", "mins", "minute", "minutes", "minuten", "minuti", "minutos"];
        let timed = line.split(' ').any(|word| time.contains(&word));
        let read = [" read", "lesezeit", "lettura", "lectura", "lecture", "leitura", "leestijd"];
        timed && read.iter().any(|word| line.contains(word))
    }
}

static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().ascii_case_insensitive(true).match_kind(MatchKind::LeftmostFirst).build(PHRASES).ok()
});

/// Phrases in lower case.
const PHRASES: &[&str] = &[
    "to your inbox",
    "join our newsletter",
    "our weekly newsletter",
    "our free newsletter",
    "sent to your email",
    "my mailing list",
    "our mailing list",
    "subscribe to our",
    "subscribe for free",
    "subscribe to get",
    "become a paid subscriber",
    "please consider subscribing",
    "consider becoming a free or paid",
    "affiliate link",
    "if you liked this article",
    "if you liked this post",
    "if you enjoyed this article",
    "if you enjoyed this post",
    "subscribe here",
    "was this newsletter forwarded",
    "comment via:",
    "get a free quote",
    "get your free quote",
    "call now:",
    "start your free trial",
    "sign up for free",
    "sign up for a free",
    "book a free consultation",
    "schedule a free consultation",
    "request a free quote",
    "affiliate commission",
    "affiliate marketer",
    "affiliate disclosure",
    "amazon associate",
    "earn a commission",
    "earn commission",
    "small commission",
    "from qualifying purchases",
    "no extra cost to you",
    "no additional cost to you",
    "may receive commission",
    "may receive a commission",
    "receive compensation",
    "when you buy through",
    "buy through links on",
    "purchases made through",
    "purchase through our links",
    "our privacy policy",
    "our terms of service",
    "our editorial guidelines",
    "our editorial policy",
    "our editorial standards",
    "la nostra informativa sulla privacy",
    "unsere datenschutzerklärung",
    "notre politique de confidentialité",
    "nuestra política de privacidad",
    "nossa política de privacidade",
    "ricevere una commissione",
    "commissione di affiliazione",
    "affiliate-provision",
    "erhalten wir eine provision",
    "toucher une commission",
    "recibir una comisión",
    "receber uma comissão",
    "アフィリエイトリンク",
    "プライバシーポリシーに",
    "수수료를 제공받",
    "개인정보 처리방침",
    "follow us on",
    "follow me on",
    "follow along on",
    "like us on facebook",
    "connect with us on",
    "join us on facebook",
    "leave a star rating",
    "share this article",
    "share this post",
    "share with your friends",
    "preferred source on google",
    "all rights reserved",
    "republished with permission",
    "your browser does not support",
    "enable javascript",
    "javascript is disabled",
    "we use cookies",
    "this site uses cookies",
    "recaptcha",
    "terms of service apply",
    "by clicking \"",
    "by subscribing, you",
    "by submitting this form",
    "by signing up, you",
    "fill out this form",
    "fill out the form",
    "fill in the form below",
    "your email address will not be published",
    "leave a comment below",
    "download our app",
    "download the app",
    "used under license from",
    "photo credit:",
    "image credit:",
    "photo: getty",
    "image via ",
    "image source:",
    "photo by ",
    "photo by:",
    "image by ",
    "iscriviti alla",
    "iscriviti al ",
    "seguici su",
    "segui i nostri",
    "riproduzione riservata",
    "link di affiliazione",
    "foto di copertina",
    "newsletter abonnieren",
    "folgen sie uns",
    "folge uns auf",
    "affiliate-link",
    "alle rechte vorbehalten",
    "inscrivez-vous à",
    "abonnez-vous à",
    "suivez-nous sur",
    "tous droits réservés",
    "lien affilié",
    "liens affiliés",
    "suscríbete a",
    "síguenos en",
    "todos los derechos reservados",
    "enlaces de afiliados",
    "inscreva-se",
    "siga-nos",
    "todos os direitos reservados",
    "links de afiliados",
    "alle rechten voorbehouden",
    "volg ons op",
    "zapisz się do",
    "wszelkie prawa zastrzeżone",
    "подпишитесь на",
    "подписывайтесь на",
    "все права защищены",
    "無断転載",
    "無断複製",
    "メルマガ",
    "メールマガジンに登録",
    "この記事をシェア",
    "会員限定記事",
    "有料会員",
    "フォローする",
    "無断使用を禁じ",
    "무단전재",
    "무단 전재",
    "재배포 금지",
    "재배포금지",
    "저작권자",
    "구독하기",
    "기사제보",
    "카카오톡으로 제보",
    "未经授权",
    "未经许可",
    "未經授權",
    "版权所有",
    "版權所有",
    "转载请注明",
    "轉載請註明",
    "责任编辑",
    "責任編輯",
    "扫一扫",
    "扫码关注",
    "微信公众号",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_about_the_page_are_told_from_those_of_the_text() {
        for line in [
            "Get the best of our stories delivered to your inbox.",
            "Iscriviti alla newsletter",
            "저작권자 © 무단 전재 및 재배포 금지",
            "記事・写真の無断転載を禁じます。",
            "5 min read",
            "Lesezeit: 3 Minuten",
        ] {
            assert!(is_about_the_page(line), "{line}");
        }
        for line in ["The harbour was closed for 5 minutes.", "He read the letter.", "They signed the treaty in May."] {
            assert!(!is_about_the_page(line), "{line}");
        }
    }
}
