//! Calls the tools for assistants with an independent client: over standard input and output and over HTTP, with the
//! handshake of older clients and without it.

use crate::commands::urls;
use curlew_tests::{Child, LIMIT, Server, Store, Web, named};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// Python program that calls tools, given as JSON, in one session, and prints the answers.
const CALL: &str = r#"
import asyncio, json, sys
from mcp import Client, StdioServerParameters
job = json.load(sys.stdin)
server = job.get("url") or StdioServerParameters(command=job["program"][0], args=job["program"][1:], env=job["env"])
async def main():
    async with Client(server, mode=job["mode"]) as client:
        tools = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
        answers = []
        for name, arguments in job["calls"]:
            result = await client.call_tool(name, arguments)
            text = "".join(block.text for block in result.content)
            answers.append({"error": text} if result.is_error else result.structured_content)
        print(json.dumps({"tools": tools, "answers": answers}))
asyncio.run(main())
"#;

/// Calls tools of a server, given as a URL or a program, and returns the schemas of all tools and the answers.
fn call(mut job: Value, mode: &str, calls: &Value) -> Value {
    job["mode"] = json!(mode);
    job["calls"] = calls.clone();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), job.to_string()).unwrap();
    let mut python = Command::new(named("CURLEW_MCP_PYTHON", ".tools/mcp/bin/python"));
    python.args(["-c", CALL]).stdin(Stdio::from(file.reopen().unwrap()));
    Child::spawn(python).wait(LIMIT).ok().json()
}

#[test]
fn an_assistant_searches_over_both_transports() {
    let web = Web::demo();
    let mut store = Store::brisk(&web);
    let site = web.farm().site("short-quotes.test").unwrap();
    store.crawl(std::slice::from_ref(&site.start_url));
    let without = Server::start(&store);
    assert_eq!(without.get("/mcp").status, 404, "the endpoint is off by default");
    without.stop();
    store.configure("[web]\nmcp = true\n");
    let server = Server::start(&store);

    let command = store.command(&["mcp"]);
    let mut program = vec![command.get_program().to_str().unwrap()];
    program.extend(command.get_args().map(|argument| argument.to_str().unwrap()));
    let env: serde_json::Map<String, Value> = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), json!(value?.to_str()?))))
        .collect();
    let streams = json!({"program": program, "env": env});
    let http = json!({"url": server.url("/mcp")});
    let records = store.records();
    let no_copy = records.iter().find(|record| record["no_archive"] == true).unwrap();
    let short = records.iter().find(|record| record["snippet_limit"] == 60).unwrap();
    let whole = records.iter().find(|r| r["no_archive"] == false && r["snippet_limit"].is_null()).unwrap();
    let calls = json!([
        ["search", {"query": "site:short-quotes.test", "limit": 2}],
        ["newest", {"site": "short-quotes.test", "limit": 100}],
        ["sites", {"filter": "quotes"}],
        ["page", {"address": whole["url"]}],
        ["page", {"address": short["url"]}],
        ["page", {"address": no_copy["url"]}],
        ["page", {"address": "https://nowhere.test/"}],
        ["search", {"query": "orchard", "limit": 1000}],
        ["search", {"words": "orchard"}],
    ]);
    for (transport, mode) in [(&streams, "auto"), (&http, "auto"), (&streams, "legacy"), (&http, "legacy")] {
        let said = call(transport.clone(), mode, &calls);
        let names: Vec<&String> = said["tools"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["newest", "page", "search", "sites"], "{mode}");
        assert_eq!(said["tools"]["search"]["required"], json!(["query"]));
        let [found, newest, sites, page, cut, withheld, nowhere, too_many, misnamed] =
            said["answers"].as_array().unwrap().as_slice()
        else {
            panic!("{said}");
        };
        assert_eq!((&found["total"], found["hits"].as_array().map(Vec::len)), (&json!(6), Some(2)), "{found}");
        assert!(found["next"].is_string(), "{found}");
        assert_eq!(urls(newest["hits"].as_array().unwrap()), urls(&records));
        assert_eq!((&sites["total"], &sites["sites"][0]["host"]), (&json!(1), &json!("short-quotes.test")));
        assert_eq!((&page["text"], &page["title"]), (&whole["text"], &whole["title"]));
        assert_eq!(cut["text"].as_str().unwrap().chars().count(), 60);
        assert_eq!(withheld["text"], Value::Null);
        assert!(withheld["withheld"].as_str().unwrap().contains("noarchive"), "{withheld}");
        assert!(nowhere["error"].as_str().unwrap().contains("no page at this address"), "{nowhere}");
        assert_eq!(too_many["error"], "limit must be a number from 1 to 100.");
        assert!(misnamed["error"].as_str().unwrap().contains("unknown field `words`"), "{misnamed}");
    }
}
