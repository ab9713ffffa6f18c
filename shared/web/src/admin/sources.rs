//! The table of sites, the page of one site, and the list of hosts that are on hold or blocked.

use super::view::{AdminPage, Field, Filter, Item, Part, ROWS, Table, TableRow, moment, shown, site_page};
use super::{AdminRequest, ENGLISH, FoundPage};
use crate::language::minute;
use curlew_model::{Hold, HostKey, HostState, Timestamp};
use curlew_people::lookup::typed_host;
use curlew_people::site_report::SiteReport;
use curlew_people::site_table::{SiteLine, SiteOrder};
use url::form_urlencoded;

const HEADS: [&str; 7] = ["Site", "Feeds", "Accepted", "Rejected", "Last news", "Next poll (UTC)", "State"];
/// Orders of the table: value, name and order. The first is the default.
const ORDERS: [(&str, &str, SiteOrder); 5] = [
    ("host", "By host", SiteOrder::Host),
    ("news", "Latest news first", SiteOrder::News),
    ("poll", "Next poll first", SiteOrder::Poll),
    ("accepted", "Most accepted pages first", SiteOrder::Accepted),
    ("rejected", "Most rejected pages first", SiteOrder::Rejected),
];

/// `GET /admin/sources`
pub(super) async fn list(request: &AdminRequest) -> FoundPage<'_> {
    let (path, params, lookup) = ("/admin/sources", &request.params, &request.admin.services.actions.lookup);
    let filter = params.get("filter").unwrap_or_default().trim();
    let chosen = params.get("order").unwrap_or_default();
    let (chosen, _, order) = *ORDERS.iter().find(|(value, ..)| *value == chosen).unwrap_or(&ORDERS[0]);
    let table = lookup.site_table(filter, order).await?;
    let last = table.lines.len().div_ceil(ROWS).max(1);
    let number = params.number("page", 1).ok().filter(|number| (1..=last).contains(number));
    let Some(number) = number else { return Ok(None) };

    let mut page = request.page(path, "Sites and feeds", "");
    let orders = ORDERS.iter().map(|(value, name, _)| (*value, *name, *value == chosen)).collect();
    page.filter = Some(Filter { label: "Filter by host or title", value: filter.to_owned(), orders });
    if number == 1 && filter.is_empty() {
        let form = |act, label, name, field| request.button(act, "", label).with(name, field);
        page.forms_heading = "Add a site, a feed or a list";
        page.forms = vec![
            form("add_site", "Add the site", "url", Field::Line("Address of a site")),
            form("add_feed", "Add the feed", "url", Field::Line("Address of a feed")),
            form(
                "import",
                "Import the list",
                "opml",
                Field::Lines("A list of feeds (OPML), as feed readers export it"),
            ),
        ];
    }
    if table.is_cut {
        page.lead.push_str("There are more than can be shown here; `curlew sites` lists all. ");
    }
    if !table.is_counted {
        page.lead.push_str("There are too many pages to be counted here.");
    }
    let now = request.admin.app.clock.now();
    let mut rows = Vec::with_capacity(ROWS);
    for line in table.lines.iter().skip((number - 1) * ROWS).take(ROWS) {
        let state = lookup.host_state(&line.host).await?.unwrap_or_default();
        rows.push(table_row(line, &state, table.is_counted, now));
    }
    let heading = ENGLISH.count(table.lines.len() as u64, "site", "sites");
    let none = if filter.is_empty() { "There is none." } else { "None has this in its host or title." };
    let table = Some(Table { heads: HEADS.into(), rows }).filter(|table| !table.rows.is_empty());
    page.parts.push(Part { table, ..Part::items(&heading, vec![], none) });
    page.next = (number < last).then(|| {
        let number = (number + 1).to_string();
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("filter", filter).append_pair("order", chosen).append_pair("page", &number);
        format!("{path}?{}", query.finish())
    });
    Ok(Some(page))
}

fn table_row(line: &SiteLine, host: &HostState, is_counted: bool, now: Timestamp) -> TableRow {
    let number = |n: u64| if is_counted { ENGLISH.number(n) } else { String::new() };
    let day = |at: Timestamp| ENGLISH.short_day(&at.day(), &now.day()).unwrap_or_default();
    let state = match host.hold_at(now) {
        _ if host.is_blocked(&line.host) => "blocked".to_owned(),
        Some(hold) => format!("on hold {}", until(&hold)),
        None if line.state.is_empty() => "well".to_owned(),
        None => shown(&line.state),
    };
    TableRow {
        title: shown(&line.host),
        link: site_page(&format!("https://{}/", line.host)),
        note: line.title.as_deref().map(shown).unwrap_or_default(),
        cells: vec![
            ENGLISH.number(line.feeds as u64),
            number(line.pages.accepted),
            number(line.pages.rejected.values().sum()),
            line.last_news.map(day).unwrap_or_default(),
            line.next_poll.map(|at| format!("{}, {}", day(at), minute(at))).unwrap_or_default(),
            state,
        ],
    }
}

fn until(hold: &Hold) -> String {
    format!("until {} ({})", moment(hold.until), hold.reason.as_str().replace('_', " "))
}

/// `GET /admin/site/HOST`; `None` if nothing is known about the host.
pub(super) async fn site<'a>(request: &'a AdminRequest, name: &str) -> FoundPage<'a> {
    let Some(host) = typed_host(name) else { return Ok(None) };
    let Some(report) = request.admin.services.actions.lookup.site(&host).await? else { return Ok(None) };
    let button = |act, label| request.button(act, &host, label);
    let (block, label) = if report.blocked.is_empty() { ("block", "Block") } else { ("unblock", "Lift the block") };
    let lengths = vec![("1d", "a day"), ("7d", "a week"), ("30d", "30 days"), ("365d", "a year")];
    let length = Field::Choice("Leave this host alone for", lengths);
    let forms = vec![
        button("poll", "Poll the feeds now"),
        button(block, label),
        button("hold", "Leave alone").with("length", length),
        button("lift_hold", "Lift the operator’s hold"),
    ];
    Ok(Some(AdminPage { forms, parts: parts(request, &report), ..request.page("", &host, "") }))
}

fn parts(request: &AdminRequest, report: &SiteReport) -> Vec<Part> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let blocked = report.blocked.iter().cloned().collect::<Vec<_>>().join(", ");
    let mut facts = vec![
        fact("Host key", report.host.as_str().to_owned()),
        fact("Blocked", if blocked.is_empty() { "no".to_owned() } else { blocked }),
    ];
    let hold = report.hold.as_ref().map(|hold| format!("{}, {} in a row", until(hold), report.holds_in_a_row));
    facts.push(fact("Held", hold.unwrap_or_else(|| "no".to_owned())));
    facts.extend(
        report.wall.as_ref().map(|wall| fact("Bot wall", format!("since {} {}", moment(wall.since), wall.vendor))),
    );
    facts.push(fact("Calls in a row that did not reach it", ENGLISH.number(report.failures.into())));
    facts.push(fact("URLs left alone", ENGLISH.number(report.urls_left_alone as u64)));
    let ruled_by = report.pace.ruled_by.replace('_', " ");
    facts.push(fact("Pause", format!("at least {}, set by {ruled_by}", ENGLISH.span(report.pace.least))));
    facts.push(fact("Not called before", moment(report.next_call)));
    facts.extend(report.pages.iter().map(|(state, n)| fact(&format!("Pages {state}"), ENGLISH.number(*n))));

    let text = |value: &serde_json::Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let sites = report.sites.iter().map(|site| Item::new(&text(site, "url"), [text(site, "state")]));
    let feeds = report.feeds.iter().map(|feed| {
        let state = match (&feed.trouble, feed.gone) {
            (trouble, true) => format!("polling has stopped: {}", trouble.as_deref().unwrap_or("gone")),
            (Some(why), _) => format!("{}: {why}", ENGLISH.count(feed.failures.into(), "failure", "failures")),
            (None, _) => format!("every {}", ENGLISH.span(feed.interval)),
        };
        let next = feed.next.map(|at| format!("next poll {}", moment(at))).unwrap_or_default();
        Item::new(&feed.url, [state, next]).with([request.button("poll", &feed.url, "Poll now")])
    });
    let history = report.history.iter().map(|line| Item::new(&line.url, [ENGLISH.count(line.sent, "page", "pages")]));
    let pages = report.latest.iter().map(|page| {
        let feed = page.feed.as_ref().map(|feed| format!("named by {feed}")).unwrap_or_default();
        Item::new(&page.url, [format!("{} {}", moment(page.at), page.state), page.why.clone(), feed])
    });
    let robots = report.robots.iter().map(|file| {
        let rules = ENGLISH.count(file.rules as u64, "rule", "rules");
        let head = format!("{}, {rules} for us, asked {}", file.standing, moment(file.fetched_at));
        Item::new(&file.origin, std::iter::once(head).chain(file.lines.iter().cloned()))
    });
    let next = report.next.iter().map(|job| Item::new(&job.about, [format!("{}, {}", job.what, moment(job.at))]));
    let mut parts = vec![
        Part::facts("State", facts),
        Part::items("Sites", sites.collect(), "None was named."),
        Part::items("Feeds", feeds.collect(), "None is known."),
        Part::items("Latest pages", pages.collect(), "None is known."),
        Part::items("robots.txt", robots.collect(), "It was not asked for yet."),
        Part::items("Next jobs", next.collect(), "Nothing is planned."),
    ];
    let history: Vec<Item> = history.collect();
    if !history.is_empty() {
        parts.insert(3, Part::items("Back catalogues", history, ""));
    }
    parts
}

/// `GET /admin/holds`
pub(super) async fn holds(request: &AdminRequest) -> FoundPage<'_> {
    let Ok(after) = request.params.get("after").map(HostKey::new).transpose() else { return Ok(None) };
    let part = request.admin.services.actions.lookup.held(after, ROWS).await?;
    let lead = "A hold that a site’s answers have brought about ends by itself, and nobody can lift it.";
    let mut page = request.page("/admin/holds", "Holds and blocks", lead);
    page.forms = vec![request.button("block", "", "Block").with("about_typed", Field::Line("Host"))];
    let now = request.admin.app.clock.now();
    let item = |(host, state): &(HostKey, HostState)| {
        let hold = state.hold_at(now).map(|hold| format!("left alone {}", until(&hold)));
        let blocked: Vec<&str> = state.blocked.iter().map(String::as_str).collect();
        let blocks = if blocked.is_empty() { String::new() } else { format!("blocked: {}", blocked.join(", ")) };
        let own = state.left_alone_until.filter(|until| *until > now);
        let own = own.map(|_| request.button("lift_hold", host.as_str(), "Lift the operator’s hold"));
        let unblock = blocked.iter().map(|name| request.button("unblock", name, "Lift the block"));
        Item::new(host.as_str(), [hold.unwrap_or_default(), blocks])
            .linked(site_page(&format!("https://{host}/")))
            .with(own.into_iter().chain(unblock))
    };
    let items = part.rows.iter().map(item).collect();
    let next = part.next.as_ref().map(HostKey::as_str);
    page.add_list("Hosts", items, next, "No host is held or blocked.");
    Ok(Some(page))
}
