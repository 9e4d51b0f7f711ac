//! Tasks in words against the sample tools and against tools that nobody had in mind.

mod doubts;
mod measures;
mod plans;
mod programs;
mod reported;
mod texts;
mod times;
mod tools;
mod values;
mod words;
