//! Tasks in words against the sample tools and unrelated tools.

mod document;
mod doubts;
mod plans;
mod programs;
mod texts;
mod times;
mod tools;
mod values;
mod words;
