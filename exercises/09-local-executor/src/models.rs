//! The models of exercise 9.
