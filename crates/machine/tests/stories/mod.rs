//! What is promised of a run, as scenarios. One behaviour each.

mod admission;
mod budget;
mod by_hand;
mod corrupt;
mod crash;
mod doubt;
mod failure;
mod halt;
mod keys;
mod laps;
mod late;
mod late_values;
mod life;
mod limits;
mod odds;
mod orphans;
mod parts;
mod preempt;
mod repair;
mod size;
mod stops;
mod table;
mod times;
mod tools;
mod walkthrough;
mod writes;
