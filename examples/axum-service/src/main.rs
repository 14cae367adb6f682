//! Durable runs behind an HTTP API: a refund desk, and the whole of what an axum service needs.
//!
//! - `POST /runs` with `Idempotency-Key`: 200 with the answer, within the class's answer_by; 202
//!   with `Location` when it comes later, or at once with `Prefer: respond-async`.
//! - `GET /runs/{id}`: the run as it stands.
//! - `POST /runs/{id}/cancel`: 202, asked to stop, durably; writes that are out are settled first.
//!
//! The same key with the same body is the same run, also after a crash; with another body it is
//! 422. Errors are `application/problem+json` with a stable `code`; 429 and 503 say `Retry-After`.
//!
//! ```sh
//! SHOP_URL=http://127.0.0.1:7402 cargo run -p axum-service
//! curl -i localhost:8080/runs -H 'Idempotency-Key: case-17' \
//!      --json '{"order":"A-17","cents":1200,"why":"arrived broken"}'
//! ```
//!
//! SIGTERM drains: no new run starts, what is out may come back, whoever still waits is told where
//! its run is found, and the next process goes on with it. The shop answers `GET /orders/{order}`,
//! `POST /refunds` with a key, and `GET /refunds/by-key/{key}`. Settings come from the environment:
//! `SHOP_URL`, `LISTEN`, `STORE`, `RUNS_MAX`, `DRAIN_SECS`. It must never answer for a run what the
//! store does not say.

mod api;
mod problem;
mod refund;
mod shown;

use std::error::Error;
use std::process::ExitCode;
use std::str::FromStr;

use axum::Router;
use mainstay::class::secs;
use mainstay::engine::ShutdownReport;
use mainstay::{Engine, Millis};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

/// How long connections may outlive the engine when somebody does not hang up.
const LINGER: Millis = Millis::from_secs(2);

#[tokio::main]
async fn main() -> ExitCode {
    match whole().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A message and its hint are for people; the debug form is not.
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn whole() -> Result<(), Box<dyn Error>> {
    let stop = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
    );
    let refund = refund::class(&setting::<String>("SHOP_URL", "")?)?;
    let engine = mainstay::open(setting::<String>("STORE", "./refund-store")?)?
        .register(&refund)
        .runs_max(setting("RUNS_MAX", "1000")?)
        .start()
        .await?;
    let listener = TcpListener::bind(setting::<String>("LISTEN", "127.0.0.1:8080")?).await?;
    println!("listening on {}", listener.local_addr()?);
    let desk = api::Desk {
        engine: engine.clone(),
        refund,
    };
    let drain = secs(setting("DRAIN_SECS", "10")?);
    let report = serve(listener, api::routes(desk), engine, (stop, drain)).await?;
    eprintln!(
        "stopped: {} runs go on at the next start, {} attempts were still out",
        report.open_runs, report.out_at_bound
    );
    Ok(())
}

/// A setting of the environment, or its default; an empty default means that there is none.
fn setting<T: FromStr>(name: &str, default: &str) -> Result<T, String> {
    let text = std::env::var(name).unwrap_or_else(|_| default.to_owned());
    if text.is_empty() {
        return Err(format!("the environment variable {name} is not set"));
    }
    text.parse()
        .map_err(|_| format!("{name}={text} is not usable"))
}

/// Serves until a signal comes, then drains the engine while the last requests are answered: a
/// caller that waits for its run would otherwise hold the process for as long as the run takes.
async fn serve(
    listener: TcpListener,
    routes: Router,
    engine: Engine,
    (stop, drain): ((Signal, Signal), Millis),
) -> Result<ShutdownReport, Box<dyn Error>> {
    let (tell, told) = oneshot::channel::<()>();
    let closing = async move {
        // An error means that the teller is gone: to be closed as well.
        told.await.ok();
    };
    let server = axum::serve(listener, routes).with_graceful_shutdown(closing);
    let mut server = tokio::spawn(server.into_future());
    tokio::select! {
        biased;
        () = stopped(stop) => {}
        ended = &mut server => {
            ended??;
            return Err("the server ended by itself".into());
        }
    }
    drop(tell);
    let report = engine.shutdown(drain).await;
    if tokio::time::timeout(LINGER.to_duration(), server)
        .await
        .is_err()
    {
        eprintln!("a client does not hang up; its connection is cut");
    }
    Ok(report)
}

async fn stopped((mut terminate, mut interrupt): (Signal, Signal)) {
    tokio::select! {
        biased;
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
