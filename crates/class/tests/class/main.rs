//! Task classes as users write them: what becomes data, what the closures make, what is refused.

mod fingerprints;
mod late;
mod meeting;
mod prepare;
mod problems;
mod replace;
mod values;
