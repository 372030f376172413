//! Prints what `digests.txt` has to contain.

fn main() {
    print!("{}", scheduler_model::digests());
}
