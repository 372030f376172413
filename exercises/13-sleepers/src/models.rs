//! The models of exercise 13.
