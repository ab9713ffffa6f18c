//! Sites and feeds with their state; one site whole; hosts that are held or blocked.

use super::access::Operator;
use super::view::{AdminPage, Button, FieldKind, Item, Part, ROWS, count, moment, site_page};
use super::{Admin, ENGLISH};
use crate::params::Params;
use curlew_model::{HostKey, SourceKey};
use curlew_people::lookup::{HeldHost, SourceLine, typed_host};
use curlew_people::site_report::SiteReport;
use curlew_ports::stage::StageError;

/// `GET /admin/sources`; `None` for a place in the list that is none.
pub(super) async fn list<'a>(
    admin: &'a Admin,
    operator: &'a Operator,
    params: &Params,
) -> Result<Option<AdminPage<'a>>, StageError> {
    let path = "/admin/sources";
    let title = "Sites and feeds";
    let (mut page, host) = AdminPage::by_host(admin, operator, path, (title, title), params);
    let Ok(host) = host else { return Ok(Some(page)) };
    let Ok(after) = params.after(SourceKey::new) else { return Ok(None) };
    if after.is_none() && host.is_none() {
        page.forms_heading = "Add a site, a feed or a list";
        page.forms = vec![
            Button::new(admin, operator, "add_site", "", "Add the site").with(
                "url",
                "Address of a site",
                FieldKind::Line,
            ),
            Button::new(admin, operator, "add_feed", "", "Add the feed").with(
                "url",
                "Address of a feed",
                FieldKind::Line,
            ),
            Button::new(admin, operator, "import", "", "Import the list").with(
                "opml",
                "A list of feeds (OPML), as feed readers export it",
                FieldKind::Lines,
            ),
        ];
    }
    let part = admin.services.lookup.sources(host.as_deref(), after, ROWS).await?;
    let items = part.rows.iter().map(|row| item(admin, operator, row)).collect();
    page.add_list(path, (title, items), part.next.as_ref().map(SourceKey::as_str), "There is none.");
    Ok(Some(page))
}

fn item(admin: &Admin, operator: &Operator, row: &SourceLine) -> Item {
    let kind = if row.is_feed { "feed" } else { "site" };
    let hold = row.hold.as_ref().map(|hold| {
        format!("its host is left alone until {} ({})", moment(hold.until), hold.reason.as_str().replace('_', " "))
    });
    let lines = [
        format!("{kind}: {}", row.state),
        row.title.clone().unwrap_or_default(),
        row.next_poll.map(|at| format!("next poll {}", moment(at))).unwrap_or_default(),
        hold.unwrap_or_default(),
        if row.is_blocked { "its host is blocked".to_owned() } else { String::new() },
    ];
    let poll = row.is_feed.then(|| Button::new(admin, operator, "poll", &row.url, "Poll now"));
    Item::new(&row.url, lines).linked(site_page(&row.url)).with(poll)
}

/// `GET /admin/site/HOST`; `None` if nothing is known of it.
pub(super) async fn site<'a>(
    admin: &'a Admin,
    operator: &'a Operator,
    name: &str,
) -> Result<Option<AdminPage<'a>>, StageError> {
    let Some(host) = typed_host(name) else { return Ok(None) };
    let Some(report) = admin.services.lookup.site(&host).await? else { return Ok(None) };
    let mut page = AdminPage::new(admin, operator, "", &host);
    let button = |act, label| Button::new(admin, operator, act, &host, label);
    page.forms.push(button("poll", "Poll the feeds now"));
    page.forms.push(match report.blocked.is_empty() {
        true => button("block", "Block"),
        false => button("unblock", "Lift the block"),
    });
    page.forms.push(hold_button(admin, operator, &host));
    page.forms.push(button("lift_hold", "Lift the operator’s hold"));
    page.parts = parts(admin, operator, &report);
    Ok(Some(page))
}

/// Returns the form that holds a host.
fn hold_button(admin: &Admin, operator: &Operator, host: &str) -> Button {
    let lengths = vec![("1d", "a day"), ("7d", "a week"), ("30d", "30 days"), ("365d", "a year")];
    Button::new(admin, operator, "hold", host, "Leave alone").with(
        "length",
        "Leave this host alone for",
        FieldKind::Choice(lengths),
    )
}

fn parts(admin: &Admin, operator: &Operator, report: &SiteReport) -> Vec<Part> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let blocked = report.blocked.iter().cloned().collect::<Vec<_>>().join(", ");
    let mut facts = vec![
        fact("Host key", report.host.as_str().to_owned()),
        fact("Blocked", if blocked.is_empty() { "no".to_owned() } else { blocked }),
    ];
    let hold = report.hold.as_ref().map(|hold| {
        format!(
            "until {} ({}), {} in a row",
            moment(hold.until),
            hold.reason.as_str().replace('_', " "),
            report.holds_in_a_row
        )
    });
    facts.push(fact("Held", hold.unwrap_or_else(|| "no".to_owned())));
    facts.extend(
        report.wall.as_ref().map(|wall| fact("Bot wall", format!("since {} {}", moment(wall.since), wall.vendor))),
    );
    facts.push(fact("Calls in a row that did not reach it", ENGLISH.number(report.failures.into())));
    facts.push(fact("URLs left alone", ENGLISH.number(report.urls_left_alone as u64)));
    facts.push(fact("Pause", format!("at least {}, set by {}", ENGLISH.span(report.pace.least), report.pace.ruled_by)));
    facts.push(fact("Not called before", moment(report.next_call)));
    facts.extend(report.pages.iter().map(|(state, n)| fact(&format!("Pages {state}"), ENGLISH.number(*n))));

    let text = |value: &serde_json::Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let sites = report.sites.iter().map(|site| Item::new(&text(site, "url"), [text(site, "state")]));
    let feeds = report.feeds.iter().map(|feed| {
        let state = match (&feed.trouble, feed.gone) {
            (trouble, true) => format!("polling has stopped: {}", trouble.as_deref().unwrap_or("gone")),
            (Some(why), _) => format!("{}: {why}", count(feed.failures.into(), "failure", "failures")),
            (None, _) => format!("every {}", ENGLISH.span(feed.interval)),
        };
        let next = feed.next.map(|at| format!("next poll {}", moment(at))).unwrap_or_default();
        Item::new(&feed.url, [state, next]).with([Button::new(admin, operator, "poll", &feed.url, "Poll now")])
    });
    let history = report.history.iter().map(|line| Item::new(&line.url, [count(line.sent, "page", "pages")]));
    let pages = report.latest.iter().map(|page| {
        let feed = page.feed.as_ref().map(|feed| format!("named by {feed}")).unwrap_or_default();
        Item::new(&page.url, [format!("{} {}", moment(page.at), page.state), page.why.clone(), feed])
    });
    let robots = report.robots.iter().map(|file| {
        let head = format!(
            "{}, {} for us, asked {}",
            file.standing,
            count(file.rules as u64, "rule", "rules"),
            moment(file.fetched_at)
        );
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

/// `GET /admin/holds`; `None` for a place in the list that is none.
pub(super) async fn holds<'a>(
    admin: &'a Admin,
    operator: &'a Operator,
    params: &Params,
) -> Result<Option<AdminPage<'a>>, StageError> {
    let path = "/admin/holds";
    let Ok(after) = params.after(HostKey::new) else { return Ok(None) };
    let part = admin.services.lookup.held(after, ROWS).await?;
    let mut page = AdminPage::new(admin, operator, path, "Holds and blocks");
    page.lead = "A hold that a site’s answers have brought about ends by itself, and nobody can lift it.".into();
    let button = |act, label| Button::new(admin, operator, act, "", label).with("about_typed", "Host", FieldKind::Line);
    page.forms = vec![button("block", "Block")];
    let now = admin.app.clock.now();
    let item = |HeldHost { host, state }: &HeldHost| {
        let hold = state.hold_at(now).map(|hold| {
            format!("left alone until {} ({})", moment(hold.until), hold.reason.as_str().replace('_', " "))
        });
        let blocked: Vec<&str> = state.blocked.iter().map(String::as_str).collect();
        let blocks = if blocked.is_empty() { String::new() } else { format!("blocked: {}", blocked.join(", ")) };
        let own = state.left_alone_until.filter(|until| *until > now);
        let own = own.map(|_| Button::new(admin, operator, "lift_hold", host.as_str(), "Lift the operator’s hold"));
        let unblock = blocked.iter().map(|name| Button::new(admin, operator, "unblock", name, "Lift the block"));
        Item::new(host.as_str(), [hold.unwrap_or_default(), blocks])
            .linked(site_page(&format!("https://{host}/")))
            .with(own.into_iter().chain(unblock))
    };
    let items = part.rows.iter().map(item).collect();
    page.add_list(path, ("Hosts", items), part.next.as_ref().map(HostKey::as_str), "No host is held or blocked.");
    Ok(Some(page))
}
