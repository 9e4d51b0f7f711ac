//! Tasks in words against the sample tools and against tools that nobody had in mind.

mod document;
mod doubts;
mod plans;
mod programs;
mod texts;
mod times;
mod tools;
mod values;
mod words;
