//! What a world promises to whoever tests a class in it. No test here may wait for anything real.

mod classes;
mod fakes;
mod worlds;
