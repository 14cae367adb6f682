//! Which keys are being processed at this moment; what makes a 409, and a look-up's "in progress".
//!
//! It must never outlive its requests: a claim ends when its guard is dropped, panic or not.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

type Keys = Mutex<BTreeMap<(String, String), Claimed>>;

#[derive(Debug)]
struct Claimed {
    fingerprint: String,
    requests: u32,
}

/// The claimed keys, by client and key.
#[derive(Clone, Default)]
pub(crate) struct InFlight {
    keys: Arc<Keys>,
}

/// A claim on a key.
#[derive(Debug)]
pub(crate) struct Claim {
    keys: Arc<Keys>,
    name: (String, String),
}

/// Why a key could not be claimed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Busy {
    SamePayload,
    OtherPayload,
}

impl InFlight {
    /// Claims the key for one request; the claim ends with the guard.
    pub(crate) fn claim(&self, client: &str, key: &str, print: &str) -> Result<Claim, Busy> {
        self.enter(client, key, print, false)
    }

    /// Claims the key beside whoever has it: for a service that ignores keys.
    pub(crate) fn join(&self, client: &str, key: &str, print: &str) -> Claim {
        self.enter(client, key, print, true)
            .expect("sharing is never refused")
    }

    fn enter(&self, client: &str, key: &str, print: &str, share: bool) -> Result<Claim, Busy> {
        let name = (client.to_owned(), key.to_owned());
        // One lock over look and insert: two requests must not both find the key free.
        let mut keys = self.keys.lock();
        match keys.get_mut(&name) {
            Some(claimed) if share => claimed.requests += 1,
            Some(claimed) if claimed.fingerprint == print => return Err(Busy::SamePayload),
            Some(_) => return Err(Busy::OtherPayload),
            None => {
                let claimed = Claimed {
                    fingerprint: print.to_owned(),
                    requests: 1,
                };
                keys.insert(name.clone(), claimed);
            }
        }
        Ok(Claim {
            keys: Arc::clone(&self.keys),
            name,
        })
    }

    pub(crate) fn holds(&self, client: &str, key: &str) -> bool {
        self.keys
            .lock()
            .contains_key(&(client.to_owned(), key.to_owned()))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut keys = self.keys.lock();
        let Some(claimed) = keys.get_mut(&self.name) else {
            return;
        };
        claimed.requests -= 1;
        if claimed.requests == 0 {
            keys.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_free_again_when_its_last_request_has_ended() {
        let keys = InFlight::default();
        let first = keys.claim("c", "k", "p").ok().unwrap();
        assert_eq!(keys.claim("c", "k", "p").err(), Some(Busy::SamePayload));
        assert_eq!(keys.claim("c", "k", "q").err(), Some(Busy::OtherPayload));
        assert!(keys.claim("d", "k", "q").is_ok());
        let second = keys.join("c", "k", "q");
        drop(first);
        assert!(keys.holds("c", "k"));
        drop(second);
        assert!(!keys.holds("c", "k"));
    }
}
