//! The test kit: campaigns over classes, and what they find.

mod meeting;
mod selftest;
