//! A ring with two positions, and a thief that takes its time.

use std::ops::Range;

const N: usize = 4;

#[derive(Default)]
struct Ring {
    slots: [u32; N],
    next: usize,
    tail: usize,
}

impl Ring {
    fn push(&mut self, item: u32) -> bool {
        let has_room = self.tail - self.next < N;
        if has_room {
            self.slots[self.tail % N] = item;
            self.tail += 1;
        }
        has_room
    }

    /// Takes half of the items: they must not be popped anymore.
    fn claim(&mut self) -> Range<usize> {
        let half = (self.tail - self.next) / 2;
        self.next += half;
        self.next - half..self.next
    }
}

fn main() {
    let mut ring = Ring::default();
    let mut item = 0;
    while ring.push(item) {
        item += 1;
    }
    println!("the owner has pushed {item} items, from 0 on");
    let claimed = ring.claim();
    println!("a thief claims those at the positions {claimed:?}");
    // The thief is interrupted here.
    while ring.push(item) {
        item += 1;
    }
    println!("the owner has pushed {item} items");
    for position in claimed {
        println!("the thief reads {}", ring.slots[position % N]);
    }
}
