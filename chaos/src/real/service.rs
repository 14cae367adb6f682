//! Everything outside, as a real service on the loopback: the doubles of a class behind HTTP.
//!
//! It lives in the campaign's own process, so that no kill of a worker takes what it knows. It must
//! never decide anything: what a request does is its double's.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use futures_core::Stream;
use mainstay_dispatch::{AttemptContext, Provider};
use mainstay_sim::provider::{Double, Outside};
use mainstay_types::{Clock, EffectKey, Failure, Payload, Sent};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::letter::{Letter, Reply};
use super::pace::Fast;
use super::speech::text;
use super::weather::Weather;
use crate::world::Setup;
use crate::world::stage::doubled;

/// A service that listens; it stops when this is dropped.
pub(super) struct Service {
    address: SocketAddr,
    shared: Arc<Shared>,
    _stops: DropGuard,
}

struct Shared {
    doubles: BTreeMap<String, Double>,
    clock: Arc<dyn Clock>,
    weather: Arc<Weather>,
}

impl Service {
    /// Everything outside of `setup`'s class, in the weather of `seed`; needs a tokio runtime.
    pub(super) async fn start(setup: &Setup, seed: u64) -> io::Result<Self> {
        let (clock, timers) = Fast::ports();
        let weather = Arc::new(Weather::new(seed));
        let outside = Outside::far(
            seed,
            (Arc::clone(&clock), timers),
            Arc::clone(&weather) as _,
        );
        let (_, doubles) = doubled(setup, &outside);
        let named = doubles.into_iter();
        let shared = Arc::new(Shared {
            doubles: named.map(|it| (it.name().to_owned(), it)).collect(),
            clock,
            weather,
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let routes = Router::new()
            .route("/letters", post(arrives))
            .route("/truth", post(truth))
            .with_state(Arc::clone(&shared));
        let stop = CancellationToken::new();
        let serving = axum::serve(listener, routes).into_future();
        tokio::spawn(stop.clone().run_until_cancelled_owned(serving));
        Ok(Self {
            address,
            shared,
            _stops: stop.drop_guard(),
        })
    }

    /// Its URL, without a slash at the end.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Nothing goes wrong any more.
    pub(super) fn calm(&self) {
        self.shared.weather.calm();
    }

    /// How often something went wrong.
    pub(super) fn troubles(&self) -> u64 {
        self.shared.weather.troubles()
    }

    /// Who stands outside.
    pub(super) fn doubles(&self) -> impl Iterator<Item = &Double> {
        self.shared.doubles.values()
    }
}

async fn arrives(State(shared): State<Arc<Shared>>, Json(letter): Json<Letter>) -> Response {
    let (Some(double), Some((facts, request))) = (shared.doubles.get(&letter.to), letter.read())
    else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let nobody = CancellationToken::new();
    let cx = AttemptContext::new(facts, Arc::clone(&shared.clock), &nobody);
    if letter.is_look_up {
        return match double.look_up(request, cx) {
            Some(seen) => Json(Reply::from(seen.await)).into_response(),
            None => StatusCode::BAD_REQUEST.into_response(),
        };
    }
    match double.send(request, cx).await {
        // What a connection does that breaks: nobody is told anything.
        Err(Failure {
            sent: Sent::MaybeSent,
            ..
        }) => Response::new(Body::from_stream(Broken)),
        end => Json(Reply::from(end)).into_response(),
    }
}

/// The reply of the receiver that has done what the key stands for, as a person finds it there.
async fn truth(State(shared): State<Arc<Shared>>, Json(key): Json<String>) -> Json<Option<String>> {
    let Ok(key) = key.parse::<EffectKey>() else {
        return Json(None);
    };
    let applied = shared.doubles.values().flat_map(Double::applied);
    let mut replies = applied.filter(|it| it.key == key).map(|it| it.reply);
    Json(replies.next().as_ref().map(|reply: &Payload| text(reply)))
}

/// A body that breaks off before its first byte.
struct Broken;

impl Stream for Broken {
    type Item = io::Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into())))
    }
}
