//! Tasks in words against the sample tools and against tools that nobody had in mind.

mod doubts;
mod plans;
mod programs;
mod tools;
mod values;
