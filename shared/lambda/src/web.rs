//! The function behind the search page's URL: the unchanged router of `curlew-web`.

use crate::cold::Cold;
use crate::failure::Failure;
use crate::in_force::InForce;
use crate::meter::Meter;
use crate::range_cache::{FolderRangeCache, RANGE_CACHE_BYTES};
use crate::serve::{Answer, serve};
use crate::stored_status::StoredStatus;
use curlew_app::program::Program;
use curlew_app::{Settings, web_secret};
use curlew_catalog::find::Finder;
use curlew_ports::stage::with_causes;
use curlew_web::{Caller, PageSettings, Services, router};
use lambda_http::request::{LambdaRequest, RequestContext};
use lambda_http::{Adapter, LambdaEvent, Request, RequestExt, Service, service_fn};
use lambda_runtime::Context;
use serde::Serialize;
use serde_json::{Value, json};
use std::net::IpAddr;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::sync::Mutex;
use tower::ServiceExt;

/// Seconds until a refused browser should retry: about the duration of a gradual deployment.
const COME_AGAIN_S: u32 = 600;

/// Header in which the CDN sends the secret `[web] front_secret`.
const FRONT: &str = "x-curlew-front";
/// Header in which CloudFront states the address and port of its caller.
const VIEWER: &str = "cloudfront-viewer-address";

/// Runs the search page behind a function URL (payload format 2.0).
pub async fn web() -> ExitCode {
    let opened = &Mutex::new(None);
    serve("web", |call| async move {
        if let Some(why) = call.refusal {
            return Ok(Answer::new(refusal(&why)));
        }
        // Opened here and not at the start: settings and secret are in the bucket, and a cold start makes no request.
        let opened = opened_for(&call.cold, call.in_force.clone(), opened).await?;
        answered(&opened.pages, call.payload).await.map(Answer::new)
    })
    .await
}

/// The search page with the settings it was opened with.
#[derive(Clone)]
struct Opened {
    of: Arc<InForce>,
    pages: Pages,
}

/// The pages, and the condition for access to them.
#[derive(Clone)]
struct Pages {
    router: axum::Router,
    /// The CDN's secret. If it is set, all callers must come through the CDN.
    front: Option<Arc<str>>,
}

/// Response of the function, as Lambda passes it on.
#[derive(Serialize)]
#[serde(untagged)]
enum WebAnswer<P> {
    Page(P),
    /// Response to a request while all work is refused.
    Refusal(Value),
}

/// Returns the page for these settings; reuses that of the last invocation if they have not changed.
async fn opened_for(cold: &Cold, in_force: Arc<InForce>, opened: &Mutex<Option<Opened>>) -> Result<Opened, Failure> {
    let mut opened = opened.lock().await;
    if let Some(known) = opened.as_ref().filter(|known| Arc::ptr_eq(&known.of, &in_force)) {
        return Ok(known.clone());
    }
    let router = open(cold, &in_force.settings).await?;
    let front = in_force.settings.web.front_secret.as_deref().map(Arc::from);
    Ok(opened.insert(Opened { of: in_force, pages: Pages { router, front } }).clone())
}

async fn answered(pages: &Pages, event: Value) -> Result<WebAnswer<impl Serialize + use<>>, Failure> {
    let wrong = |error| Failure::Event(format!("the event is no request to the page: {error}"));
    let request: LambdaRequest = serde_json::from_value(event).map_err(wrong)?;
    let pages = pages.clone();
    let mut page = Adapter::from(service_fn(move |request| answer(pages.clone(), request)));
    page.call(LambdaEvent::new(request, Context::default())).await.map(WebAnswer::Page)
}

/// Returns the response to a browser while all work is refused, with the time to retry.
fn refusal<P>(why: &str) -> WebAnswer<P> {
    tracing::error!(error = why, "all work is refused; the page answers 503");
    let headers = json!({
        "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", "retry-after": COME_AGAIN_S.to_string()
    });
    let body = "This page cannot be shown while its program is being exchanged. Please try again in some minutes.\n";
    WebAnswer::Refusal(json!({
        "statusCode": http::StatusCode::SERVICE_UNAVAILABLE.as_u16(), "headers": headers, "body": body,
        "isBase64Encoded": false
    }))
}

async fn answer(pages: Pages, mut request: Request) -> Result<http::Response<axum::body::Body>, Failure> {
    let caller = match &pages.front {
        None => caller(&request),
        Some(front) if shows(&request, front) => viewer(&request),
        Some(_) => {
            let mut answer = http::Response::new("Please ask at the search page's own address.\n".into());
            *answer.status_mut() = http::StatusCode::FORBIDDEN;
            return Ok(answer);
        }
    };
    request.extensions_mut().insert(Caller(caller));
    pages.router.oneshot(request).await.map_err(|never| match never {})
}

/// True if a request has the CDN's secret. Compares all bytes, so that the duration reveals nothing.
fn shows(request: &Request, front: &str) -> bool {
    let shown = request.headers().get(FRONT).map(http::HeaderValue::as_bytes).unwrap_or_default();
    shown.len() == front.len() && shown.iter().zip(front.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// Returns the caller's address according to CloudFront.
fn viewer(request: &Request) -> Option<IpAddr> {
    let (address, _port) = request.headers().get(VIEWER)?.to_str().ok()?.rsplit_once(':')?;
    address.trim_matches(['[', ']']).parse().ok()
}

/// Returns the caller's address according to Lambda, which no header can change.
fn caller(request: &Request) -> Option<IpAddr> {
    match request.request_context_ref()? {
        RequestContext::ApiGatewayV2(context) => context.http.source_ip.as_deref()?.parse().ok(),
        _ => None,
    }
}

async fn open(cold: &Cold, settings: &Settings) -> Result<axum::Router, Failure> {
    let failed = |e| Failure::Work(format!("the page's secret: {}", with_causes(&e)));
    let secret = web_secret(cold.store.objects().as_ref()).await.map_err(failed)?;
    let mut program = cold.program(settings, Arc::new(Meter::default()))?;
    let cache =
        FolderRangeCache::new(std::env::temp_dir().join(format!("curlew-ranges-{}", cold.stack)), RANGE_CACHE_BYTES);
    let finder = Finder::new(program.ports.blobs.clone(), program.clock.clone());
    let finder = finder.with_pool(program.crawler.politeness.pool.clone()).with_range_cache(Arc::new(cache));
    finder.sign_cursors(secret);
    program.library.finder = Arc::new(finder);
    Ok(routed(&program, settings.pages(secret)))
}

/// Returns the router. It accepts all host names, since the function's URL decides which names lead here.
fn routed(program: &Program, settings: PageSettings) -> axum::Router {
    let Program { ports, clock, crawler, library, desk } = program;
    let status = StoredStatus { blobs: ports.blobs.clone(), inbox: ports.inbox.clone(), clock: clock.clone() };
    let services = Services::new(library, desk, crawler.pushes.clone(), Arc::new(status));
    router(services, PageSettings { any_host: true, ..settings })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]
    use super::*;
    use crate::tests::events::event;
    use crate::tests::world::TestWorld;
    use curlew_model::QueueName;

    /// Returns the visible parts of a page's response.
    async fn asked(pages: &Pages, event: Value) -> (u64, String) {
        let answer = answered(pages, event).await.unwrap_or_else(|e| panic!("{e}"));
        let answer = serde_json::to_value(&answer).unwrap();
        (answer["statusCode"].as_u64().unwrap(), answer["body"].as_str().unwrap().to_owned())
    }

    fn pages() -> Pages {
        let program = TestWorld::new(QueueName::Fetch).program();
        let settings = PageSettings { searches_per_minute: 1, ..PageSettings::new([7; 32]) };
        Pages { router: routed(&program, settings), front: None }
    }

    #[tokio::test(start_paused = true)]
    async fn requests_of_a_function_url_are_answered_by_the_router() {
        let pages = pages();
        let asked = async |name: &str| asked(&pages, event(name)).await;
        let (status, page) = asked("search").await;
        assert!(status == 200 && page.contains("long bent bills"), "{status} {page}");
        let (status, _) = asked("search-api").await;
        assert_eq!(status, 429, "the caller's address counts, and it is the same");
        let (status, page) = asked("suggest").await;
        assert!(status / 100 == 4 && page.contains("<form"), "a form without its token is not taken: {status}");
        let (status, page) = asked("status").await;
        assert!(status == 200 && page.contains("Indexed pages"), "{page}");
    }

    #[tokio::test(start_paused = true)]
    async fn behind_a_cdn_its_callers_count_and_nobody_else_is_answered() {
        let pages = Pages { front: Some("0123456789abcdef01234567".into()), ..pages() };
        let asked = async |headers: Value| {
            let mut event = event("search");
            event["headers"].as_object_mut().unwrap().extend(headers.as_object().unwrap().clone());
            asked(&pages, event).await.0
        };
        assert_eq!(asked(json!({})).await, 403);
        assert_eq!(asked(json!({FRONT: "0123456789abcdef01234568", VIEWER: "192.0.2.1:1"})).await, 403);
        let through = async |viewer: &str| asked(json!({FRONT: "0123456789abcdef01234567", VIEWER: viewer})).await;
        assert_eq!(through("192.0.2.1:46532").await, 200);
        assert_eq!(through("192.0.2.1:46533").await, 429, "the second search of one caller within a minute");
        assert_eq!(through("2001:db8::7:443").await, 200);
        assert_eq!(through("[2001:db9::7]:443").await, 200);
    }

    #[test]
    fn what_is_refused_is_503_to_a_browser() {
        let answer = serde_json::to_value(refusal::<Value>("it is 4")).unwrap();
        assert_eq!((&answer["statusCode"], &answer["headers"]["retry-after"]), (&json!(503), &json!("600")));
        assert!(answer["body"].as_str().unwrap().contains("try again"), "{answer}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_event_that_is_no_request_is_refused() {
        for other in [json!({"body": {}}), json!({}), json!([event("status")])] {
            assert!(answered(&pages(), other.clone()).await.is_err(), "{other}");
        }
    }
}
