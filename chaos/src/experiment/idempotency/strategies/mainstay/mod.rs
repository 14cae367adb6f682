//! F, F2, F3: the purchase tool as a tool of a Mainstay run, in a store on the disk.
//!
//! No key is made here: the engine makes it, from the run's business id or the run itself, and from
//! how many orders the model was told of. Nor does anything here send again, which is the engine's
//! to do once it knows what became of the last attempt. A wrapper must never look at a call's
//! arguments.

mod class;
mod house;
mod purchase;
mod wrapper;

use std::sync::Arc;

use futures_core::future::BoxFuture;
use parking_lot::Mutex;

use super::super::faults::Faults;
use super::super::receiver::Keys;
use super::super::strategy::{OpenError, RunContext, Strategy, Wrapper};
use house::House;

/// How the effect is named, and how its receiver can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By the purchase request's number; the receiver knows keys.
    BusinessId,
    /// By the run, the tool's name and a count; the receiver knows keys.
    RunAlone,
    /// By the purchase request's number; the receiver ignores keys and can be searched.
    Searched,
}

/// F, F2 and F3: Mainstay makes the keys, and asks before anything is sent again.
pub struct Mainstay {
    way: Way,
    house: Mutex<Option<Arc<House>>>,
}

impl Mainstay {
    /// F: the class names the number of the purchase request as the effect's business id.
    #[must_use]
    pub fn with_business_id() -> Self {
        Self::new(Way::BusinessId)
    }

    /// F2: the class names none.
    #[must_use]
    pub fn without_business_id() -> Self {
        Self::new(Way::RunAlone)
    }

    /// F3: the receiver ignores keys, and can be searched for the number and the slot.
    #[must_use]
    pub fn with_search_alone() -> Self {
        Self::new(Way::Searched)
    }

    fn new(way: Way) -> Self {
        let house = Mutex::new(None);
        Self { way, house }
    }
}

impl Strategy for Mainstay {
    fn name(&self) -> &'static str {
        match self.way {
            Way::BusinessId => "F",
            Way::RunAlone => "F2",
            Way::Searched => "F3",
        }
    }

    fn title(&self) -> &'static str {
        match self.way {
            Way::BusinessId => "Mainstay, with a business id",
            Way::RunAlone => "Mainstay, without one",
            Way::Searched => "Mainstay, search alone",
        }
    }

    fn receiver(&self) -> Keys {
        match self.way {
            Way::BusinessId | Way::RunAlone => Keys::Honoured,
            Way::Searched => Keys::Ignored,
        }
    }

    fn wrap(&self, run: RunContext) -> Box<dyn Wrapper> {
        let house = self.house.lock().clone();
        let house = house.expect("runs are wrapped between `open` and `close`");
        Box::new(wrapper::Asks::new(house, run))
    }

    fn open<'a>(&'a self, faults: &'a Faults) -> BoxFuture<'a, Result<(), OpenError>> {
        Box::pin(async {
            let house = House::open(self.way, faults).await?;
            *self.house.lock() = Some(Arc::new(house));
            Ok(())
        })
    }

    fn close(&self) -> BoxFuture<'_, Result<(), OpenError>> {
        Box::pin(async {
            let house = self.house.lock().take();
            match house {
                Some(house) => House::close(house).await,
                None => Ok(()),
            }
        })
    }
}
