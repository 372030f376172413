//! Plausible wrong versions; each must fail the test it names.
