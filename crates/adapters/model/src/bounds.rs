//! The bounds of this crate, from `mainstay_types::limits`. The connection's own are those of
//! `mainstay_http::bounds`.

use mainstay_types::limits;

pub use limits::{
    MODEL_MESSAGES_MAX as MESSAGES_MAX, MODEL_PARAMETERS_MAX as PARAMETERS_MAX,
    MODEL_REPLY_BYTES_MAX as REPLY_BYTES_MAX, MODEL_SCHEMA_BYTES_MAX as SCHEMA_BYTES_MAX,
    MODEL_SHOWN_PLACE_CHARS_MAX as SHOWN_PLACE_CHARS_MAX,
    MODEL_SHOWN_PLACES_MAX as SHOWN_PLACES_MAX,
};
