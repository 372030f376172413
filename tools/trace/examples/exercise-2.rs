//! The demonstration of exercise 2 on its solution, which the others know as
//! `parker`. One package can't have two names for another.

extern crate parker as exercise_2;

#[path = "../../../exercises/02-parker/examples/trace.rs"]
mod demonstration;

fn main() {
    demonstration::main();
}
