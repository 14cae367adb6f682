//! What is promised of a run, as scenarios. One behaviour each.

mod budget;
mod corrupt;
mod crash;
mod doubt;
mod failure;
mod halt;
mod keys;
mod laps;
mod late;
mod limits;
mod parts;
mod size;
mod table;
mod times;
mod walkthrough;
mod writes;
