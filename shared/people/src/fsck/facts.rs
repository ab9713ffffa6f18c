//! The facts that one pass of fsck compares, and the damage that follows from them.

use super::Damage;
use curlew_catalog::raw::name;
use curlew_catalog::segment;
use curlew_catalog::thumbnails::thumbnail_key;
use curlew_model::{Job, Location, PageBody, PageId, Purpose, Record, ThumbnailId, Timestamp, Work, Year};
use curlew_ports::Inbox;
use curlew_ports::stage::Result;
use curlew_search::Manifest;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Maximum number of jobs that are read.
const JOBS: usize = 1_000_000;

#[derive(Default)]
pub(super) struct Slice {
    pub(super) after: Option<PageId>,
    pub(super) until: Option<PageId>,
}

impl Slice {
    /// True if a page id or an object is in the slice. An object's hash is the last part of its key, without extension.
    pub(super) fn holds(&self, key: &str) -> bool {
        let hash = name(key).unwrap_or_default();
        self.after.as_ref().is_none_or(|after| hash > after.as_str())
            && self.until.as_ref().is_none_or(|until| hash <= until.as_str())
    }
}

/// The facts that one pass compares: rows of a slice, records, references and jobs.
#[derive(Default)]
pub(super) struct StoreFacts<'a> {
    pub(super) slice: Slice,
    pub(super) rows: HashMap<PageId, RowFact>,
    /// Pages whose record is where their row says.
    pub(super) recorded: HashSet<PageId>,
    /// Records that no row points to.
    pub(super) strays: Vec<(Location, PageId)>,
    pub(super) thumbnails: HashSet<String>,
    /// Frames of raw pages that records name, as offset and length, by object key.
    pub(super) raw: HashMap<String, HashSet<(u64, u64)>>,
    pub(super) jobs: Option<&'a JobFacts>,
}

pub(super) enum RowFact {
    Pending,
    Accepted { year: Year, location: Location },
    Closed,
}

#[derive(Default)]
pub(super) struct JobFacts {
    pages: HashSet<PageId>,
    pub(super) thumbnails: HashSet<String>,
    pub(super) bodies: BTreeMap<String, PageId>,
    pub(super) extractions: usize,
}

impl JobFacts {
    pub(super) fn add(&mut self, job: &Job) {
        match &job.work {
            Work::Fetch(visit) => {
                for item in &visit.items {
                    self.pages.insert(item.page.clone());
                    if let Purpose::Image { image, .. } = &item.purpose {
                        self.thumbnails.insert(thumbnail_key(image));
                    }
                }
            }
            Work::Extract(job) => {
                self.extractions += 1;
                self.pages.insert(job.page.clone());
                if let PageBody::Stored(key) = &job.body {
                    self.bodies.insert(key.clone(), job.page.clone());
                }
            }
            Work::Discover(_) | Work::Poll(_) | Work::Polls(_) | Work::Subscribe(_) | Work::Backfill(_) => {}
            Work::Deliver(_) | Work::Own(_) | Work::TakeUp(_) | Work::Remove(_) => {}
        }
    }
}

impl StoreFacts<'_> {
    pub(super) fn add(&mut self, at: &Location, record: &Record) {
        if let Some(ThumbnailId::Object(image)) = &record.thumbnail
            && self.slice.holds(image.as_str())
        {
            self.thumbnails.insert(thumbnail_key(image));
        }
        if let Some(raw) = &record.raw
            && self.slice.holds(at.segment.as_str())
        {
            self.raw.entry(raw.key(&at.segment)).or_default().insert((raw.offset, raw.length));
        }
        match self.rows.get(&record.id) {
            _ if !self.slice.holds(record.id.as_str()) => {}
            Some(RowFact::Accepted { location, .. }) if location == at => {
                self.recorded.insert(record.id.clone());
            }
            _ => self.strays.push((at.clone(), record.id.clone())),
        }
    }

    /// Returns the records in published segments whose pages are not accepted.
    pub(super) fn stray_records(&self, manifests: &BTreeMap<Year, Manifest>) -> Vec<Damage> {
        let is_published = |at: &Location| {
            let year = segment::segment_year(at).unwrap_or_default();
            manifests.get(&year).is_some_and(|manifest| manifest.is_indexed(&at.segment))
        };
        let is_stray = |(at, page): &&(Location, PageId)| {
            !matches!(self.rows.get(page), Some(RowFact::Accepted { .. })) && is_published(at)
        };
        let strays = self.strays.iter().filter(is_stray);
        strays.map(|(at, page)| Damage::StrayRecord { page: page.clone(), at: at.clone() }).collect()
    }

    pub(super) fn compare(&self, manifest: &Manifest, shown: &HashSet<PageId>) -> Vec<Damage> {
        let year = manifest.year;
        let is_accepted = |page: &PageId| matches!(self.rows.get(page), Some(RowFact::Accepted { .. }));
        let stray = shown.iter().filter(|page| !manifest.tombstones.contains(*page) && !is_accepted(page));
        let mut damage: Vec<Damage> = stray.map(|page| Damage::StrayHit { page: page.clone(), year }).collect();
        for (page, row) in &self.rows {
            let RowFact::Accepted { year: of, location } = row else { continue };
            let is_missing = *of == year
                && manifest.is_indexed(&location.segment)
                && self.recorded.contains(page)
                && !shown.contains(page)
                && !manifest.tombstones.contains(page);
            if is_missing {
                damage.push(Damage::NotIndexed { page: page.clone(), year });
            }
        }
        damage
    }

    /// Returns pending pages without a job, and the jobs whose document is missing.
    pub(super) fn stranded(&self, bodies: &BTreeSet<String>) -> Vec<Damage> {
        let Some(jobs) = &self.jobs else { return Vec::new() };
        let is_stranded =
            |(page, row): &(&PageId, &RowFact)| matches!(row, RowFact::Pending) && !jobs.pages.contains(*page);
        let stranded = self.rows.iter().filter(is_stranded);
        let mut damage: Vec<Damage> = stranded.map(|(page, _)| Damage::Stranded { page: page.clone() }).collect();
        for (key, page) in jobs.bodies.iter().filter(|(key, _)| !bodies.contains(*key)) {
            let is_open = matches!(self.rows.get(page), None | Some(RowFact::Pending));
            if is_open && self.slice.holds(page.as_str()) {
                damage.push(Damage::LostBody { page: page.clone(), key: key.clone() });
            }
        }
        damage
    }
}

/// Returns the facts about all jobs, including dead-lettered ones, which may be put back.
pub(super) async fn jobs(inbox: &dyn Inbox) -> Result<JobFacts> {
    let mut facts = JobFacts::default();
    for waiting in inbox.waiting(Timestamp::MIN, JOBS).await? {
        // A message that is not a job is dead-lettered when it is run.
        waiting.job.iter().for_each(|job| facts.add(job));
    }
    for dead in inbox.dead(JOBS).await? {
        Job::from_message(&dead.message).iter().for_each(|job| facts.add(job));
    }
    Ok(facts)
}
