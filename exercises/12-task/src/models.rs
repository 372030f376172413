//! The models of exercise 12.
