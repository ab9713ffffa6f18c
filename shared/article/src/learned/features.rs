//! Features of the blocks of a page, without words of any language.

use crate::candidates::candidate::Candidate;
use crate::candidates::lines;
use crate::candidates::ranking::Ranking;
use crate::candidates::sums::covered;
use crate::markup::jsonld::JsonLd;
use crate::read::outline::{Block, Kind, Outline, Span, Tag};
pub(crate) use crate::read::place::CONTAINERS;
use crate::read::place::Surroundings;
use crate::text;
use curlew_text::hygiene;
use foldhash::HashMap;
use scraper::Html;

/// Number of features of a block.
pub(crate) const FEATURES: usize = GROUPS[GROUPS.len() - 1].1;
/// Groups of features, in order, by the words that explain them, each with the number of the feature behind its last.
pub(crate) const GROUPS: [(&str, usize); 13] = [
    ("its text", 16),
    ("links", 20),
    ("position", 27),
    ("repetition", 30),
    ("tags around it", 50),
    ("names around it", 178),
    ("names near it", 306),
    ("parts beside the article", 314),
    ("the rules' candidates", 330),
    ("neighbours", 378),
    ("blocks of the same place", 392),
    ("containers", 417),
    ("the page", 450),
];

/// Features of one block: counts are themselves, shares are in thousandths, and what exceeds the range is cut.
pub(crate) type Row = [i16; FEATURES];

/// Features of all blocks of a page.
#[derive(Clone, Debug, Default)]
pub(crate) struct FeatureTable {
    pub(crate) rows: Vec<Row>,
}

/// What the rules found, as far as features tell of it.
pub(crate) struct PageFacts<'e> {
    pub(crate) tree: &'e Html,
    pub(crate) outline: &'e Outline<'e>,
    pub(crate) weighed: &'e Ranking,
    /// The best candidate, with its lead.
    pub(crate) best: Option<&'e Candidate>,
    pub(crate) linked: &'e JsonLd,
    /// The headline, folded.
    pub(crate) title: &'e str,
}

/// A row that is being filled.
struct Filling<'r> {
    row: &'r mut Row,
    next: usize,
}

impl Filling<'_> {
    fn add(&mut self, number: i64) {
        if let Some(slot) = self.row.get_mut(self.next) {
            *slot = i16::try_from(number.clamp(i16::MIN.into(), i16::MAX.into())).unwrap_or_default();
        }
        self.next += 1;
    }

    fn count(&mut self, number: usize) {
        self.add(i64::try_from(number).unwrap_or(i64::MAX));
    }

    fn flag(&mut self, is: bool) {
        self.add(is.into());
    }

    /// Adds a share in thousandths.
    fn share(&mut self, part: usize, whole: usize) {
        self.count(part.saturating_mul(1_000) / whole.max(1));
    }

    fn bits(&mut self, bits: u128) {
        for at in 0..128 {
            self.add((bits >> at & 1) as i64);
        }
    }

    /// Leaves out the rest of a group.
    fn until(&mut self, group: usize) {
        let end = GROUPS.get(group).map_or(FEATURES, |(_, end)| *end);
        debug_assert!(self.next <= end, "group {group} has {} features too many", self.next - end);
        self.next = end;
    }
}

/// Counts of one block's text.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    words: usize,
    chars: usize,
    links: usize,
    /// Marks that end sentences, and commas.
    ends: usize,
    commas: usize,
    digits: usize,
    capitals: usize,
    /// Signs that separate labels.
    separators: usize,
}

impl Counts {
    fn of(block: &Block) -> Counts {
        /// Maximum number of bytes of a block whose signs are counted.
        const LONGEST: usize = 8 * 1024;
        let mut counts = Counts {
            words: text::words(&block.text),
            chars: block.chars,
            links: block.link_chars,
            ..Counts::default()
        };
        for c in hygiene::head_bytes(&block.text, LONGEST).chars() {
            match c {
                '.' | '!' | '?' | '。' | '！' | '？' | '؟' | '।' | '۔' | '։' | '။' | '។' | '…' => {
                    counts.ends += 1
                }
                ',' | '，' | '、' | '،' | ';' => counts.commas += 1,
                '0'..='9' => counts.digits += 1,
                '|' | '›' | '»' | '©' | '·' | '•' | '/' | '→' => counts.separators += 1,
                _ => counts.capitals += usize::from(c.is_uppercase()),
            }
        }
        counts
    }
}

/// Sums of the counts of the first blocks.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    blocks: usize,
    words: usize,
    chars: usize,
    links: usize,
    ends: usize,
    headings: usize,
    /// Characters that the rules keep.
    kept: usize,
}

impl Sum {
    fn minus(self, other: Sum) -> Sum {
        Sum {
            blocks: self.blocks - other.blocks,
            words: self.words - other.words,
            chars: self.chars - other.chars,
            links: self.links - other.links,
            ends: self.ends - other.ends,
            headings: self.headings - other.headings,
            kept: self.kept - other.kept,
        }
    }

    fn plus(self, block: &Block, counts: &Counts, is_kept: bool) -> Sum {
        Sum {
            blocks: self.blocks + 1,
            words: self.words + counts.words,
            chars: self.chars + counts.chars,
            links: self.links + counts.links,
            ends: self.ends + counts.ends,
            headings: self.headings + usize::from(matches!(block.tag, Tag::Heading(_))),
            kept: self.kept + if is_kept { counts.chars } else { 0 },
        }
    }
}

/// Everything that is the same for all blocks of a page, or is looked up for each.
struct Page<'p> {
    evidence: &'p PageFacts<'p>,
    counts: Vec<Counts>,
    sums: Vec<Sum>,
    /// Elements by their serial numbers.
    spans: HashMap<usize, Span>,
    /// Sums over the blocks of one path, and of one path and classes.
    paths: HashMap<u64, Sum>,
    styles: HashMap<u64, Sum>,
    times: HashMap<&'p str, usize>,
    /// Kinds of parts around each block, a bit each.
    kinds: Vec<u8>,
    /// For each candidate's rule the blocks that one of its candidates has (1) or keeps (2).
    votes: Vec<(&'static str, Vec<u8>)>,
    headline: Option<usize>,
    data: Vec<i64>,
    body: String,
}

/// Maximum number of blocks of a page that are described; the rules read what is longer.
const BLOCKS: usize = 6_000;

/// Returns the features of all blocks; an empty table if there are too many.
pub(crate) fn table(evidence: &PageFacts<'_>) -> FeatureTable {
    if evidence.outline.blocks.len() > BLOCKS {
        return FeatureTable::default();
    }
    let page = Page::of(evidence);
    let outline = evidence.outline;
    let mut rows = vec![[0; FEATURES]; outline.blocks.len()];
    for (at, (row, (block, place))) in rows.iter_mut().zip(outline.blocks.iter().zip(&outline.places)).enumerate() {
        page.fill(at, block, place, &mut Filling { row, next: 0 });
    }
    FeatureTable { rows }
}

/// Rules whose candidates are features.
const RULES: [&str; 6] = ["microdata", "content", "article", "main", "density", "readability"];

impl<'p> Page<'p> {
    fn of(evidence: &'p PageFacts<'p>) -> Page<'p> {
        /// Maximum number of bytes of a text in structured data in which blocks are looked for.
        const BODY: usize = 32 * 1024;
        let body = evidence.linked.body.as_deref();
        let outline = evidence.outline;
        let blocks = &outline.blocks;
        let counts: Vec<Counts> = blocks.iter().map(Counts::of).collect();
        let mut sums = vec![Sum::default()];
        let (mut paths, mut styles, mut times) = (HashMap::default(), HashMap::default(), HashMap::default());
        for (at, ((block, counts), place)) in blocks.iter().zip(&counts).zip(&outline.places).enumerate() {
            let is_kept = is_kept(evidence.best, at);
            sums.push(sums.last().copied().unwrap_or_default().plus(block, counts, is_kept));
            for (known, key) in [(&mut paths, place.path), (&mut styles, place.styled)] {
                let sum: &mut Sum = known.entry(key).or_default();
                *sum = sum.plus(block, counts, is_kept);
            }
            *times.entry(block.text.as_str()).or_default() += 1;
        }
        let mut kinds = vec![0; blocks.len()];
        for (bit, kind) in Kind::ALL.into_iter().enumerate() {
            let runs =
                outline.parts.iter().filter(|part| part.kind == kind).map(|part| (part.span.start, part.span.end));
            let covered = covered(blocks.len(), runs);
            for (kinds, _) in kinds.iter_mut().zip(covered).filter(|(_, covered)| *covered) {
                *kinds |= 1_u8 << bit;
            }
        }
        let headlined =
            |block: &Block| matches!(block.tag, Tag::Heading(_)) && lines::is_headline(block, evidence.title);
        let headline = blocks.iter().position(headlined);
        let headline = headline.or_else(|| blocks.iter().position(|block| block.tag == Tag::Heading(1)));
        Page {
            evidence,
            counts,
            sums,
            spans: outline.spans.iter().map(|span| (span.serial, *span)).collect(),
            paths,
            styles,
            times,
            kinds,
            votes: RULES
                .into_iter()
                .map(|rule| (rule, votes(&evidence.weighed.candidates, rule, blocks.len())))
                .collect(),
            headline,
            data: of_page(evidence),
            body: body.map(|body| text::fold(hygiene::head_bytes(body, BODY))).unwrap_or_default(),
        }
    }

    fn sum(&self, start: usize, end: usize) -> Sum {
        let at = |index: usize| self.sums.get(index).or(self.sums.last()).copied().unwrap_or_default();
        at(end.max(start)).minus(at(start))
    }

    /// Returns the runs of blocks of the containers around a block; the block alone where there is none.
    fn containers(&self, at: usize, place: &Surroundings) -> [(usize, usize); CONTAINERS] {
        place.containers.map(|serial| self.spans.get(&serial).map_or((at, at + 1), |span| (span.start, span.end)))
    }

    fn fill(&self, at: usize, block: &Block, place: &Surroundings, row: &mut Filling<'_>) {
        let counts = self.counts.get(at).copied().unwrap_or_default();
        let (all, many) = (self.sum(0, usize::MAX), self.counts.len());
        own_text(block, &counts, row);
        row.until(0);

        row.share(counts.links, counts.chars);
        row.share(block.own_link_chars, counts.chars);
        row.share(block.turn_chars, counts.chars);
        row.count(counts.links);
        row.until(1);

        row.count(at);
        row.share(at, many);
        row.count(many - at);
        row.add(self.headline.map_or(i64::from(i16::MIN), |headline| at as i64 - headline as i64));
        row.flag(self.headline == Some(at));
        row.count(place.depth.into());
        row.share(self.sum(0, at).words, all.words);
        row.until(2);

        row.count(self.times.get(block.text.as_str()).copied().unwrap_or(1));
        row.flag(at > 0 && self.evidence.outline.blocks.get(at - 1).is_some_and(|before| before.text == block.text));
        row.add(self.agrees_with_data(block));
        row.until(3);

        for count in place.tags {
            row.count(count.into());
        }
        row.until(4);
        row.bits(place.names);
        row.until(5);
        row.bits(place.near);
        row.until(6);
        let kinds = self.kinds.get(at).copied().unwrap_or_default();
        for bit in 0..Kind::ALL.len() {
            row.add((kinds >> bit & 1).into());
        }
        row.flag(self.evidence.weighed.hidden.get(at) == Some(&true));
        row.until(7);
        self.candidates(at, row);
        row.until(8);
        self.neighbours(at, row);
        row.until(9);
        for (known, key) in [(&self.paths, place.path), (&self.styles, place.styled)] {
            let sum = known.get(&key).copied().unwrap_or_default();
            group(sum, all, row);
        }
        row.until(10);
        for (start, end) in self.containers(at, place) {
            let sum = self.sum(start, end);
            row.count(sum.blocks);
            row.count(sum.words);
            row.share(sum.words, all.words);
            row.share(sum.links, sum.chars);
            row.share(sum.kept, sum.chars);
        }
        row.until(11);
        for number in &self.data {
            row.add(*number);
        }
        row.until(12);
    }

    /// Returns 1 if structured data have the text of a block, 0 if there is such a text without it, and -1 if there is none.
    fn agrees_with_data(&self, block: &Block) -> i64 {
        /// Number of bytes of a block that are compared.
        const BEGINNING: usize = 60;
        if self.body.is_empty() {
            return -1;
        }
        let beginning = text::fold(hygiene::head_bytes(&block.text, BEGINNING));
        memchr::memmem::find(self.body.as_bytes(), beginning.as_bytes()).is_some().into()
    }

    fn candidates(&self, at: usize, row: &mut Filling<'_>) {
        let best = self.evidence.best;
        for (_, votes) in &self.votes {
            row.count(votes.get(at).copied().unwrap_or_default().into());
        }
        let reason = best.and_then(|best| best.left.get(at.checked_sub(best.span.start)?).copied());
        row.add(match reason {
            None => -1,
            Some(None) => 9,
            Some(Some(why)) => Kind::ALL.iter().position(|kind| kind.reason() == why).map_or(8, |at| at as i64),
        });
        let start =
            best.and_then(|best| best.left.iter().position(Option::is_none).map(|first| best.span.start + first));
        let end = best.and_then(|best| best.left.iter().rposition(Option::is_none).map(|last| best.span.start + last));
        row.add(start.map_or(i64::from(i16::MIN), |start| at as i64 - start as i64));
        row.add(end.map_or(i64::from(i16::MIN), |end| at as i64 - end as i64));
        row.until(8);
    }

    fn neighbours(&self, at: usize, row: &mut Filling<'_>) {
        for distance in [-3_isize, -2, -1, 1, 2, 3] {
            let other = at.checked_add_signed(distance);
            let counts = other.and_then(|at| self.counts.get(at)).copied().unwrap_or_default();
            let block = other.and_then(|at| self.evidence.outline.blocks.get(at));
            row.count(counts.words);
            row.share(counts.links, counts.chars);
            row.count(counts.ends);
            row.add(block.map_or(-1, |block| kind_of(block.tag)));
            row.flag(other.is_some_and(|at| is_kept(self.evidence.best, at)));
        }
        for width in [4, 12, 40] {
            let sum = self.sum(at.saturating_sub(width), (at + width + 1).min(self.counts.len()));
            row.count(sum.words * 10 / sum.blocks.max(1));
            row.share(sum.links, sum.chars);
            row.count(sum.ends * 100 / sum.blocks.max(1));
            row.share(sum.headings, sum.blocks);
            row.share(sum.kept, sum.chars);
        }
    }
}

/// Adds what the text of a block is like.
fn own_text(block: &Block, counts: &Counts, row: &mut Filling<'_>) {
    row.count(counts.words);
    row.count(counts.chars);
    row.count(counts.chars * 10 / counts.words.max(1));
    row.count(counts.ends);
    row.count(counts.commas);
    row.share(counts.digits, counts.chars);
    row.share(counts.capitals, counts.chars);
    row.count(counts.separators);
    row.flag(*block.ends_as_sentence.get_or_init(|| text::ends_sentence(&block.text)));
    row.flag(block.text.ends_with([':', '：']));
    row.add(kind_of(block.tag));
    row.count(block.text.lines().count());
    row.flag(block.text.starts_with(|c: char| c.is_lowercase()));
    row.flag(block.text.starts_with(|c: char| c.is_numeric()));
}

/// Adds what blocks of one place have together.
fn group(sum: Sum, all: Sum, row: &mut Filling<'_>) {
    row.count(sum.blocks);
    row.count(sum.words);
    row.share(sum.words, all.words);
    row.count(sum.words * 10 / sum.blocks.max(1));
    row.share(sum.links, sum.chars);
    row.count(sum.ends * 100 / sum.blocks.max(1));
    row.share(sum.kept, sum.chars);
}

fn kind_of(tag: Tag) -> i64 {
    match tag {
        Tag::Heading(level) => level.into(),
        Tag::Paragraph => 7,
        Tag::Quote => 8,
        Tag::Pre => 9,
        Tag::Item => 10,
        Tag::Cell => 11,
        Tag::Other => 12,
    }
}

/// True if the rules keep a block.
pub(crate) fn is_kept(best: Option<&Candidate>, at: usize) -> bool {
    best.and_then(|best| best.left.get(at.checked_sub(best.span.start)?)) == Some(&None)
}

fn votes(candidates: &[Candidate], rule: &str, blocks: usize) -> Vec<u8> {
    let mut votes = vec![0; blocks];
    for candidate in candidates.iter().filter(|candidate| candidate.from == rule) {
        for (vote, left) in votes.iter_mut().skip(candidate.span.start).zip(&candidate.left) {
            *vote = (*vote).max(1 + u8::from(left.is_none()));
        }
    }
    votes
}

/// Types of schema.org whose names in structured data say what sort of page it is.
const TYPES: [&[&str]; 10] = [
    &["Article", "NewsArticle", "BlogPosting", "ReportageNewsArticle"],
    &["TechArticle"],
    &["Product", "ProductGroup"],
    &["ItemList", "CollectionPage", "OfferCatalog"],
    &["DiscussionForumPosting", "QAPage", "Question", "Comment"],
    &["FAQPage"],
    &["LocalBusiness", "Service", "Organization"],
    &["Recipe", "HowTo"],
    &["Offer", "AggregateOffer"],
    &["AggregateRating", "Review"],
];

/// Returns the features that all blocks of a page share.
fn of_page(evidence: &PageFacts<'_>) -> Vec<i64> {
    /// Maximum number of items of microdata whose types are looked at.
    const ITEMS: usize = 200;
    let PageFacts { tree, outline, weighed, best, .. } = evidence;
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let (mut words, mut chars, mut links, mut ends, mut headings) = (0, 0, 0, 0, 0);
    for block in &outline.blocks {
        words += text::words(&block.text);
        chars += block.chars;
        links += block.link_chars;
        ends += usize::from(lines::is_sentence(block));
        headings += usize::from(matches!(block.tag, Tag::Heading(_)));
    }
    let mut all = vec![
        number(outline.blocks.len()),
        number(words),
        number(links * 1_000 / chars.max(1)),
        number(ends),
        number(headings),
    ];
    let items: Vec<&str> = outline
        .items
        .iter()
        .take(ITEMS)
        .filter_map(|id| tree.tree.get(*id)?.value().as_element()?.attr("itemtype"))
        .collect();
    for names in TYPES {
        let stated = names.iter().any(|name| {
            let quoted = format!("\"{name}\"");
            outline.json.iter().any(|json| memchr::memmem::find(json.as_bytes(), quoted.as_bytes()).is_some())
                || items.iter().any(|item| item.ends_with(&format!("/{name}")))
        });
        all.push(stated.into());
    }
    all.push(match outline.meta(&["og:type"]) {
        None => 0,
        Some("article") => 1,
        Some("website") => 2,
        Some(kind) if kind.contains("product") => 3,
        Some(_) => 4,
    });
    all.push(evidence.linked.published.is_some().into());
    all.push(evidence.linked.body.is_some().into());
    all.push(outline.metas.iter().any(|(name, _)| name == "article:published_time").into());
    all.push(number(outline.marks.iter().filter(|(mark, ..)| mark.extractor() == "article").count()));
    all.push(number(outline.moments.iter().filter(|moment| !moment.outside).count()));
    all.push(number(outline.moments.len()));
    let path = outline.page.path();
    all.push(number(path.split('/').filter(|part| !part.is_empty()).count()));
    all.push(number(path.len()));
    all.push(number(path.bytes().filter(u8::is_ascii_digit).count()));
    all.push(number(path.bytes().filter(|byte| *byte == b'-').count()));
    all.push(outline.page.query().is_some().into());
    let weight = weighed.best.and_then(|at| weighed.weights.get(at));
    all.push(weight.map_or(-1, |weight| (weight.agreement * 1_000.0) as i64));
    all.push(weight.map_or(-1, |weight| (weight.score * 1_000.0) as i64));
    all.push(best.map_or(0, |best| number(best.chars)));
    all.push(best.map_or(0, |best| number(best.chars * 1_000 / chars.max(1))));
    all.push(best.map_or(0, |best| number(best.link_chars * 1_000 / best.chars.max(1))));
    all.push(best.map_or(-1, |best| RULES.iter().position(|rule| *rule == best.from).map_or(-1, number)));
    all
}

const _: () = assert!(CONTAINERS * 5 == 25);
