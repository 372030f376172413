//! One table of functions for each type, made by the compiler.

use std::any::type_name;
use std::marker::PhantomData;

struct Table {
    name: fn() -> &'static str,
    size: fn() -> usize,
}

/// Stands for a type, so that constants and functions can belong to it.
struct TableOf<T>(PhantomData<T>);

impl<T> TableOf<T> {
    const TABLE: &'static Table = &Table {
        name: type_name::<T>,
        size: Self::size,
    };

    fn size() -> usize {
        size_of::<T>()
    }
}

fn main() {
    for table in [TableOf::<u8>::TABLE, TableOf::<[u64; 4]>::TABLE] {
        println!("{}: {} bytes", (table.name)(), (table.size)());
    }
}
