//! Other right designs; the exercises' own tests must accept them.
