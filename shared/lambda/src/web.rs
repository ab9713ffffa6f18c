//! The function behind the search page's URL: the router of `curlew-web`, as it is.

use crate::cold::{Cold, no_classifier};
use crate::failure::Failure;
use crate::in_force::InForce;
use crate::meter::Meter;
use crate::range_cache::{FolderRangeCache, RANGE_CACHE_BYTES};
use crate::serve::{Answer, Invocation, ended, start};
use crate::stored_status::StoredStatus;
use curlew_stages::catalog::find::Finder;
use curlew_stages::program::Program;
use curlew_stages::stage::with_causes;
use curlew_web::{Caller, Services, router};
use curlew_wiring::{Settings, web_secret};
use lambda_http::request::RequestContext;
use lambda_http::{Request, RequestExt, service_fn};
use std::net::IpAddr;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::sync::Mutex;
use tower::ServiceExt;

/// Runs the search page behind a function URL (payload format 2.0).
pub async fn web() -> ExitCode {
    let Some(cold) = start(no_classifier).await else { return ExitCode::FAILURE };
    let (cold, opened) = (&cold, &Mutex::new(None));
    let handler = |request: Request| async move {
        let context = request.lambda_context_ref().cloned().unwrap_or_default();
        let invocation = Invocation::begin("web", cold.clone(), &context);
        // Not at the start: settings and secret are in the bucket, and a start makes no request.
        let router = async { router_for(cold, invocation.in_force().await?, opened).await };
        let outcome = match router.await {
            Ok(router) => answer(router, request).await,
            Err(failure) => Err(failure),
        };
        invocation.end(outcome.map(Answer::of))
    };
    ended(lambda_http::run(service_fn(handler)).await)
}

/// Returns the router for these settings: the one of the last invocation, unless they have changed.
async fn router_for(
    cold: &Cold,
    in_force: Arc<InForce>,
    opened: &Mutex<Option<(Arc<InForce>, axum::Router)>>,
) -> Result<axum::Router, Failure> {
    let mut opened = opened.lock().await;
    if let Some((of, router)) = &*opened
        && Arc::ptr_eq(of, &in_force)
    {
        return Ok(router.clone());
    }
    let router = open(cold, &in_force.settings).await?;
    *opened = Some((in_force, router.clone()));
    Ok(router)
}

async fn answer(router: axum::Router, mut request: Request) -> Result<http::Response<axum::body::Body>, Failure> {
    let caller = Caller(caller(&request));
    request.extensions_mut().insert(caller);
    router.oneshot(request).await.map_err(|never| match never {})
}

/// The caller as Lambda saw it, which no header can change.
fn caller(request: &Request) -> Option<IpAddr> {
    match request.request_context_ref()? {
        RequestContext::ApiGatewayV2(context) => context.http.source_ip.as_deref()?.parse().ok(),
        _ => None,
    }
}

async fn open(cold: &Cold, settings: &Settings) -> Result<axum::Router, Failure> {
    let failed = |e| Failure::Work(format!("the page's secret: {}", with_causes(&e)));
    let secret = web_secret(cold.store.objects().as_ref()).await.map_err(failed)?;
    let program = cold.program(settings, Arc::new(Meter::default()))?;
    let cache =
        FolderRangeCache::new(std::env::temp_dir().join(format!("curlew-ranges-{}", cold.stack)), RANGE_CACHE_BYTES);
    let finder = Finder::new(program.ports.blobs.clone(), program.clock.clone());
    let finder = finder.with_pool(program.politeness.pool.clone()).with_range_cache(Arc::new(cache));
    finder.sign_cursors(secret);
    let program = Program { finder: Arc::new(finder), ..program };
    Ok(router(services(&program), settings.pages(secret)))
}

fn services(program: &Program) -> Services {
    let Program { ports, clock, .. } = program;
    let status = StoredStatus { blobs: ports.blobs.clone(), inbox: ports.inbox.clone(), clock: clock.clone() };
    Services::of(program, Arc::new(status))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]
    use super::*;
    use crate::events::request;
    use crate::test_world::TestWorld;
    use curlew_model::Stage;
    use curlew_web::PageSettings;
    use http::StatusCode;

    async fn asked(router: &axum::Router, case: &str) -> (StatusCode, String) {
        let response = answer(router.clone(), request(case)).await.unwrap();
        let status = response.status();
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn requests_of_a_function_url_are_answered_by_the_router() {
        let world = TestWorld::new(Stage::Fetch);
        let settings = PageSettings { searches_per_minute: 1, ..PageSettings::new([7; 32]) };
        let router = router(services(&world.program()), settings);
        let (status, page) = asked(&router, "search").await;
        assert!(status == StatusCode::OK && page.contains("long bent bills"), "{status} {page}");
        let (status, _) = asked(&router, "search-api").await;
        assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "the caller's address counts, and it is the same");
        let (status, page) = asked(&router, "suggest").await;
        assert!(status.is_client_error() && page.contains("<form"), "a form without its token is not taken: {status}");
        let (status, page) = asked(&router, "status").await;
        assert!(status == StatusCode::OK && page.contains("Pages that can be found"), "{page}");
    }
}
