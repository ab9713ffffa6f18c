//! Spans: the real program exports them, and what it exports is read with OpenTelemetry's own declarations.

use curlew_tests::{Receiver, Store, Web};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind};
use prost::Message;
use std::collections::BTreeSet;
use std::net::TcpListener;

/// A site that publishes.
const HOST: &str = "harbour-lantern.test";
/// Where collectors take spans.
const PATH: &str = "/v1/traces";
const AUTHORIZATION: &str = "Basic Y3VybGV3Omh1c2g=";
const CONTACT: &str = "https://operator.test/hush";

fn configure(store: &mut Store, collector: &str) {
    store.configure(&format!(
        "contact = \"{CONTACT}\"\n[rules]\npoll_on_request = \"1s\"\n\
         [tracing]\notlp = \"{collector}\"\nauthorization = \"{AUTHORIZATION}\"\n"
    ));
}

fn requests(receiver: &Receiver) -> Vec<ExportTraceServiceRequest> {
    let posts = receiver.posts(PATH);
    posts.iter().map(|post| ExportTraceServiceRequest::decode(post.body.as_slice()).unwrap()).collect()
}

fn spans(receiver: &Receiver) -> Vec<Span> {
    let resources = requests(receiver).into_iter().flat_map(|request| request.resource_spans);
    resources.flat_map(|of| of.scope_spans).flat_map(|of| of.spans).collect()
}

fn value(attributes: &[KeyValue], key: &str) -> Option<Value> {
    attributes.iter().find(|of| of.key == key)?.value.clone()?.value
}

fn text(text: &str) -> Option<Value> {
    Some(Value::StringValue(text.to_owned()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn one_trace_leads_from_the_poll_of_a_feed_to_the_index() {
    let (web, receiver) = (Web::demo(), Receiver::start());
    let mut store = Store::brisk(&web);
    configure(&mut store, &format!("http://{}", receiver.addr()));
    store.crawl(&[format!("http://{HOST}/")]);
    let fresh = web.publish(HOST, 1).remove(0);
    store.run(&["poll", HOST]).ok();
    let told = store.run(&["trace", &fresh, "--json"]).ok().json();
    let (trace, state) = (told["trace"].as_str().unwrap(), &told["state"]);
    assert_eq!(state, "accepted");

    let all = spans(&receiver);
    let of_page: Vec<&Span> = all.iter().filter(|span| hex(&span.trace_id) == trace).collect();
    let begun = |name: &str| {
        let runs = of_page.iter().filter(|span| span.name == name && span.parent_span_id.is_empty());
        runs.map(|span| span.start_time_unix_nano).min().unwrap_or_else(|| panic!("{name} is not in {of_page:#?}"))
    };
    let order = ["poll", "extract", "index"].map(begun);
    assert!(order.is_sorted(), "{order:?}");
    let call = of_page.iter().find(|span| value(&span.attributes, "url.full") == text(&fresh)).unwrap();
    assert_eq!((call.name.as_str(), call.kind()), ("call page", SpanKind::Client));
    assert_eq!(value(&call.attributes, "http.response.status_code"), Some(Value::IntValue(200)));
    let run = of_page.iter().find(|span| span.span_id == call.parent_span_id).unwrap();
    // The first new pages are fetched by the poll itself.
    assert_eq!((run.name.as_str(), run.kind()), ("poll", SpanKind::Consumer));
    assert!(run.start_time_unix_nano <= call.start_time_unix_nano && call.end_time_unix_nano <= run.end_time_unix_nano);

    // Spans have ids of their own, and no parent in another trace.
    let ids: BTreeSet<&[u8]> = all.iter().map(|span| span.span_id.as_slice()).collect();
    assert!(ids.len() == all.len() && ids.iter().all(|id| id.len() == 8));
    for child in all.iter().filter(|span| !span.parent_span_id.is_empty()) {
        let parent = all.iter().find(|span| span.span_id == child.parent_span_id).unwrap();
        assert_eq!((&parent.trace_id, &child.status), (&child.trace_id, &None));
    }
    let roots: BTreeSet<&str> =
        all.iter().filter(|span| span.parent_span_id.is_empty()).map(|span| span.name.as_str()).collect();
    assert_eq!(roots, ["discover", "extract", "index", "poll"].into());

    // Everything that leaves the machine is on this list, and no secret is among it.
    let keys: BTreeSet<&str> = all.iter().flat_map(|span| &span.attributes).map(|of| of.key.as_str()).collect();
    assert_eq!(keys, ["http.response.status_code", "server.address", "url.full"].into());
    assert!(all.iter().all(|span| span.events.is_empty() && span.links.is_empty()));
    for request in requests(&receiver) {
        for of in &request.resource_spans {
            let resource = &of.resource.as_ref().unwrap().attributes;
            assert_eq!(value(resource, "service.name"), text("curlew"));
            let keys: Vec<&str> = resource.iter().map(|of| of.key.as_str()).collect();
            assert_eq!(keys, ["service.name", "service.version", "process.pid"]);
        }
    }
    for post in receiver.posts(PATH) {
        assert_eq!(post.header("authorization"), Some(AUTHORIZATION));
        assert_eq!(post.header("content-type"), Some("application/x-protobuf"));
        let body = String::from_utf8_lossy(&post.body);
        assert!(!body.contains("hush") && !body.contains("operator.test"), "{body}");
    }
}

#[test]
fn a_collector_that_is_away_hangs_or_refuses_costs_the_crawl_nothing() {
    let web = Web::demo();
    let sites = [format!("http://{HOST}/")];
    let accepted = Store::brisk(&web).crawl(&sites)["accepted"].as_u64().unwrap();
    assert!(accepted > 0);
    let refusing = Receiver::start();
    refusing.refuse(true);
    // It listens, and never answers.
    let hanging = TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (collector, said) in [
        (gone, "the collector takes no spans"),
        (hanging.local_addr().unwrap(), "could not be exported"),
        (refusing.addr(), "the collector refuses spans"),
    ] {
        let mut store = Store::brisk(&web);
        configure(&mut store, &format!("http://{collector}"));
        let ran = store.start_crawl(&sites).wait(curlew_tests::LIMIT).ok();
        assert_eq!(ran.json()["accepted"].as_u64(), Some(accepted), "{ran:?}");
        assert!(ran.stderr.contains(said) && ran.stderr.contains("are lost"), "{said}: {}", ran.stderr);
        assert!(!ran.stderr.contains("hush") && !ran.stderr.contains(AUTHORIZATION), "{}", ran.stderr);
    }
}
