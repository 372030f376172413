//! The checks of exercise 12.
