#![allow(clippy::unwrap_used, reason = "a test may panic")]
use super::*;

fn env(pairs: &[(&str, &str)]) -> impl Iterator<Item = (String, String)> {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<Vec<_>>().into_iter()
}

#[test]
fn flags_override_the_environment_which_overrides_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("curlew.toml");
    std::fs::write(&path, "workers = 7\ncontact = \"https://a.example/\"\n[rules]\nmin_pause = \"3s\"\nburst = 9\n")
        .unwrap();
    let flags = Flags { file: Some(path), workers: Some(5), ..Flags::default() };
    let config = Settings::load(
        &flags,
        env(&[
            ("CURLEW_WORKERS", "6"),
            ("CURLEW_RULES_MIN_PAUSE", "2s"),
            ("CURLEW_SOMETHING", "x"),
            ("CURLEW_PUBLISH_EVERY", "20m"),
        ]),
    )
    .unwrap();
    assert_eq!(config.workers, 5);
    assert_eq!(config.publish_every, Millis::from_mins(20));
    assert_eq!(config.rules.min_pause, Millis::from_secs(2));
    assert_eq!(config.rules.burst, 9);
    assert!(config.page_agent.contains("CurlewBot/") && config.page_agent.contains("+https://a.example/"));
    assert!(config.feed_agent.contains("feeds"));
}

#[test]
fn the_defaults_that_are_shown_are_those_that_hold() {
    let without_limits = File { limits: Limits::default(), ..layers::usual() };
    let [shown, held] = [without_limits, File::default()].map(|file| merge(file, &Flags::default()).unwrap());
    assert_eq!(format!("{shown:?}"), format!("{held:?}"));
}

#[test]
fn a_wrong_setting_is_one_clear_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("curlew.toml");
    for (text, says) in [
        ("wrokers = 1", "curlew.toml, line 1, column 1: there is no setting `wrokers`; did you mean `workers`?"),
        (
            "data = \"é\"\n[rules]\nburst = 1\n  poll_intreval = \"8h\"",
            "line 4, column 3: there is no setting `poll_intreval`; did you mean `poll_interval`?",
        ),
        ("[rules]\nburst = \"é\" # a number\n", "line 2, column 9: invalid type"),
        ("[rules]\nsomething_else = 1", "unknown field `something_else`, expected one of"),
        ("workers = 1\nworkers = 2", "line 2, column 1: duplicate key"),
        ("[rules]\nmin_pause = \"fast\"", "no length of time"),
        ("[rules]\njitter = [\"9s\", \"1s\"]", "jitter"),
        ("[rules]\nmin_pause = 2", "line 2, column 13: 2 has no unit: write a length of time as \"500ms\", \"2s\""),
        ("[rules]\njitter = [100, 300]", "line 2, column 11: 100 has no unit"),
        ("[rules]\nhold_refused = 72", "72 has no unit"),
        ("[rules]\nconfirm_after = 0", "0 has no unit"),
        ("[limits]\nread_timeout = -1", "-1 has no unit"),
        ("publish_every = 600", "600 has no unit"),
        ("contact = \"me\"", "neither a URL nor a mail"),
        ("[web]\nbase_url = \"search.example\"", "line 2, column 12: 'search.example' is no origin of http or https"),
        ("[web]\nbase_url = \"ftp://search.example\"", "is no origin"),
        ("[web]\nbase_url = \"https://search.example/sub\"", "is no origin"),
        ("workers = 0", "workers must be"),
        ("publish_every = \"10s\"", "publish_every must be from a minute"),
        ("= 3", "line 1"),
        ("[agent]\nname = \"Bot/2\"", "letters"),
        ("[agent]\npages = \"Mozilla/5.0\"", "does not contain"),
        ("[exclude]\npatterns = [\"a(\"]", "'a(' cannot be used"),
        ("[robots]\nignored_hosts = [\"com\"]", "ignored_hosts: 'com' is a public suffix"),
    ] {
        std::fs::write(&path, text).unwrap();
        let flags = Flags { file: Some(path.clone()), ..Flags::default() };
        let error = Settings::load(&flags, env(&[])).unwrap_err().to_string();
        assert!(error.contains(says) && !error.contains('\n'), "{text:?}: {error}");
    }
    let flags = Flags { file: Some(dir.path().join("missing")), ..Flags::default() };
    assert!(Settings::load(&flags, env(&[])).unwrap_err().to_string().contains("cannot be read"));
}

#[test]
fn a_misspelled_variable_is_refused_and_one_of_another_program_is_not() {
    for (name, meant) in [
        ("CURLEW_CONTAC", "CURLEW_CONTACT"),
        ("CURLEW_RULS_MIN_PAUSE", "CURLEW_RULES_MIN_PAUSE"),
        ("CURLEW_PUBLISHEVERY", "CURLEW_PUBLISH_EVERY"),
    ] {
        let error = Settings::load(&Flags::default(), env(&[(name, "1")])).unwrap_err().to_string();
        assert_eq!(error, format!("there is no setting {name}; did you mean {meant}?"));
    }
    for other in ["CURLEW_BUCKET", "CURLEW_STACK", "CURLEW_REST_AFTER", "CURLEW_AXE", "CURLEW_MAPPINGS"] {
        assert!(Settings::load(&Flags::default(), env(&[(other, "1")])).is_ok(), "{other}");
    }
}

#[test]
fn a_contact_is_a_page_or_a_mail_address() {
    for (contact, is_good) in [
        ("you@example.org", true),
        ("https://example.org/bot", true),
        ("you@", false),
        ("@example.org", false),
        ("you@example", false),
        ("you@example.", false),
        ("https://", false),
        ("me", false),
    ] {
        let loaded = Settings::load(&Flags::default(), env(&[("CURLEW_CONTACT", contact)]));
        assert_eq!(loaded.is_ok(), is_good, "{contact}");
    }
}

#[test]
fn a_length_of_time_has_a_unit_in_the_environment_too() {
    for (key, value) in [
        ("CURLEW_RULES_MIN_PAUSE", "2"),
        ("CURLEW_RULES_JITTER", "[1, 2]"),
        ("CURLEW_LIMITS_PARSE_TIME", "5"),
        ("CURLEW_PUBLISH_EVERY", "600"),
    ] {
        let error = Settings::load(&Flags::default(), env(&[(key, value)])).unwrap_err().to_string();
        assert!(error.contains(key) && error.contains("has no unit") && !error.contains('\n'), "{error}");
    }
    // Every length of time among the rules refuses it.
    for (key, value) in toml::Table::try_from(Rules::default()).unwrap() {
        let takes = |value: &str| {
            Settings::load(&Flags::default(), env(&[(&format!("CURLEW_RULES_{}", key.to_uppercase()), value)]))
                .map_err(|e| e.to_string())
        };
        let is_length = takes("1h").err().is_none_or(|error| error.contains("[rules]"));
        assert!(!is_length || takes("1").is_err_and(|error| error.contains("has no unit")), "{key}: {value}");
    }
}

#[test]
fn u01_u02_the_machine_s_own_services_are_refused_in_an_opened_network() {
    let flags = Flags { allow_net: vec!["127.0.0.0/8".parse().unwrap()], ..Flags::default() };
    let guard = Settings::load(&flags, env(&[])).unwrap().guard;
    assert_eq!(guard.refused_endpoints.len(), REFUSED_ENDPOINTS.len());
    let vet = |url: &str| curlew_fetcher::guard::vet_url(url, &guard);
    assert!(vet("http://127.0.0.1:9001/2018-06-01/runtime/invocation/next").is_err());
    assert!(vet("http://127.0.0.1:9002/").is_ok());
}

#[test]
fn f13_hubs_are_told_an_address_over_https_or_none() {
    let base = |pairs: &[(&str, &str)]| Settings::load(&Flags::default(), env(pairs)).unwrap().hub_base();
    let (https, http) = (("CURLEW_WEB_BASE_URL", "https://Search.example/"), ("CURLEW_WEB_BASE_URL", "http://own/"));
    assert_eq!(base(&[https]).as_deref(), Some("https://search.example"));
    assert_eq!(base(&[]), None);
    assert_eq!(base(&[http]), None);
    assert_eq!(base(&[http, ("CURLEW_RULES_WEBSUB_WITHOUT_TLS", "true")]).as_deref(), Some("http://own"));
    assert_eq!(base(&[https, ("CURLEW_RULES_WEBSUB", "false")]), None);
}

#[test]
fn i01_requests_are_signed_as_the_mode_says_and_only_where_sites_reach_the_keys() {
    let load = |pairs: &[(&str, &str)]| Settings::load(&Flags::default(), env(pairs));
    for (mode, signs) in [
        (None, Some(SignatureMode::Asked)),
        (Some("asked"), Some(SignatureMode::Asked)),
        (Some("always"), Some(SignatureMode::Always)),
        (Some("off"), None),
    ] {
        let pairs: Vec<_> = mode.map(|mode| ("CURLEW_SIGNATURES_MODE", mode)).into_iter().collect();
        assert_eq!(load(&pairs).unwrap().signatures, signs, "{mode:?}");
    }
    assert!(load(&[("CURLEW_SIGNATURES_MODE", "often")]).unwrap_err().to_string().contains("'always', not 'often'"));
    let agent = |base| load(&[("CURLEW_WEB_BASE_URL", base)]).unwrap().signature_agent().map(String::from);
    assert_eq!(agent("https://search.example").as_deref(), Some("https://search.example/"));
    assert_eq!(agent("http://search.example"), None);
}

#[test]
fn what_is_excluded_and_heeded_comes_from_the_environment_too() {
    let settings = Settings::load(
        &Flags::default(),
        env(&[
            ("CURLEW_EXCLUDE_SUBSTRINGS", "[\"/text/\"]"),
            ("CURLEW_EXCLUDE_EXTENSIONS", "['pdf']"),
            ("CURLEW_ROBOTS_IGNORED_HOSTS", "[\"own.example\"]"),
        ]),
    )
    .unwrap();
    let url = |text: &str| url::Url::parse(text).unwrap();
    assert!(settings.scope.excludes(&url("https://a.example/text/b")).is_some());
    assert!(settings.scope.excludes(&url("https://a.example/b.pdf")).is_some());
    assert!(settings.scope.robots_ignored.contains(&url("https://own.example/")));
    let plain = Settings::load(&Flags::default(), env(&[])).unwrap().scope;
    assert!(plain.exclusions.is_empty() && plain.robots_ignored.is_empty() && plain.meta_ignored.is_empty());
}

#[test]
fn lists_come_from_the_environment_too() {
    let config = Settings::load(
        &Flags::default(),
        env(&[("CURLEW_ALLOW_NET", "127.0.0.0/8, 10.0.0.0/8"), ("CURLEW_RESOLVE", "*.test=127.0.0.1:8000")]),
    )
    .unwrap();
    assert_eq!(config.guard.allow_nets.len(), 2);
    assert_eq!(config.guard.resolve.len(), 1);
}

#[test]
fn the_secret_of_a_cdn_is_long_and_fits_a_header() {
    let load = |value: &str| Settings::load(&Flags::default(), env(&[("CURLEW_WEB_FRONT_SECRET", value)]));
    assert_eq!(load("0123456789abcdef01234567").unwrap().web.front_secret.unwrap().len(), 24);
    for bad in ["short", "0123456789abcdef 01234567"] {
        assert!(load(bad).unwrap_err().to_string().contains("openssl rand"), "{bad}");
    }
}

#[test]
fn an_address_may_make_as_many_searches_a_minute_as_is_set_but_not_none() {
    let load = |value: &str| Settings::load(&Flags::default(), env(&[("CURLEW_WEB_SEARCHES_PER_MINUTE", value)]));
    assert_eq!(load("900").unwrap().pages([0; 32]).searches_per_minute, 900);
    let refused = load("0").unwrap_err().to_string();
    assert!(refused.to_lowercase().contains("searches_per_minute"), "{refused}");
}

#[test]
fn trusted_proxies_are_address_ranges() {
    let load = |value: &str| Settings::load(&Flags::default(), env(&[("CURLEW_WEB_TRUSTED_PROXIES", value)]));
    let ranges = load("[\"127.0.0.1/32\", \"2001:db8::/32\"]").unwrap().web.trusted_proxies;
    assert_eq!(ranges, ["127.0.0.1/32".parse::<IpNet>().unwrap(), "2001:db8::/32".parse().unwrap()]);
    assert!(load("[\"proxy.example\"]").is_err());
    assert!(Settings::load(&Flags::default(), env(&[])).unwrap().web.trusted_proxies.is_empty());
}

#[test]
fn each_effective_setting_names_the_layer_that_decides_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("curlew.toml");
    std::fs::write(
        &path,
        "workers = 7\nlog = \"json\"\n[rules]\nburst = 9\njitter = [\"1s\", \"2s\"]\n[web]\ntitle = \"Notes\"\n",
    )
    .unwrap();
    let flags = Flags { file: Some(path), workers: Some(5), ..Flags::default() };
    let pairs = [("CURLEW_RULES_BURST", "8"), ("CURLEW_WEB_TITLE", "Notes"), ("CURLEW_NETWORK_PORTS", "[80]")];
    let all = Settings::load(&flags, env(&pairs)).unwrap().effective;
    let of = |table: &str, key: &str| {
        let found: Vec<_> =
            all.iter().filter(|setting| (setting.table.as_str(), setting.key.as_str()) == (table, key)).collect();
        let [setting] = found[..] else { panic!("{table} {key}: {found:?}") };
        (setting.value.to_string(), setting.origin)
    };
    assert_eq!(of("", "workers"), ("5".to_owned(), Origin::Flag));
    assert_eq!(of("", "log"), ("\"json\"".to_owned(), Origin::File));
    assert_eq!(of("", "publish_every"), ("\"10m\"".to_owned(), Origin::Default));
    assert_eq!(of("rules", "burst"), ("8".to_owned(), Origin::Environment));
    assert_eq!(of("rules", "jitter"), ("[\"1s\", \"2s\"]".to_owned(), Origin::File));
    assert_eq!(of("rules", "min_pause").1, Origin::Default);
    assert_eq!(of("web", "title"), ("\"Notes\"".to_owned(), Origin::File), "the environment says the same");
    assert_eq!(of("network", "ports"), ("[80]".to_owned(), Origin::Environment));
    assert_eq!(of("screen", "image"), ("\"auto\"".to_owned(), Origin::Default));
    assert!(all.iter().all(|setting| setting.key != "contact"), "it has no value");
    assert!(Settings::load(&flags, env(&[("CURLEW_WORKERS", "x")])).is_err());
    // All that is shown, stated in a file, comes to the same settings.
    let mut text = String::new();
    let mut table = String::new();
    for setting in &all {
        if setting.table != table {
            table.clone_from(&setting.table);
            text.push_str(&format!("[{table}]\n"));
        }
        text.push_str(&format!("{} = {}\n", setting.key, setting.value));
    }
    let copy = dir.path().join("copy.toml");
    std::fs::write(&copy, text).unwrap();
    let copy = Settings::load(&Flags { file: Some(copy), ..Flags::default() }, env(&[])).unwrap();
    let first = Settings::load(&flags, env(&pairs)).unwrap();
    assert_eq!((copy.rules, copy.workers, copy.web.title), (first.rules, first.workers, first.web.title));
}

#[test]
fn a_setting_that_is_gone_is_refused_with_a_sentence() {
    for (name, value, says) in [
        ("CURLEW_TRACING_OTLP", "http://127.0.0.1:4318", "[tracing] is gone"),
        ("CURLEW_PREFERENCES_AIPREF", "draft-2026-09", "[preferences] is gone"),
    ] {
        let error = Settings::load(&Flags::default(), env(&[(name, value)])).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("remove it"), "{error}");
    }
}

#[test]
fn metrics_are_for_this_machine_unless_a_token_is_set() {
    let load = |pairs: &[(&str, &str)]| Settings::load(&Flags::default(), env(pairs)).map(|settings| settings.metrics);
    let usual = load(&[]).unwrap().unwrap();
    assert!(usual.listen.ip().is_loopback() && usual.token.is_none());
    assert_eq!(load(&[("CURLEW_METRICS_LISTEN", "off")]).unwrap(), None);
    let token = ("CURLEW_METRICS_TOKEN", "0123456789abcdef");
    for listen in ["0.0.0.0:9464", "[::]:9464", "192.0.2.1:80"] {
        let error = load(&[("CURLEW_METRICS_LISTEN", listen)]).unwrap_err().to_string();
        assert!(error.contains("[metrics] token must be set"), "{error}");
        for token in
            [token, ("CURLEW_METRICS_TOKEN", "1234567890123456"), ("CURLEW_METRICS_TOKEN", "\"0123456789abcdef\"")]
        {
            let access = load(&[("CURLEW_METRICS_LISTEN", listen), token]).unwrap().unwrap();
            assert_eq!(access.token.as_deref(), Some(token.1.trim_matches('"')));
        }
    }
    for (key, wrong) in
        [("LISTEN", "9464"), ("LISTEN", "localhost:9464"), ("TOKEN", "short"), ("TOKEN", "0123456789 abcdef")]
    {
        assert!(load(&[(&format!("CURLEW_METRICS_{key}"), wrong)]).is_err(), "{wrong}");
    }
    let shown = Settings::load(&Flags::default(), env(&[token])).unwrap().effective;
    assert!(!format!("{shown:?}").contains(token.1), "a secret is not shown");
}

#[test]
fn operators_pages_are_on_by_themselves_only_where_nobody_else_reaches_them() {
    let load = |pairs: &[(&str, &str)]| Settings::load(&Flags::default(), env(pairs));
    let on = |pairs: &[(&str, &str)], is_loopback| load(pairs).unwrap().has_admin_pages(is_loopback);
    assert!(on(&[], true) && !on(&[], false));
    let public = ("CURLEW_WEB_BASE_URL", "https://search.example");
    assert!(!on(&[public], true), "a proxy may serve them to everybody");
    assert!(on(&[public, ("CURLEW_ADMIN_ENABLED", "true")], true));
    assert!(!on(&[("CURLEW_ADMIN_ENABLED", "false")], true));
    let header = ("CURLEW_ADMIN_TRUSTED_HEADER", "Remote-User");
    assert!(load(&[header]).unwrap_err().to_string().contains("trusted_proxies"));
    let proxies = ("CURLEW_WEB_TRUSTED_PROXIES", "[\"127.0.0.1/32\"]");
    assert!(load(&[header, proxies]).is_ok());
    for wrong in ["", "Remote User", "Cookie", "X-Forwarded-For"] {
        assert!(load(&[("CURLEW_ADMIN_TRUSTED_HEADER", wrong), proxies]).is_err(), "{wrong}");
    }
}

#[test]
fn a_text_takes_the_place_of_the_file_below_environment_and_flags() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("curlew.toml");
    std::fs::write(&path, "contact = \"a@b.example\"\n[web]\ntitle = \"File\"\n").unwrap();
    let flags = Flags { file: Some(path), workers: Some(5), ..Flags::default() };
    let base = Settings::load(&flags, env(&[("CURLEW_RULES_BURST", "8")])).unwrap();
    let text = "workers = 9\npaused = true\n[rules]\nburst = 9\nwebsub = false\n[web]\ntitle = \"Text\"\n";
    let over = base.over_text("there", text).unwrap();
    assert_eq!((over.workers, over.rules.burst, over.rules.websub, over.paused), (5, 8, false, true));
    assert_eq!((over.web.title.as_deref(), over.contact), (Some("Text"), None), "of the file nothing is left");
    assert!(base.have_file() && !Settings::load(&Flags::default(), env(&[])).unwrap().have_file());
    let wrong = base.over_text("there", "[web]\ntitel = 1\n").unwrap_err().to_string();
    assert!(wrong.starts_with("there, line 2, column 1: "), "{wrong}");
}

#[test]
fn what_is_for_one_machine_is_refused_for_a_stack() {
    Settings::load(&Flags::default(), env(&[("CURLEW_DATA", "/tmp/notes")])).unwrap().check_for_stack().unwrap();
    let base = Settings::load(&Flags::default(), env(&[])).unwrap();
    for (text, names) in [
        ("data = \"/tmp\"\n", "data is for one machine"),
        ("log = \"json\"\n", "log is"),
        ("[metrics]\nlisten = \"off\"\n", "[metrics] listen is"),
        ("[admin]\nenabled = false\n", "[admin] enabled is"),
        ("[screen]\nimage = \"onnx\"\nmodel = \"card.toml\"\n", "onnx"),
    ] {
        let error = base.over_text("there", text).unwrap().check_for_stack().unwrap_err().to_string();
        assert!(error.contains(names), "{error}");
    }
    base.over_text("there", "[web]\ntitle = \"Notes\"\n[rules]\nburst = 9\n").unwrap().check_for_stack().unwrap();
}

#[test]
fn pausing_changes_one_line_of_a_file() {
    let with = |text: &str, paused| with_paused("there", text, paused);
    assert_eq!(with("", true).unwrap(), "paused = true\n");
    assert_eq!(with("", false).unwrap(), "");
    let text = "# Ours.\nworkers = 9\n\n[web] # pages\ntitle = \"paused = true\"\n";
    let paused = with(text, true).unwrap();
    assert_eq!(paused, format!("paused = true\n{text}"));
    assert_eq!(with(&paused, true).unwrap(), paused);
    assert_eq!(with(&paused, false).unwrap(), text);
    assert_eq!(with("workers = 9\n  paused=false # for now\n", true).unwrap(), "paused = true\nworkers = 9\n");
    assert_eq!(with("paused = true\n", false).unwrap(), "");
    let title = "[web]\ntitle = '''\npaused = true\n'''\n";
    assert_eq!(with(title, true).unwrap(), format!("paused = true\n{title}"), "that is a title");
    assert!(with("\"paused\" = true\n", false).unwrap_err().to_string().contains("by hand"));
    assert!(with("[web\n", true).unwrap_err().to_string().contains("line 1"));
}
