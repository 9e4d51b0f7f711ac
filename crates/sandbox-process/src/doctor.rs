//! Examines this machine: which mode it is in, what holds, what is missing and what to do about it.
