//! Compares the alarms of the templates with the runbooks, with the metrics that functions write, and with the
//! documented cost.

use curlew_tests::read;
use std::collections::BTreeSet;

/// An alarm, as its template describes it.
struct Alarm {
    /// Name of the alarm without the name of the stack.
    name: String,
    text: String,
}

fn alarms() -> Vec<Alarm> {
    let templates = ["infra/watch.yaml", "infra/template.yaml"].map(read).join("\n");
    let is_head = |line: &str| line.starts_with("  ") && !line[2..].starts_with([' ', '#']) && line.ends_with(':');
    let mut parts: Vec<String> = vec![];
    for line in templates.lines() {
        if is_head(line) || !line.starts_with(' ') {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push_str(line);
            part.push('\n');
        }
    }
    let alarm = |text: String| {
        let (_, name) = text.split_once("AlarmName: !Sub \"${")?;
        let (_, name) = name.split_once("}-")?;
        let name = name.split('"').next()?.to_owned();
        Some(Alarm { name, text })
    };
    parts.into_iter().filter_map(alarm).collect()
}

#[test]
fn every_alarm_has_a_page_of_the_runbooks_and_every_page_an_alarm() {
    let alarms = alarms();
    assert!(alarms.len() > 5, "only {} alarms were found", alarms.len());
    for Alarm { name, text, .. } in &alarms {
        assert!(text.contains(&format!("See docs/runbooks.md#{name}\n")), "{name} does not link to its page");
    }
    let runbooks = read("docs/runbooks.md");
    let (_, pages) = runbooks.split_once("\n## Alarms\n").expect("a part about alarms");
    let pages = pages.split("\n## ").next().unwrap_or_default();
    let pages: BTreeSet<&str> = pages.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let names: BTreeSet<&str> = alarms.iter().map(|alarm| alarm.name.as_str()).collect();
    assert_eq!(pages, names);
}

#[test]
fn alarms_look_at_metrics_that_are_written() {
    let meter = read("shared/lambda/src/meter.rs");
    let page = read("docs/aws.md");
    let mut own = 0;
    for Alarm { name, text, .. } in alarms() {
        // The namespace and the metric's name are on one line or on two.
        for after in text.split("Namespace: Curlew").skip(1) {
            let (_, metric) = after.split_once("MetricName: ").expect("an alarm names its metric");
            let metric: String = metric.chars().take_while(char::is_ascii_alphanumeric).collect();
            assert!(meter.contains(&format!(": &str = \"{metric}\";")), "{name}: nobody writes {metric}");
            assert!(page.contains(&format!("`{metric}`")), "docs/aws.md does not name {metric}");
            own += 1;
        }
    }
    assert!(own >= 2, "only {own} custom metrics are watched");
}

#[test]
fn every_kind_of_trouble_has_a_row_of_its_page() {
    let meter = read("shared/lambda/src/meter.rs");
    let (_, kinds) = meter.split_once("enum Trouble {").expect("the kinds of trouble");
    let (kinds, _) = kinds.split_once('}').expect("their end");
    let words: BTreeSet<String> =
        kinds.lines().filter_map(|line| line.trim().strip_suffix(',')).map(in_kebab_case).collect();
    let runbooks = read("docs/runbooks.md");
    let page = runbooks.split("\n### ").find(|page| page.starts_with("trouble\n")).expect("a page about trouble");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    assert!(words.len() > 5, "{words:?}");
    assert_eq!(rows.filter(|row| *row != "trouble").map(str::to_owned).collect::<BTreeSet<_>>(), words);
}

/// Returns the name of a variant as serde writes it with `rename_all = "kebab-case"`.
fn in_kebab_case(variant: &str) -> String {
    let words = variant.char_indices().map(|(at, letter)| match letter.is_uppercase() && at > 0 {
        true => format!("-{}", letter.to_ascii_lowercase()),
        false => letter.to_ascii_lowercase().to_string(),
    });
    words.collect()
}

#[test]
fn what_alarms_cost_is_what_the_page_says() {
    /// Number of metrics that alarms may watch free of charge.
    const FREE_METRICS: usize = 10;
    let watched: Vec<Alarm> =
        alarms().into_iter().filter(|alarm| read("infra/watch.yaml").contains(&alarm.text)).collect();
    let metrics: usize = watched.iter().map(|alarm| alarm.text.matches("MetricName: ").count()).sum();
    let page = read("docs/aws.md");
    let cells = |row: &str| -> Vec<String> {
        let line = page.lines().find(|line| line.starts_with(row)).unwrap_or_else(|| panic!("no row {row}"));
        line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('*').to_owned()).collect()
    };
    let dollars = |cell: &str| cell.parse::<f64>().unwrap_or_else(|_| panic!("{cell} is no sum"));
    let alarms = cells("| alarms, billed by");
    assert!(alarms[1].starts_with(&format!("{metrics} at ")), "{metrics} metrics are watched: {alarms:?}");
    let free = metrics.min(FREE_METRICS);
    assert_eq!(
        [&alarms[2], &alarms[3]].map(|cell| dollars(cell)),
        [metrics as f64 / 10.0, (metrics - free) as f64 / 10.0]
    );
    // The table's sums must be right in both columns.
    for column in [2, 3] {
        let parts = ["| **crawling, idle** ", "| alarms, billed by"];
        let sum: f64 = parts.iter().map(|row| dollars(&cells(row)[column])).sum();
        let told = dollars(&cells("| **with `Watch=true`, idle** ")[column]);
        assert!((sum - told).abs() < 0.005, "column {column}: {sum:.2}, but {told}");
    }
    assert_eq!(cells("| the same with alarms ")[1], cells("| **with `Watch=true`, idle** ")[2]);
}
