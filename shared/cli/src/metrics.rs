//! Metrics of `curlew serve` as OpenMetrics, on a separate listener: the events that [`curlew_app::Tally`] counts, and
//! the state of the store, gathered at a bounded cost.

mod access;
pub(crate) mod families;
pub(crate) mod gauges;

use crate::server::{self, Limits};
use crate::world::World;
use access::guarded;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use curlew_web::Proxies;
use families::Snapshot;
use gauges::Gauges;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::Mutex;

/// Media type of the metrics (OpenMetrics 1.0).
const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Maximum number of concurrent connections: a few scrapers.
const MAX_CONNECTIONS: usize = 16;

struct Exporter {
    world: Arc<World>,
    /// Locked while gathering, so that simultaneous scrapes gather once.
    gauges: Mutex<Gauges>,
}

/// Serves the metrics until `stop`, unless they are off. If the address is in use, logs a warning and returns.
pub(crate) async fn serve(world: Arc<World>, stop: impl Future<Output = ()> + Send + 'static) {
    let Some(settings) = world.config.metrics.clone() else { return };
    let listener = match TcpListener::bind(settings.listen).await {
        Ok(listener) => listener,
        Err(error) => {
            return tracing::warn!(
                address = %settings.listen, %error,
                "metrics are not served, because their address is not available: choose another one with [metrics] \
                 listen, or 'off'"
            );
        }
    };
    let exporter = Arc::new(Exporter { world, gauges: Mutex::default() });
    let router = guarded(Router::new().route("/metrics", get(scrape)).with_state(exporter), settings.token);
    server::serve(listener, router, Proxies::default(), Limits::new(MAX_CONNECTIONS), stop).await;
}

async fn scrape(State(exporter): State<Arc<Exporter>>) -> Response {
    match exporter.text().await {
        Ok(text) => ([(CONTENT_TYPE, MEDIA_TYPE), (CACHE_CONTROL, "no-store")], text).into_response(),
        Err(error) => {
            tracing::error!(error = format!("{error:#}"), "the metrics cannot be collected");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

impl Exporter {
    async fn text(&self) -> anyhow::Result<String> {
        let gauges = {
            let mut gauges = self.gauges.lock().await;
            gauges.refresh(&self.world).await?;
            gauges.clone()
        };
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Snapshot { counts: self.world.tally.counts(), gauges }));
        let mut text = String::new();
        encode(&mut text, &registry)?;
        Ok(text)
    }
}
