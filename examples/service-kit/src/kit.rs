//! Ties the parts together: a service gives its routes, the kit gives back a server.
//!
//! It must never decide anything about a request; `front` and `serve` do.

use std::future::Future;
use std::sync::Arc;

use axum::Router;
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::faults::Faults;
use crate::front::{Described, Front, IN_FLIGHT_MAX, Incoming, handle};
use crate::log::RequestLog;
use crate::problem::Problem;
use crate::{control, serve};

/// What a service tells the kit about itself.
pub struct KitOptions {
    /// The faults to begin with; the caller may keep a clone.
    pub faults: Faults,
    /// Where requests are logged.
    pub log: Arc<dyn RequestLog>,
    /// Reads key, source and position out of a request; what is malformed is `None`.
    pub describe: fn(&Incoming<'_>) -> Described,
    /// Largest body, in bytes; beyond it 413.
    pub body_bytes_max: usize,
}

/// A service around its own routes.
pub struct Kit {
    front: Arc<Front>,
    router: Router,
}

/// The listener failed for good.
#[derive(Debug, thiserror::Error)]
#[error("listener: {0}")]
pub struct ServeError(#[from] pub(crate) std::io::Error);

impl Kit {
    /// A server for `routes`, with the kit's own routes beside them.
    pub fn new(options: KitOptions, routes: Router) -> Kit {
        let front = Arc::new(Front {
            faults: options.faults,
            log: options.log,
            describe: options.describe,
            body_bytes_max: options.body_bytes_max,
            slots: Semaphore::new(IN_FLIGHT_MAX),
            tracker: TaskTracker::new(),
        });
        let router = routes
            .fallback(no_route)
            .method_not_allowed_fallback(no_method)
            .layer(from_fn_with_state(Arc::clone(&front), handle))
            .merge(control::routes(Arc::clone(&front)));
        Kit { front, router }
    }

    /// Serves until `shutdown` is ready, then lets what was accepted end, within 5 s.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), ServeError> {
        serve::until(listener, self.router, &self.front, shutdown).await
    }
}

async fn no_route(uri: Uri) -> Problem {
    let detail = format!("no resource {}", uri.path());
    Problem::new(StatusCode::NOT_FOUND, "NO_ROUTE", detail)
}

async fn no_method(method: Method, uri: Uri) -> Problem {
    let detail = format!("{} has no method {method}", uri.path());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "NO_METHOD", detail)
}
