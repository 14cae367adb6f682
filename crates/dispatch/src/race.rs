//! Two futures against each other, the first one favoured, so that the winner depends on nothing
//! but their order.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// `Some` with `first`'s output, or `None` once `second` ended and `first` had not. Both are
/// dropped on return.
pub(crate) async fn race<T>(
    first: impl Future<Output = T>,
    second: impl Future<Output = ()>,
) -> Option<T> {
    let (mut first, mut second) = (pin!(first), pin!(second));
    poll_fn(|cx| {
        if let Poll::Ready(output) = first.as_mut().poll(cx) {
            return Poll::Ready(Some(output));
        }
        second.as_mut().poll(cx).map(|()| None)
    })
    .await
}
