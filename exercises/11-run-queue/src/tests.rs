//! The checks of exercise 11, one or more for each clause of the contract.
