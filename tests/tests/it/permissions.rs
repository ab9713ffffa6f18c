//! Compares `infra/permissions.md`, which gives the reason for each permission of each role, with the roles of the
//! template. Every permission needs a reason and every reason needs the permission, resource by resource.

use curlew_tests::read;
use std::collections::BTreeSet;

/// Role, action and resource, spelled as in the table.
type Rights = BTreeSet<(String, String, String)>;

/// Returns the rows of the table.
fn explained(table: &str) -> Rights {
    let mut rights = Rights::new();
    for line in table.lines().filter(|line| line.starts_with("| ") && line.contains("`")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        assert!(cells.len() == 4 && !cells[3].is_empty(), "no four cells, or no reason: {line}");
        let [role, action, resource] = [0, 1, 2].map(|n| cells[n].trim_matches('`').to_owned());
        assert!(rights.insert((role, action, resource)), "a right is explained twice: {line}");
    }
    rights
}

/// Returns the permissions that the statements of each role grant.
fn granted(template: &str) -> Rights {
    let mut rights = Rights::new();
    let mut role = None;
    let mut statement = String::new();
    // A statement ends where the next one begins. The last statement of a role ends at the next resource.
    for line in template.lines().chain(["  End:"]) {
        let head = line.strip_prefix("  ").filter(|rest| !rest.starts_with([' ', '#']) && !rest.is_empty());
        let begins = line.trim_start().trim_start_matches("- {").trim_start_matches("- ").starts_with("Effect:");
        if head.is_some() || begins {
            let given = std::mem::take(&mut statement);
            if let Some(role) = role.as_deref().filter(|_| !given.is_empty()) {
                rights.extend(rights_of(role, &given));
            }
        }
        match head {
            Some(name) => role = name.strip_suffix("Role:").map(str::to_lowercase),
            None if begins => statement = line.to_owned(),
            None if !statement.is_empty() && !line.trim_start().starts_with('#') => {
                statement.push('\n');
                statement.push_str(line);
            }
            None => {}
        }
    }
    rights
}

/// Returns the permissions of one statement: each action on each resource, restricted by the keys or prefixes in the
/// statement's condition.
fn rights_of(role: &str, statement: &str) -> Rights {
    // This statement only says who may assume the role.
    if statement.contains("Principal:") {
        return Rights::new();
    }
    let (rest, condition) = statement.split_once("Condition:").unwrap_or((statement, ""));
    let (actions, resources) = rest.split_once("Resource:").expect("a statement names resources");
    let actions = quoted(actions.split_once("Action:").expect("a statement names actions").1);
    let mut narrowed = BTreeSet::new();
    let keys: Vec<&str> = condition.split_once('[').map(|(_, list)| quoted(list)).unwrap_or_default();
    for resource in resources.split(['\n', '[', ',']).filter_map(resource) {
        if keys.is_empty() {
            narrowed.insert(resource);
        } else {
            narrowed.extend(keys.iter().map(|keys| format!("{resource}/{keys}")));
        }
    }
    assert!(!actions.is_empty() && !narrowed.is_empty(), "a statement of {role} is not understood:\n{statement}");
    let pairs = actions.iter().flat_map(|action| narrowed.iter().map(move |resource| (*action, resource)));
    pairs.map(|(action, resource)| (role.to_owned(), action.to_owned(), resource.clone())).collect()
}

/// Returns a resource as the table spells it: its logical id, followed by a slash and the prefix of the keys, if any.
fn resource(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches("- ").trim_end_matches(['}', ']']).trim();
    if let Some(name) = text.strip_prefix("!GetAtt ") {
        let mapping = || name.strip_suffix(".EventSourceMappingArn");
        return name.strip_suffix(".Arn").or_else(mapping).map(str::to_owned);
    }
    if let Some(name) = text.strip_prefix("!Ref ").and_then(|name| name.strip_suffix(".Alias")) {
        return Some(format!("{name}:live"));
    }
    // A role may name a function by its ARN instead of a reference.
    if let Some((_, name)) = text.strip_suffix('"').and_then(|text| text.split_once(":function:${AWS::StackName}-")) {
        let (first, rest) = name.split_at_checked(1)?;
        return Some(format!("{}{}", first.to_uppercase(), rest.replacen(':', "Function:", 1)));
    }
    let sub = text.strip_prefix("!Sub \"${").and_then(|rest| rest.strip_suffix('"'));
    if let Some((name, keys)) = sub.and_then(|rest| rest.split_once(".Arn}")) {
        return Some(format!("{name}{keys}"));
    }
    (text == "\"*\"").then(|| "*".to_owned())
}

fn quoted(text: &str) -> Vec<&str> {
    text.split('"').skip(1).step_by(2).collect()
}

#[test]
fn every_right_of_a_role_has_its_reason() {
    let (granted, explained) = (granted(&read("infra/template.yaml")), explained(&read("infra/permissions.md")));
    let roles: BTreeSet<&String> = granted.iter().map(|(role, _, _)| role).collect();
    assert!(roles.len() >= 10, "the template must have a role for each function and schedule: {roles:?}");
    let unexplained: Vec<_> = granted.difference(&explained).collect();
    let ungranted: Vec<_> = explained.difference(&granted).collect();
    assert!(
        unexplained.is_empty() && ungranted.is_empty(),
        "unexplained: {unexplained:#?}\nnot granted: {ungranted:#?}"
    );
}

fn resource_named<'a>(template: &'a str, name: &str) -> &'a str {
    let text = template.split_once(&format!("\n  {name}:\n")).unwrap_or_else(|| panic!("no {name}")).1;
    text.split("\n\n").next().unwrap_or(text)
}

#[test]
fn the_bucket_and_every_queue_want_tls_and_the_secret_is_never_replaced() {
    let template = read("infra/template.yaml");
    let policy = resource_named(&template, "QueuesPolicy");
    let queues: Vec<&str> = template
        .match_indices(":\n    Type: AWS::SQS::Queue\n")
        .map(|(at, _)| template[..at].rsplit(' ').next().unwrap_or_default())
        .collect();
    assert_eq!(queues.len(), 11, "{queues:?}");
    for queue in queues {
        assert!(policy.contains(&format!("- !Ref {queue}\n")), "{queue} takes messages without TLS");
    }
    let bucket = template.split_once("\n  DataBucketPolicy:\n").unwrap().1.split_once("# ---- Logs").unwrap().0;
    for policy in [policy, bucket] {
        assert!(policy.contains("Condition: {Bool: {\"aws:SecureTransport\": \"false\"}}"), "{policy}");
    }
    let secret = bucket.split_once("Sid: OnlyFirstSecret").unwrap().1;
    assert!(
        secret.contains("web-secret\"\n            Condition: {\"Null\": {\"s3:if-none-match\": \"true\"}}"),
        "{secret}"
    );
    // Only the search page may write the secret at all, and it may not read the whole folder of settings.
    let granted = granted(&template);
    assert_eq!(writers(&granted, "web-secret"), BTreeSet::from(["web".to_owned()]));
    assert!(!granted.contains(&("web".to_owned(), "s3:GetObject".into(), "DataBucket/config/*".into())));
}

/// Objects that make up the index, and objects with the stored data of pages and claims, with the roles that may write
/// or delete them. The operators' role is left out.
const WRITERS: [(&str, &[&str]); 8] = [
    ("manifests/*", &["index", "remove"]),
    ("splits/*", &["index"]),
    ("segments/*", &["extract", "index", "remove"]),
    ("raw/*", &["extract", "index", "remove", "sample"]),
    ("audit/*", &["index", "remove"]),
    ("owners/*", &["remove", "sample", "web"]),
    ("hidden-hosts.json", &["remove", "web"]),
    // A visit of its own that fetches an image also stores the thumbnail.
    ("thumbnails/*", &["fetch", "index", "remove"]),
];
/// Roles that read documents from strangers on the web.
const READERS: [&str; 3] = ["discover", "poll", "fetch"];

/// Returns the roles that may write or delete objects with these keys in the data bucket.
fn writers(granted: &Rights, keys: &str) -> BTreeSet<String> {
    let all = format!("DataBucket/{keys}");
    let writes = |action: &str| matches!(action, "s3:PutObject" | "s3:DeleteObject");
    granted.iter().filter(|(_, action, on)| writes(action) && *on == all).map(|(role, ..)| role.clone()).collect()
}

#[test]
fn what_reads_documents_of_strangers_writes_neither_index_nor_records() {
    let template = read("infra/template.yaml");
    let whole = granted(&template);
    for (keys, roles) in WRITERS {
        assert_eq!(writers(&whole, keys), roles.iter().map(|role| (*role).to_owned()).collect(), "{keys}");
        let readers = READERS.iter().filter(|role| roles.contains(role)).count();
        assert_eq!(readers, usize::from(keys == "thumbnails/*"), "{keys}");
    }
    let wide = |on: &str| matches!(on, "DataBucket" | "DataBucket/*" | "*");
    let writes = whole.iter().filter(|(_, action, _)| action.starts_with("s3:") && !action.ends_with("ListBucket"));
    assert_eq!(writes.filter(|(.., on)| wide(on)).count(), 0, "no role may write the whole bucket");
    for role in READERS {
        assert!(whole.contains(&(role.to_owned(), "sqs:SendMessage".into(), "RemoveQueue".into())), "{role}");
        // The test must notice if such a role is given the permission.
        let given = template.replacen(&format!("PolicyName: curlew-{role}\n"), &format!("PolicyName: curlew-{role}\n\
             \u{20}         PolicyDocument:\n\
             \u{20}           Statement:\n\
             \u{20}             - {{Effect: Allow, Action: [\"s3:PutObject\"], Resource: !Sub \"${{DataBucket.Arn}}/manifests/*\"}}\n"), 1);
        assert!(writers(&granted(&given), "manifests/*").contains(role), "{role}");
    }
}

#[test]
fn a_right_on_another_resource_or_other_keys_is_seen() {
    let template = read("infra/template.yaml");
    let whole = granted(&template);
    for (from, to) in [
        ("Resource: !GetAtt SourcesTable.Arn", "Resource: !GetAtt PagesTable.Arn"),
        ("\"dynamodb:LeadingKeys\": [\"m#*\"]", "\"dynamodb:LeadingKeys\": [\"h#*\"]"),
        ("!GetAtt PollFunctionJobs.EventSourceMappingArn", "!GetAtt FetchFunctionJobs.EventSourceMappingArn"),
        ("\"${DataBucket.Arn}/audit/*\"", "\"${DataBucket.Arn}/owners/*\""),
        ("\"s3:prefix\": [\"claims/*\"]", "\"s3:prefix\": [\"claims/*\", \"segments/*\"]"),
    ] {
        assert!(template.contains(from), "{from}");
        assert_ne!(granted(&template.replacen(from, to, 1)), whole, "{to}");
    }
}
