#![allow(clippy::unwrap_used, reason = "a test may panic")]
use super::*;
use tempfile::TempDir;

/// Returns the settings of flags and of these environment variables, named without their prefix.
fn loaded(flags: &Flags, environment: &[(&str, &str)]) -> Result<Settings, BadSettings> {
    Settings::load(flags, environment.iter().map(|(k, v)| (format!("CURLEW_{k}"), (*v).to_owned())))
}

fn load(environment: &[(&str, &str)]) -> Result<Settings, BadSettings> {
    loaded(&Flags::default(), environment)
}

fn refused(environment: &[(&str, &str)]) -> String {
    load(environment).unwrap_err().to_string()
}

/// Returns a file with this text, and the flags that name it.
fn file(text: &str) -> (TempDir, Flags) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("curlew.toml");
    std::fs::write(&path, text).unwrap();
    (dir, Flags { file: Some(path), ..Flags::default() })
}

#[test]
fn flags_override_the_environment_which_overrides_the_file() {
    let text = "workers = 7\ncontact = \"https://a.example/\"\n[rules]\nmin_pause = \"3s\"\nburst = 9\n";
    let (_dir, flags) = file(text);
    let environment = [("WORKERS", "6"), ("RULES_MIN_PAUSE", "2s"), ("SOMETHING", "x"), ("PUBLISH_EVERY", "20m")];
    let config = loaded(&Flags { workers: Some(5), ..flags }, &environment).unwrap();
    assert_eq!((config.workers, config.publish_every), (5, Millis::from_mins(20)));
    assert_eq!((config.rules.min_pause, config.rules.burst), (Millis::from_secs(2), 9));
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
        let (_dir, flags) = file(text);
        let error = loaded(&flags, &[]).unwrap_err().to_string();
        assert!(error.contains(says) && !error.contains('\n'), "{text:?}: {error}");
    }
    let (dir, flags) = file("");
    drop(dir);
    assert!(loaded(&flags, &[]).unwrap_err().to_string().contains("cannot be read"));
}

#[test]
fn a_misspelled_variable_is_refused_and_one_of_another_program_is_not() {
    for (name, meant) in
        [("CONTAC", "CONTACT"), ("RULS_MIN_PAUSE", "RULES_MIN_PAUSE"), ("PUBLISHEVERY", "PUBLISH_EVERY")]
    {
        let error = format!("there is no setting CURLEW_{name}; did you mean CURLEW_{meant}?");
        assert_eq!(refused(&[(name, "1")]), error);
    }
    for other in ["BUCKET", "STACK", "REST_AFTER", "AXE", "MAPPINGS"] {
        assert!(load(&[(other, "1")]).is_ok(), "{other}");
    }
}

#[test]
fn a_contact_is_a_page_or_a_mail_address() {
    for good in ["you@example.org", "https://example.org/bot"] {
        assert!(load(&[("CONTACT", good)]).is_ok(), "{good}");
    }
    for bad in ["you@", "@example.org", "you@example", "you@example.", "https://", "me"] {
        assert!(load(&[("CONTACT", bad)]).is_err(), "{bad}");
    }
}

#[test]
fn a_length_of_time_has_a_unit_in_the_environment_too() {
    for (key, value) in
        [("RULES_MIN_PAUSE", "2"), ("RULES_JITTER", "[1, 2]"), ("LIMITS_PARSE_TIME", "5"), ("PUBLISH_EVERY", "600")]
    {
        let error = refused(&[(key, value)]);
        assert!(error.contains(key) && error.contains("has no unit") && !error.contains('\n'), "{error}");
    }
    // Every rule that is a length of time refuses a number without a unit.
    for (key, value) in toml::Table::try_from(Rules::default()).unwrap() {
        let name = format!("RULES_{}", key.to_uppercase());
        let takes = |value: &str| load(&[(&name, value)]).map_err(|e| e.to_string());
        let is_length = takes("1h").err().is_none_or(|error| error.contains("[rules]"));
        assert!(!is_length || takes("1").is_err_and(|error| error.contains("has no unit")), "{key}: {value}");
    }
}

#[test]
fn u01_u02_the_machine_s_own_services_are_refused_in_an_opened_network() {
    let flags = Flags { allow_net: vec!["127.0.0.0/8".parse().unwrap()], ..Flags::default() };
    let guard = loaded(&flags, &[]).unwrap().guard;
    assert_eq!(guard.refused_endpoints.len(), REFUSED_ENDPOINTS.len());
    let vet = |url: &str| curlew_fetcher::guard::vet_url(url, &guard);
    assert!(vet("http://127.0.0.1:9001/2018-06-01/runtime/invocation/next").is_err());
    assert!(vet("http://127.0.0.1:9002/").is_ok());
}

#[test]
fn f13_hubs_are_told_an_address_over_https_or_none() {
    let base = |environment: &[(&str, &str)]| load(environment).unwrap().hub_base();
    let (https, http) = (("WEB_BASE_URL", "https://Search.example/"), ("WEB_BASE_URL", "http://own/"));
    assert_eq!(base(&[https]).as_deref(), Some("https://search.example"));
    assert_eq!((base(&[]), base(&[http]), base(&[https, ("RULES_WEBSUB", "false")])), (None, None, None));
    assert_eq!(base(&[http, ("RULES_WEBSUB_WITHOUT_TLS", "true")]).as_deref(), Some("http://own"));
}

#[test]
fn i01_requests_are_signed_as_the_mode_says_and_only_where_sites_reach_the_keys() {
    let mode = |mode| load(&[("SIGNATURES_MODE", mode)]).map(|settings| settings.signatures);
    assert_eq!(load(&[]).unwrap().signatures, Some(SignatureMode::Asked));
    for (name, signs) in [("asked", Some(SignatureMode::Asked)), ("always", Some(SignatureMode::Always)), ("off", None)]
    {
        assert_eq!(mode(name).unwrap(), signs, "{name}");
    }
    assert!(mode("often").unwrap_err().to_string().contains("'always', not 'often'"));
    let agent = |base| load(&[("WEB_BASE_URL", base)]).unwrap().signature_agent().map(String::from);
    assert_eq!(agent("https://search.example").as_deref(), Some("https://search.example/"));
    assert_eq!(agent("http://search.example"), None);
}

#[test]
fn lists_come_from_the_environment_too() {
    let settings = load(&[
        ("EXCLUDE_SUBSTRINGS", "[\"/text/\"]"),
        ("EXCLUDE_EXTENSIONS", "['pdf']"),
        ("ROBOTS_IGNORED_HOSTS", "[\"own.example\"]"),
        ("ALLOW_NET", "127.0.0.0/8, 10.0.0.0/8"),
        ("RESOLVE", "*.test=127.0.0.1:8000"),
    ])
    .unwrap();
    let url = |text: &str| Url::parse(text).unwrap();
    assert!(settings.scope.excludes(&url("https://a.example/text/b")).is_some());
    assert!(settings.scope.excludes(&url("https://a.example/b.pdf")).is_some());
    assert!(settings.scope.robots_ignored.contains(&url("https://own.example/")));
    assert_eq!((settings.guard.allow_nets.len(), settings.guard.resolve.len()), (2, 1));
    let plain = load(&[]).unwrap().scope;
    assert!(plain.exclusions.is_empty() && plain.robots_ignored.is_empty() && plain.meta_ignored.is_empty());
}

#[test]
fn settings_of_the_search_page_are_checked() {
    let of = |key: &str, value: &str| load(&[(key, value)]).map(|settings| settings.web).map_err(|e| e.to_string());
    let secret = of("WEB_FRONT_SECRET", "0123456789abcdef01234567").unwrap().front_secret;
    assert_eq!(secret.unwrap().len(), 24);
    for bad in ["short", "0123456789abcdef 01234567"] {
        assert!(of("WEB_FRONT_SECRET", bad).unwrap_err().contains("openssl rand"), "{bad}");
    }
    let searches = load(&[("WEB_SEARCHES_PER_MINUTE", "900")]).unwrap().pages([0; 32]).searches_per_minute;
    assert_eq!(searches, 900);
    let none = of("WEB_SEARCHES_PER_MINUTE", "0").unwrap_err();
    assert!(none.to_lowercase().contains("searches_per_minute"), "{none}");
    let ranges = of("WEB_TRUSTED_PROXIES", "[\"127.0.0.1/32\", \"2001:db8::/32\"]").unwrap().trusted_proxies;
    assert_eq!(ranges, ["127.0.0.1/32", "2001:db8::/32"].map(|range| range.parse::<IpNet>().unwrap()));
    assert!(of("WEB_TRUSTED_PROXIES", "[\"proxy.example\"]").is_err());
    assert!(load(&[]).unwrap().web.trusted_proxies.is_empty());
}

#[test]
fn each_effective_setting_names_the_layer_that_decides_it() {
    let (_dir, flags) =
        file("workers = 7\nlog = \"json\"\n[rules]\nburst = 9\njitter = [\"1s\", \"2s\"]\n[web]\ntitle = \"Notes\"\n");
    let flags = Flags { workers: Some(5), ..flags };
    let first = loaded(&flags, &[("RULES_BURST", "8"), ("WEB_TITLE", "Notes"), ("NETWORK_PORTS", "[80]")]).unwrap();
    let all = &first.effective;
    for (table, key, value, origin) in [
        ("", "workers", "5", Origin::Flag),
        ("", "log", "\"json\"", Origin::File),
        ("", "publish_every", "\"10m\"", Origin::Default),
        ("rules", "burst", "8", Origin::Environment),
        ("rules", "jitter", "[\"1s\", \"2s\"]", Origin::File),
        ("rules", "min_pause", "\"1s\"", Origin::Default),
        // The environment states the same value.
        ("web", "title", "\"Notes\"", Origin::File),
        ("network", "ports", "[80]", Origin::Environment),
        ("screen", "image", "\"auto\"", Origin::Default),
    ] {
        let found: Vec<_> = all.iter().filter(|s| (s.table.as_str(), s.key.as_str()) == (table, key)).collect();
        let [setting] = found[..] else { panic!("{table} {key}: {found:?}") };
        assert_eq!((setting.value.to_string().as_str(), setting.origin), (value, origin), "{table} {key}");
    }
    assert!(all.iter().all(|setting| setting.key != "contact"), "it has no value");
    assert!(loaded(&flags, &[("WORKERS", "x")]).is_err());
    // A file with all effective settings gives the same settings.
    let (mut text, mut table) = (String::new(), "");
    for setting in all {
        if setting.table != table {
            table = &setting.table;
            text += &format!("[{table}]\n");
        }
        text += &format!("{} = {}\n", setting.key, setting.value);
    }
    let (_dir, flags) = file(&text);
    let copy = loaded(&flags, &[]).unwrap();
    assert_eq!((copy.rules, copy.workers, copy.web.title), (first.rules, first.workers, first.web.title));
}

#[test]
fn a_setting_that_is_gone_is_refused_with_a_sentence() {
    for (name, value, says) in [
        ("TRACING_OTLP", "http://127.0.0.1:4318", "[tracing] is gone"),
        ("PREFERENCES_AIPREF", "draft-2026-09", "[preferences] is gone"),
    ] {
        let error = refused(&[(name, value)]);
        assert!(error.contains(says) && error.contains("remove it"), "{error}");
    }
}

#[test]
fn metrics_are_for_this_machine_unless_a_token_is_set() {
    let access = |environment: &[(&str, &str)]| load(environment).map(|settings| settings.metrics);
    let usual = access(&[]).unwrap().unwrap();
    assert!(usual.listen.ip().is_loopback() && usual.token.is_none());
    assert_eq!(access(&[("METRICS_LISTEN", "off")]).unwrap(), None);
    for listen in ["0.0.0.0:9464", "[::]:9464", "192.0.2.1:80"] {
        let listen = ("METRICS_LISTEN", listen);
        let error = refused(&[listen]);
        assert!(error.contains("[metrics] token must be set"), "{error}");
        for token in ["0123456789abcdef", "1234567890123456", "\"0123456789abcdef\""] {
            let access = access(&[listen, ("METRICS_TOKEN", token)]).unwrap().unwrap();
            assert_eq!(access.token.as_deref(), Some(token.trim_matches('"')));
        }
    }
    for wrong in [
        ("METRICS_LISTEN", "9464"),
        ("METRICS_LISTEN", "localhost:9464"),
        ("METRICS_TOKEN", "short"),
        ("METRICS_TOKEN", "0123456789 abcdef"),
    ] {
        assert!(load(&[wrong]).is_err(), "{wrong:?}");
    }
}

#[test]
fn secrets_are_not_shown_and_may_be_digits_alone() {
    let secret = "012345678901234567890123";
    let set = [("METRICS_TOKEN", secret), ("WEB_FRONT_SECRET", secret)];
    let shown = load(&set).unwrap().effective;
    assert!(!format!("{shown:?}").contains(secret), "{shown:?}");
    let secrets = shown.iter().filter(|one| one.key.contains("token") || one.key.contains("secret"));
    assert_eq!(secrets.map(|one| one.value.as_str()).collect::<Vec<_>>(), [Some("(hidden)"); 2]);
}

#[test]
fn operators_pages_are_on_by_themselves_only_where_nobody_else_reaches_them() {
    let on = |environment: &[(&str, &str)], is_loopback| load(environment).unwrap().has_admin_pages(is_loopback);
    assert!(on(&[], true) && !on(&[], false));
    let public = ("WEB_BASE_URL", "https://search.example");
    assert!(!on(&[public], true), "a proxy may serve them to everybody");
    assert!(on(&[public, ("ADMIN_ENABLED", "true")], true));
    assert!(!on(&[("ADMIN_ENABLED", "false")], true));
    let (header, proxies) = (("ADMIN_TRUSTED_HEADER", "Remote-User"), ("WEB_TRUSTED_PROXIES", "[\"127.0.0.1/32\"]"));
    assert!(refused(&[header]).contains("trusted_proxies"));
    assert!(load(&[header, proxies]).is_ok());
    for wrong in ["", "Remote User", "Cookie", "X-Forwarded-For"] {
        assert!(load(&[("ADMIN_TRUSTED_HEADER", wrong), proxies]).is_err(), "{wrong}");
    }
}

#[test]
fn a_text_takes_the_place_of_the_file_below_environment_and_flags() {
    let (_dir, flags) = file("contact = \"a@b.example\"\n[web]\ntitle = \"File\"\n");
    let base = loaded(&Flags { workers: Some(5), ..flags }, &[("RULES_BURST", "8")]).unwrap();
    let text = "workers = 9\npaused = true\n[rules]\nburst = 9\nwebsub = false\n[web]\ntitle = \"Text\"\n";
    let over = base.over_text("there", text).unwrap();
    assert_eq!((over.workers, over.rules.burst, over.rules.websub, over.paused), (5, 8, false, true));
    assert_eq!((over.web.title.as_deref(), over.contact), (Some("Text"), None), "of the file nothing is left");
    assert!(base.have_file() && !load(&[]).unwrap().have_file());
    let wrong = base.over_text("there", "[web]\ntitel = 1\n").unwrap_err().to_string();
    assert!(wrong.starts_with("there, line 2, column 1: "), "{wrong}");
}

#[test]
fn what_is_for_one_machine_is_refused_for_a_stack() {
    load(&[("DATA", "/tmp/notes")]).unwrap().check_for_stack().unwrap();
    let base = load(&[]).unwrap();
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
    let text = "# Ours.\nworkers = 9\n\n[web] # pages\ntitle = \"paused = true\"\n";
    let title = "[web]\ntitle = '''\npaused = true\n'''\n";
    let [text_paused, title_paused] = [text, title].map(|text| format!("paused = true\n{text}"));
    for (before, paused, after) in [
        ("", true, "paused = true\n"),
        ("", false, ""),
        (text, true, &text_paused),
        (&text_paused, true, &text_paused),
        (&text_paused, false, text),
        ("workers = 9\n  paused=false # for now\n", true, "paused = true\nworkers = 9\n"),
        ("paused = true\n", false, ""),
        (title, true, &title_paused),
    ] {
        assert_eq!(with_paused("there", before, paused).unwrap(), after, "{before:?}");
    }
    for (text, paused, why) in [("\"paused\" = true\n", false, "by hand"), ("[web\n", true, "line 1")] {
        assert!(with_paused("there", text, paused).unwrap_err().to_string().contains(why), "{text:?}");
    }
}
