//! How single values cross between domain and wire, and the macros that pair whole structs.
//!
//! A wire value that the domain refuses is an error, never replaced by a default.

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError as BincodeDecodeError, EncodeError};
use bincode::{Decode, Encode};
use mainstay_machine::Event;
use mainstay_types::{
    AttemptNo, BusinessId, CallId, ClassName, ClassVersion, CostUnits, Digest, EffectName, Epoch,
    LapNo, MessageId, Millis, NodeId, Payload, Reason, RunId, Rung, Seq, StartKey, Tenant,
    Timestamp, Tokens, WorkerId, limits,
};

use crate::codec::DecodeError;

/// A wire value that stands for a `D`.
pub(in crate::codec) trait Wire<D>: Sized {
    /// The wire form of `domain`.
    fn wire(domain: &D) -> Self;

    /// The domain value; an error when the domain does not allow it.
    fn domain(self) -> Result<D, DecodeError>;
}

/// A wire struct that stands for one kind of event.
pub(in crate::codec) trait WireEvent: Sized {
    /// The wire form; `None` for an event of another kind.
    fn of(event: &Event) -> Option<Self>;

    /// The event.
    fn event(self) -> Result<Event, DecodeError>;
}

/// A frozen struct for a domain struct with fields of the same names.
macro_rules! frozen {
    ($wire:ident = $domain:ident { $($field:ident: $type:ty),* $(,)? }) => {
        #[derive(bincode::Encode, bincode::Decode)]
        pub(in crate::codec) struct $wire { $($field: $type),* }

        impl $crate::codec::v1::wire::Wire<$domain> for $wire {
            fn wire(domain: &$domain) -> Self {
                Self { $($field: $crate::codec::v1::wire::Wire::wire(&domain.$field)),* }
            }

            fn domain(self) -> Result<$domain, $crate::codec::DecodeError> {
                Ok($domain { $($field: $crate::codec::v1::wire::Wire::domain(self.$field)?),* })
            }
        }
    };
}

/// A frozen struct for an event whose variant has fields of the same names.
macro_rules! frozen_event {
    ($wire:ident = $kind:ident { $($field:ident: $type:ty),* $(,)? }) => {
        #[derive(bincode::Encode, bincode::Decode)]
        pub(in crate::codec) struct $wire { $($field: $type),* }

        impl $crate::codec::v1::wire::WireEvent for $wire {
            fn of(event: &mainstay_machine::Event) -> Option<Self> {
                let mainstay_machine::Event::$kind { $($field),* } = event else { return None };
                Some(Self { $($field: $crate::codec::v1::wire::Wire::wire($field)),* })
            }

            fn event(self) -> Result<mainstay_machine::Event, $crate::codec::DecodeError> {
                Ok(mainstay_machine::Event::$kind {
                    $($field: $crate::codec::v1::wire::Wire::domain(self.$field)?),*
                })
            }
        }
    };
}

pub(in crate::codec) use frozen;
pub(in crate::codec) use frozen_event;

/// Wire numbers and bytes for ids and units: to the wire, and back.
macro_rules! plain {
    ($($wire:ty = $domain:ty, |$to:ident| $wired:expr, |$from:ident| $read:expr;)*) => {$(
        impl Wire<$domain> for $wire {
            fn wire($to: &$domain) -> Self {
                $wired
            }

            fn domain(self) -> Result<$domain, DecodeError> {
                let $from = self;
                Ok($read)
            }
        }
    )*};
}

plain! {
    bool = bool, |d| *d, |w| w;
    u8 = Rung, |d| d.get(), |w| Rung(w);
    u16 = NodeId, |d| d.get(), |w| NodeId(w);
    u32 = u32, |d| *d, |w| w;
    u32 = CallId, |d| d.get(), |w| CallId(w);
    u32 = AttemptNo, |d| d.get(), |w| AttemptNo(w);
    u32 = LapNo, |d| d.get(), |w| LapNo(w);
    u32 = Epoch, |d| d.get(), |w| Epoch(w);
    u32 = ClassVersion, |d| d.0, |w| ClassVersion(w);
    u32 = Tokens, |d| d.get(), |w| Tokens::new(w);
    u64 = u64, |d| *d, |w| w;
    u64 = Seq, |d| d.get(), |w| Seq(w);
    u64 = Millis, |d| d.get(), |w| Millis::new(w);
    u64 = CostUnits, |d| d.as_micros(), |w| CostUnits::micros(w);
    i64 = Timestamp, |d| d.as_millis(), |w| Timestamp::from_millis(w);
    [u8; 16] = RunId, |d| *d.as_bytes(), |w| RunId::from_bytes(w);
    [u8; 16] = WorkerId, |d| *d.as_bytes(), |w| WorkerId::from_bytes(w);
    [u8; 16] = MessageId, |d| *d.as_bytes(), |w| MessageId::from_bytes(w);
    [u8; 32] = Digest, |d| *d.as_bytes(), |w| Digest::from_bytes(w);
    String = ClassName, |d| d.as_str().to_owned(), |w| ClassName::new(w)?;
    String = EffectName, |d| d.as_str().to_owned(), |w| EffectName::new(w)?;
    String = Tenant, |d| d.as_str().to_owned(), |w| Tenant::new(w)?;
    String = StartKey, |d| d.as_str().to_owned(), |w| StartKey::new(w)?;
    String = BusinessId, |d| d.as_str().to_owned(), |w| BusinessId::new(w)?;
    String = String, |d| d.clone(), |w| w;
    Blob = Payload, |d| Blob(d.clone()), |w| w.0;
}

impl<D, W: Wire<D>> Wire<Option<D>> for Option<W> {
    fn wire(domain: &Option<D>) -> Self {
        domain.as_ref().map(W::wire)
    }

    fn domain(self) -> Result<Option<D>, DecodeError> {
        self.map(W::domain).transpose()
    }
}

impl<D, W: Wire<D>> Wire<Vec<D>> for Vec<W> {
    fn wire(domain: &Vec<D>) -> Self {
        domain.iter().map(W::wire).collect()
    }

    fn domain(self) -> Result<Vec<D>, DecodeError> {
        self.into_iter().map(W::domain).collect()
    }
}

/// A payload's bytes: length, then the bytes. Not copied when written.
pub(super) struct Blob(Payload);

impl Encode for Blob {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.0.as_bytes().encode(encoder)
    }
}

impl<C> Decode<C> for Blob {
    fn decode<D: Decoder<Context = C>>(decoder: &mut D) -> Result<Self, BincodeDecodeError> {
        Vec::<u8>::decode(decoder).map(|bytes| Self(Payload::new(bytes)))
    }
}

bincode::impl_borrow_decode!(Blob);

/// A reason by its stable code: reasons grow with almost every feature, and a code cannot be
/// swapped with its neighbour as a position can.
#[derive(Encode, Decode)]
pub(in crate::codec) struct ReasonV1(String);

impl Wire<Reason> for ReasonV1 {
    fn wire(domain: &Reason) -> Self {
        Self(domain.as_str().to_owned())
    }

    fn domain(self) -> Result<Reason, DecodeError> {
        let reason = Reason::from_code(&self.0);
        reason.ok_or_else(|| DecodeError::newer(format!("reason {:?}", self.0)))
    }
}

/// A text for people. Cut at `limits::TEXT_BYTES_MAX`, as the runtime cuts it before.
#[derive(Encode, Decode)]
pub(in crate::codec) struct Text(String);

const ELLIPSIS: &str = "…";

impl Wire<String> for Text {
    fn wire(domain: &String) -> Self {
        if domain.len() <= limits::TEXT_BYTES_MAX {
            return Self(domain.clone());
        }
        let fits = 0..=limits::TEXT_BYTES_MAX - ELLIPSIS.len();
        let end = fits
            .rev()
            .find(|end| domain.is_char_boundary(*end))
            .unwrap_or(0);
        Self(format!("{}{ELLIPSIS}", &domain[..end]))
    }

    fn domain(self) -> Result<String, DecodeError> {
        if limits::TEXT_BYTES_MAX < self.0.len() {
            return Err(DecodeError::form(format!(
                "a text has {} bytes",
                self.0.len()
            )));
        }
        Ok(self.0)
    }
}
