//! What people do once the faults are over: they look where only people can look, and say so.

use mainstay_machine::Ruling;
use mainstay_runtime::{EffectFilter, Engine, OrphanFilter};
use mainstay_sim::provider::Double;
use mainstay_types::{BoxFuture, EffectKey, Millis, Payload};

use super::Stage;

/// Who, and how they know.
const BY: (&str, &str) = ("ann", "looked at the receiver");

/// Settles what waits for a person, as the receivers' own tables say.
pub(crate) async fn looks(engine: Engine, stage: Stage) {
    let truth = |key: &EffectKey| -> BoxFuture<'static, Option<Payload>> {
        Box::pin(std::future::ready(truth(&stage.doubles, key)))
    };
    looks_up(engine, truth).await;
}

/// The same, where the tables are somewhere else: `truth` asks them for the reply of what was done
/// under a key.
pub(crate) async fn looks_up(
    engine: Engine,
    truth: impl Fn(&EffectKey) -> BoxFuture<'static, Option<Payload>>,
) {
    let filter = EffectFilter {
        in_doubt: true,
        ..EffectFilter::default()
    };
    if let Ok(page) = engine.effects(filter, None).await {
        for row in page.rows {
            let found = truth(&row.key).await;
            let ruling = match found {
                Some(_) => Ruling::Applied,
                None => Ruling::NotApplied,
            };
            // Refused while a request may still land, or when it is known by now.
            drop(engine.settle_effect(&row.key, (ruling, found), BY).await);
        }
    }
    if let Ok(page) = engine.orphans(OrphanFilter::default(), None).await {
        for row in page.rows.iter().filter(|row| row.state == "overdue") {
            let attempt = (row.call.as_str(), row.attempt);
            drop(engine.close_orphan(row.run, attempt, BY).await);
        }
    }
}

/// The reply of the receiver that has done what the key stands for.
fn truth(doubles: &[Double], key: &EffectKey) -> Option<Payload> {
    let applied = doubles.iter().flat_map(Double::applied);
    let mut of_key = applied.filter(|applied| applied.key == *key);
    of_key.next().map(|applied| applied.reply)
}

/// How long people wait before they look for the first time.
pub(crate) const LOOKS_AFTER: Millis = Millis::from_mins(2);
