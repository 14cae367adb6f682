//! What a write has done, for the code that undoes it.

/// An effect that is to be undone: what was asked of its receiver, and what it answered.
#[derive(Debug)]
pub struct Effected<'a, Q, R> {
    /// The recorded request.
    pub request: &'a Q,
    /// What the receiver answered; `None` for what was done in part or is in doubt: then what is
    /// there has to be found by what was asked, or by the key.
    pub reply: Option<&'a R>,
    /// The key under which it was done, as text.
    pub key: &'a str,
}

// By hand: it can be copied whatever it is about.
impl<Q, R> Clone for Effected<'_, Q, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q, R> Copy for Effected<'_, Q, R> {}
