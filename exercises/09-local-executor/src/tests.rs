//! The checks of exercise 9.
