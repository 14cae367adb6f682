//! The two sorts of doubles under one type.

use super::model::{SimModel, SimReceiver, Traits};

/// What a double is told to be.
#[derive(Clone)]
pub enum Kind {
    /// It is read.
    Model(SimModel),
    /// It is written to.
    Receiver(SimReceiver),
}

impl From<SimModel> for Kind {
    fn from(model: SimModel) -> Self {
        Self::Model(model)
    }
}

impl From<SimReceiver> for Kind {
    fn from(receiver: SimReceiver) -> Self {
        Self::Receiver(receiver)
    }
}

impl Kind {
    /// Whether it is written to.
    #[must_use]
    pub const fn is_write(&self) -> bool {
        matches!(self, Self::Receiver(_))
    }

    pub(super) const fn traits(&self) -> &Traits {
        match self {
            Self::Model(model) => &model.traits,
            Self::Receiver(receiver) => &receiver.traits,
        }
    }
}
