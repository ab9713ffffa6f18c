//! Passes the pieces of a page to the tree builder as the tokens that html5ever's slower tokenizer would produce.

use crate::read::gate::{Limits, Unreadable};
use crate::text::place_in;
use curlew_text::html::{Piece, Pieces, Tag, TextKind, resolve};
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    Doctype, Tag as TagToken, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::{Attribute, LocalName, QualName, ns};
use std::borrow::Cow;
use std::cell::RefCell;

pub(crate) struct Tokens<'p> {
    html: &'p str,
    whole: StrTendril,
    pieces: Pieces<'p>,
    names: KnownNames,
    tags: usize,
}

impl<'p> Tokens<'p> {
    pub(crate) fn new(html: &'p str, limits: &Limits) -> Tokens<'p> {
        Tokens {
            html,
            whole: StrTendril::from_slice(html),
            pieces: Pieces::new(html, limits.attributes),
            names: KnownNames::default(),
            tags: limits.tags,
        }
    }

    /// Passes on the tokens of about `bytes` bytes; returns false at the end of the page. Fails beyond a limit on tags.
    pub(crate) fn pass<S: TokenSink>(&mut self, sink: &S, bytes: usize) -> Result<bool, Unreadable> {
        let end = self.pieces.position().saturating_add(bytes);
        while self.pieces.position() < end {
            let next = self.pieces.next_piece(|| sink.adjusted_current_node_present_but_not_in_html_namespace());
            let Some(piece) = next else { return Ok(false) };
            match piece {
                Piece::Text(raw, kind @ (TextKind::Data | TextKind::CData)) if raw.contains('\0') => {
                    self.pass_with_nul(sink, raw, kind);
                }
                Piece::Text(raw, kind) => {
                    let text = self.resolved(raw, kind, false);
                    self.hand_over(sink, Token::CharacterTokens(text));
                }
                Piece::Start(tag) => {
                    self.tags = self.tags.checked_sub(1).ok_or(Unreadable::TooManyTags)?;
                    if self.pieces.has_too_many_attributes() {
                        return Err(Unreadable::TooManyAttributes);
                    }
                    let token = self.start_tag(tag);
                    self.hand_over(sink, token);
                }
                Piece::End(name) => {
                    let name = self.names.get(name);
                    self.hand_over(sink, tag(TagKind::EndTag, name, false, Vec::new(), false));
                }
                Piece::Comment(raw) => {
                    let text = self.resolved(raw, TextKind::RawText, false);
                    self.hand_over(sink, Token::CommentToken(text));
                }
                Piece::Doctype(raw) => self.hand_over(sink, Token::DoctypeToken(doctype(raw))),
            }
        }
        Ok(true)
    }

    fn hand_over<S: TokenSink>(&mut self, sink: &S, token: Token) {
        match sink.process_token(token, 1) {
            // Scripts are never run, and the page is decoded already.
            TokenSinkResult::Continue | TokenSinkResult::Script(_) | TokenSinkResult::EncodingIndicator(_) => {}
            TokenSinkResult::Plaintext => self.pieces.text_until_end_tag(TextKind::PlainText),
            TokenSinkResult::RawData(kind) => self.pieces.text_until_end_tag(match kind {
                RawKind::Rcdata => TextKind::RcData,
                RawKind::Rawtext => TextKind::RawText,
                RawKind::ScriptData | RawKind::ScriptDataEscaped(_) => TextKind::Script,
            }),
        }
    }

    fn pass_with_nul<S: TokenSink>(&mut self, sink: &S, raw: &'p str, kind: TextKind) {
        for (number, part) in raw.split('\0').enumerate() {
            if number > 0 {
                self.hand_over(sink, Token::NullCharacterToken);
            }
            if !part.is_empty() {
                let text = self.resolved(part, kind, false);
                self.hand_over(sink, Token::CharacterTokens(text));
            }
        }
    }

    fn start_tag(&mut self, start: Tag<'p>) -> Token {
        let name = self.names.get(start.name);
        let mut attrs: Vec<Attribute> = Vec::with_capacity(self.pieces.attributes().len());
        let mut repeated = false;
        for &(key, value) in self.pieces.attributes() {
            let key = self.names.get(key);
            if attrs.iter().any(|known| known.name.local == key) {
                repeated = true;
                continue;
            }
            let value = self.resolved(value, TextKind::Data, true);
            attrs.push(Attribute { name: QualName::new(None, ns!(), key), value });
        }
        tag(TagKind::StartTag, name, start.self_closing, attrs, repeated)
    }

    fn resolved(&self, raw: &'p str, kind: TextKind, in_attribute: bool) -> StrTendril {
        match resolve(raw, kind, in_attribute) {
            Cow::Borrowed(text) => part(&self.whole, self.html, text),
            Cow::Owned(text) => StrTendril::from(text),
        }
    }
}

fn tag(kind: TagKind, name: LocalName, self_closing: bool, attrs: Vec<Attribute>, repeated: bool) -> Token {
    Token::TagToken(TagToken { kind, name, self_closing, attrs, had_duplicate_attributes: repeated })
}

fn part(whole: &StrTendril, html: &str, part: &str) -> StrTendril {
    /// Maximum length of a text that a tendril stores inline.
    const SHORT: usize = 8;
    if part.len() <= SHORT {
        return StrTendril::from_slice(part);
    }
    let place = u32::try_from(place_in(html, part)).ok().zip(u32::try_from(part.len()).ok());
    let shared = place.and_then(|(offset, length)| whole.try_subtendril(offset, length).ok());
    shared.unwrap_or_else(|| StrTendril::from_slice(part))
}

fn doctype(raw: &str) -> Doctype {
    #[derive(Default)]
    struct Kept(RefCell<Doctype>);
    impl TokenSink for Kept {
        type Handle = ();
        fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
            if let Token::DoctypeToken(doctype) = token {
                self.0.replace(doctype);
            }
            TokenSinkResult::Continue
        }
    }
    let tokenizer = Tokenizer::new(Kept::default(), TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(raw));
    let _end = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.0.take()
}

/// Names of tags and attributes that a page has used, so that each is looked up in the table of names only once.
#[derive(Default)]
struct KnownNames(Vec<Option<LocalName>>);

impl KnownNames {
    /// Number of slots; a new name replaces the one in its slot.
    const PLACES: usize = 512;

    fn get(&mut self, raw: &str) -> LocalName {
        if self.0.is_empty() {
            self.0.resize(KnownNames::PLACES, None);
        }
        let bytes = raw.as_bytes();
        let at = |index: usize| bytes.get(index).copied().map_or(0, usize::from);
        let hash = bytes.len() * 67 + at(0) * 7 + at(bytes.len() / 2) * 31 + at(bytes.len().wrapping_sub(1)) * 131;
        let Some(place) = self.0.get_mut(hash % KnownNames::PLACES) else { return LocalName::from(raw) };
        if let Some(name) = place.as_ref().filter(|name| ***name == *raw) {
            return name.clone();
        }
        if bytes.iter().any(|b| b.is_ascii_uppercase() || matches!(b, 0 | b'\r')) {
            return LocalName::from(raw.to_ascii_lowercase().replace('\0', "\u{FFFD}"));
        }
        let name = LocalName::from(raw);
        *place = Some(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use proptest::prelude::*;

    /// Keeps tokens, adjacent texts as one, and switches to raw texts as the tree builder does.
    #[derive(Default)]
    struct Kept {
        tokens: RefCell<Vec<Token>>,
        cdata: bool,
    }

    impl TokenSink for Kept {
        type Handle = ();

        fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
            let mut tokens = self.tokens.borrow_mut();
            let mut outcome = TokenSinkResult::Continue;
            match token {
                Token::ParseError(_) => return outcome,
                Token::CharacterTokens(text) if text.is_empty() => return outcome,
                Token::TagToken(TagToken { kind: TagKind::EndTag, name, .. }) => {
                    tokens.push(tag(TagKind::EndTag, name, false, Vec::new(), false));
                    return outcome;
                }
                Token::CharacterTokens(text) => {
                    if let Some(Token::CharacterTokens(before)) = tokens.last_mut() {
                        before.push_tendril(&text);
                    } else {
                        tokens.push(Token::CharacterTokens(text));
                    }
                    return outcome;
                }
                Token::TagToken(ref tag) => match &*tag.name {
                    "title" | "textarea" => outcome = TokenSinkResult::RawData(RawKind::Rcdata),
                    "style" | "iframe" => outcome = TokenSinkResult::RawData(RawKind::Rawtext),
                    "script" => outcome = TokenSinkResult::RawData(RawKind::ScriptData),
                    "plaintext" => outcome = TokenSinkResult::Plaintext,
                    _ => {}
                },
                _ => {}
            }
            tokens.push(token);
            outcome
        }

        fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
            self.cdata
        }
    }

    fn theirs(html: &str, cdata: bool) -> Vec<Token> {
        let tokenizer = Tokenizer::new(Kept { cdata, ..Kept::default() }, TokenizerOpts::default());
        let input = BufferQueue::default();
        input.push_back(StrTendril::from_slice(html));
        let _end = tokenizer.feed(&input);
        tokenizer.end();
        tokenizer.sink.tokens.take()
    }

    fn ours(html: &str, cdata: bool) -> Vec<Token> {
        let sink = Kept { cdata, ..Kept::default() };
        let mut tokens = Tokens::new(html, &Limits::default());
        while tokens.pass(&sink, 100).unwrap() {}
        let _end = sink.process_token(Token::EOFToken, 1);
        sink.tokens.take()
    }

    fn compare(html: &str) {
        for cdata in [false, true] {
            assert_eq!(ours(html, cdata), theirs(html, cdata), "{html:?}");
        }
    }

    #[test]
    fn tokens_are_those_of_html5ever() {
        for html in [
            "",
            "a < b <3 </ > </> </3> <? x ?> <!x> <! > <",
            "<!DOCTYPE html><!doctype HTML PUBLIC 'a>b' \"c\"><!DOCTYPE",
            "<p a=1 A=2 b c='d\"' e=\"'\" f=g/h / i/j=k =l m==n o='&amp;&copy;&copy=2&copyx' \r\n p\t=\n q>x</P x=y>",
            "<br/><br /><br / ><br //><a b=/><a b=/ >",
            "<!--a--><!----><!--><!---><!-- - -- --- a --! b --!><!--a--->x<!--a--!-->y<!--->z<!---!>-->",
            "<!-- a --!",
            "<!-- a --",
            "<!-- a -",
            "<!--",
            "<!",
            "</",
            "<?",
            "&amp;&lt;&nbsp;&NotEqualTilde;&notit;&notin;&amp&ampx&lt=&#65;&#x41&#X41;&#;&#x;&#xZ;&#128;&#129;&#0;&#xD800;&#99999999999;&zzz;&;& &",
            "a\0b\r\nc\rd\n\r\r\n&\r\n",
            "<title>a&amp;b<b></title x></title><textarea>\n<!--</textarea>--></TextArea\n>",
            "<style>a</styl></style/><iframe><p></iframe",
            "<script>a<b</script><script><!--<script></script>--></script>x<script><!--</script>",
            "<script><!-->'<script>'</script><script><!--<script ></SCRIPT/><script>--></script>a<script><!--<scriptx></script>",
            "<script><!--<script--></script>b<script><!-- -- > - <script>a</script>b</scriptx>c</script>d",
            "<plaintext>a</plaintext>&amp;\0",
            "<![CDATA[a<b>&amp;\0\r\n]]>x<![CDATA[]]><![CDATA[a]]",
            "<a b='c",
            "<a b",
            "<a b=c",
            "<a\0b \0c=\0d \0=e>\0",
            "\u{FEFF}<p>\u{FEFF}é<ÄÖ><aÄ ÖÜ='ä'>",
            "<A HREF=x><İ><a İ=1>",
        ] {
            compare(html);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

        #[test]
        fn tokens_of_any_page_are_those_of_html5ever(parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "<", ">", "/", "!", "-", "--", "=", "'", "\"", " ", "\n", "\r", "\0", "a", "b", "x1", "&", ";", "#", "amp", "lt", "not",
                "in", "copy", "p", "P", "</", "<!--", "-->", "--!>", "<p ", "<a href=", "<script", "</script", "<title", "</title", "<style>",
                "</style", "<plaintext>", "<!DOCTYPE", "<![CDATA[", "]]>", "é", "?", "&#", "x41", "65",
            ]), 0..40)) {
            compare(&parts.concat());
        }
    }
}
