//! Features of the blocks of a page, independent of language.

use crate::candidates::candidate::{Candidate, Ranking};
use crate::candidates::lines;
use crate::candidates::sums::covered;
use crate::read::outline::{Block, Kind, Outline, Span, Tag};
use crate::read::place::{CONTAINERS, Surroundings};
use crate::text;
use curlew_text::hygiene;
use foldhash::HashMap;

pub(crate) const FEATURES: usize = GROUPS[GROUPS.len() - 1].1;
/// Groups of features: the words that explain each group, and the index after its last feature.
pub(crate) const GROUPS: [(&str, usize); 13] = [
    ("its text", 11),
    ("links", 14),
    ("position", 21),
    ("repetition", 22),
    ("tags around it", 42),
    ("names around it", 170),
    ("names near it", 298),
    ("parts beside the article", 306),
    ("the rules' candidates", 314),
    ("neighbours", 359),
    ("blocks of the same place", 373),
    ("containers", 398),
    ("the page", 414),
];

/// Features of one block: counts, and shares in thousandths, clamped to the range.
pub(crate) type Row = [i16; FEATURES];

pub(crate) struct PageFacts<'e> {
    pub(crate) outline: &'e Outline<'e>,
    pub(crate) weighed: &'e Ranking,
    pub(crate) best: Option<&'e Candidate>,
    pub(crate) title: &'e str,
}

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

    fn counts<const N: usize>(&mut self, numbers: [usize; N]) {
        for number in numbers {
            self.add(i64::try_from(number).unwrap_or(i64::MAX));
        }
    }

    fn flag(&mut self, is: bool) {
        self.add(is.into());
    }

    fn bits(&mut self, mut bits: u128) {
        while bits > 0 {
            if let Some(slot) = self.row.get_mut(self.next + bits.trailing_zeros() as usize) {
                *slot = 1;
            }
            bits &= bits - 1;
        }
        self.next += 128;
    }

    fn until(&mut self, group: usize) {
        let end = GROUPS.get(group).map_or(FEATURES, |(_, end)| *end);
        debug_assert!(self.next <= end, "group {group} has {} features too many", self.next - end);
        self.next = end;
    }
}

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
    separators: usize,
}

impl Counts {
    fn new(block: &Block) -> Counts {
        const MAX_BYTES: usize = 8 * 1024;
        let mut counts = Counts {
            words: text::words(&block.text),
            chars: block.chars,
            links: block.link_chars,
            ..Counts::default()
        };
        for c in hygiene::head_bytes(&block.text, MAX_BYTES).chars() {
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
            kept: self.kept + usize::from(is_kept) * counts.chars,
        }
    }
}

struct Page<'p> {
    evidence: &'p PageFacts<'p>,
    counts: Vec<Counts>,
    sums: Vec<Sum>,
    spans: HashMap<usize, Span>,
    paths: HashMap<u64, Sum>,
    styles: HashMap<u64, Sum>,
    times: HashMap<&'p str, usize>,
    kinds: Vec<u8>,
    /// For each of [`RULES`], whether one of its candidates contains (1) or keeps (2) each block.
    votes: [Vec<u8>; RULES.len()],
    headline: Option<usize>,
    ends: [Option<usize>; 2],
    data: Vec<i64>,
}

/// Maximum number of blocks of a page that the model reads; longer pages are left to the rules.
const BLOCKS: usize = 6_000;

pub(crate) fn table(evidence: &PageFacts<'_>) -> Vec<Row> {
    if evidence.outline.blocks.len() > BLOCKS {
        return Vec::new();
    }
    let page = Page::new(evidence);
    let outline = evidence.outline;
    let mut rows = vec![[0; FEATURES]; outline.blocks.len()];
    for (at, (row, (block, place))) in rows.iter_mut().zip(outline.blocks.iter().zip(&outline.places)).enumerate() {
        page.fill(at, block, place, &mut Filling { row, next: 0 });
    }
    rows
}

/// Rules whose candidates are features.
const RULES: [&str; 5] = ["microdata", "content", "article", "main", "density"];

impl<'p> Page<'p> {
    fn new(evidence: &'p PageFacts<'p>) -> Page<'p> {
        let outline = evidence.outline;
        let blocks = &outline.blocks;
        let counts: Vec<Counts> = blocks.iter().map(Counts::new).collect();
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
            let parts = outline.parts.iter().filter(|part| part.kind == kind);
            let covered = covered(blocks.len(), parts.map(|part| (part.span.start, part.span.end)));
            for (kinds, covered) in kinds.iter_mut().zip(covered) {
                *kinds |= u8::from(covered) << bit;
            }
        }
        let headlined =
            |block: &Block| matches!(block.tag, Tag::Heading(_)) && lines::is_headline(block, evidence.title);
        let headline = blocks.iter().position(headlined);
        let headline = headline.or_else(|| blocks.iter().position(|block| block.tag == Tag::Heading(1)));
        let kept = |(at, _): (usize, &Block)| is_kept(evidence.best, at);
        let all = sums.last().copied().unwrap_or_default();
        Page {
            evidence,
            counts,
            sums,
            spans: outline.spans.iter().map(|span| (span.serial, *span)).collect(),
            paths,
            styles,
            times,
            kinds,
            votes: RULES.map(|rule| votes(&evidence.weighed.candidates, rule, blocks.len())),
            headline,
            ends: [blocks.iter().enumerate().position(kept), blocks.iter().enumerate().rposition(kept)],
            data: of_page(evidence, all),
        }
    }

    fn sum(&self, start: usize, end: usize) -> Sum {
        let at = |index: usize| self.sums.get(index).or(self.sums.last()).copied().unwrap_or_default();
        at(end.max(start)).minus(at(start))
    }

    /// Returns the runs of blocks of the containers around a block, or of the block alone if there is none.
    fn containers(&self, at: usize, place: &Surroundings) -> [(usize, usize); CONTAINERS] {
        place.containers.map(|serial| self.spans.get(&serial).map_or((at, at + 1), |span| (span.start, span.end)))
    }

    fn fill(&self, at: usize, block: &Block, place: &Surroundings, row: &mut Filling<'_>) {
        let counts = self.counts.get(at).copied().unwrap_or_default();
        let (all, many) = (self.sum(0, usize::MAX), self.counts.len());
        own_text(block, &counts, row);
        row.until(0);
        let own_links = share(block.own_link_chars, counts.chars);
        row.counts([share(counts.links, counts.chars), own_links, counts.links]);
        row.until(1);
        row.counts([at, share(at, many), many - at]);
        row.add(self.headline.map_or(i64::from(i16::MIN), |headline| at as i64 - headline as i64));
        row.flag(self.headline == Some(at));
        row.counts([place.depth.into(), share(self.sum(0, at).words, all.words)]);
        row.until(2);
        row.counts([self.times.get(block.text.as_str()).copied().unwrap_or(1)]);
        row.until(3);
        row.counts(place.tags.map(usize::from));
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
            row.counts([sum.blocks, sum.words, share(sum.words, all.words)]);
            row.counts([share(sum.links, sum.chars), share(sum.kept, sum.chars)]);
        }
        row.until(11);
        for number in &self.data {
            row.add(*number);
        }
        row.until(12);
    }

    fn candidates(&self, at: usize, row: &mut Filling<'_>) {
        let best = self.evidence.best;
        for votes in &self.votes {
            row.counts([votes.get(at).copied().unwrap_or_default().into()]);
        }
        let reason = best.and_then(|best| best.left.get(at.checked_sub(best.span.start)?).copied());
        row.add(match reason {
            None => -1,
            Some(None) => 9,
            Some(Some(why)) => Kind::ALL.iter().position(|kind| kind.reason() == why).map_or(8, |at| at as i64),
        });
        for end in self.ends {
            row.add(end.map_or(i64::from(i16::MIN), |end| at as i64 - end as i64));
        }
    }

    fn neighbours(&self, at: usize, row: &mut Filling<'_>) {
        for distance in [-3_isize, -2, -1, 1, 2, 3] {
            let other = at.checked_add_signed(distance);
            let counts = other.and_then(|at| self.counts.get(at)).copied().unwrap_or_default();
            let block = other.and_then(|at| self.evidence.outline.blocks.get(at));
            row.counts([counts.words, share(counts.links, counts.chars), counts.ends]);
            row.add(block.map_or(-1, |block| kind_of(block.tag)));
            row.flag(other.is_some_and(|at| is_kept(self.evidence.best, at)));
        }
        for width in [4, 12, 40] {
            let sum = self.sum(at.saturating_sub(width), (at + width + 1).min(self.counts.len()));
            row.counts([sum.words * 10 / sum.blocks.max(1), share(sum.links, sum.chars)]);
            row.counts([sum.ends * 100 / sum.blocks.max(1), share(sum.headings, sum.blocks)]);
            row.counts([share(sum.kept, sum.chars)]);
        }
    }
}

fn own_text(block: &Block, counts: &Counts, row: &mut Filling<'_>) {
    row.counts([counts.words, counts.chars, counts.chars * 10 / counts.words.max(1), counts.ends, counts.commas]);
    row.counts([share(counts.digits, counts.chars), share(counts.capitals, counts.chars), counts.separators]);
    row.flag(*block.ends_as_sentence.get_or_init(|| text::ends_sentence(&block.text)));
    row.add(kind_of(block.tag));
    row.counts([block.text.lines().count()]);
}

fn group(sum: Sum, all: Sum, row: &mut Filling<'_>) {
    row.counts([sum.blocks, sum.words, share(sum.words, all.words), sum.words * 10 / sum.blocks.max(1)]);
    row.counts([share(sum.links, sum.chars), sum.ends * 100 / sum.blocks.max(1), share(sum.kept, sum.chars)]);
}

fn share(part: usize, whole: usize) -> usize {
    part.saturating_mul(1_000) / whole.max(1)
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

fn of_page(evidence: &PageFacts<'_>, all: Sum) -> Vec<i64> {
    let PageFacts { outline, weighed, best, .. } = evidence;
    let path = outline.page.path();
    let sentences = outline.blocks.iter().filter(|block| lines::is_sentence(block)).count();
    let digits = path.bytes().filter(u8::is_ascii_digit).count();
    let hyphens = path.bytes().filter(|byte| *byte == b'-').count();
    let (kept, links) = best.map_or((0, 0), |best| (best.chars, best.link_chars));
    let of_address = [path.split('/').filter(|part| !part.is_empty()).count(), path.len(), digits, hyphens];
    let of_text = [all.blocks, all.words, all.links * 1_000 / all.chars.max(1), sentences, all.headings];
    let of_best = [kept, kept * 1_000 / all.chars.max(1), links * 1_000 / kept.max(1)];
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let weight = weighed.best.and_then(|at| weighed.weights.get(at));
    let thousandths = |share: Option<f64>| share.map_or(-1, |share| (share * 1_000.0) as i64);
    let mut numbers: Vec<i64> = of_text.into_iter().chain(of_address).map(number).collect();
    numbers.push(outline.page.query().is_some().into());
    numbers.extend([weight.map(|weight| weight.agreement), weight.map(|weight| weight.score)].map(thousandths));
    numbers.extend(of_best.map(number));
    numbers.push(best.map_or(-1, |best| RULES.iter().position(|rule| *rule == best.from).map_or(-1, number)));
    numbers
}
