//! The list of an injector: a queue without a bound, in blocks.
//!
//! A single buffer would be copied as a whole whenever it has to grow, by a
//! thread that has the lock. Here each block stays where it is. What has to grow
//! is only the list of the blocks, which has 24 bytes for 256 items.

use std::array;
use std::collections::VecDeque;

/// So many items are in a block. A model needs several blocks.
pub const BLOCK: usize = if cfg!(any(feature = "loom", feature = "shuttle")) {
    2
} else {
    256
};

/// Items in the order in which they are to be taken.
pub struct List<T> {
    /// No block of it is empty.
    blocks: VecDeque<Block<T>>,
    len: usize,
    /// One that was emptied, for the next time.
    spare: Option<Block<T>>,
    /// Blocks in the wrong order, while `extend_reversed` runs.
    reversed: Vec<Block<T>>,
}

/// Items beside each other: `start..end` of the places are taken.
struct Block<T> {
    items: Box<[Option<T>; BLOCK]>,
    start: usize,
    end: usize,
}

impl<T> List<T> {
    pub fn new() -> Self {
        Self {
            blocks: VecDeque::new(),
            len: 0,
            spare: None,
            reversed: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Puts an item at the end.
    pub fn push_back(&mut self, item: T) {
        if self.blocks.back().is_none_or(|last| last.end == BLOCK) {
            let block = self.empty_block(0);
            self.blocks.push_back(block);
        }
        let last = self.blocks.back_mut().expect("there is one");
        last.items[last.end] = Some(item);
        last.end += 1;
        self.len += 1;
    }

    /// Takes the first item.
    pub fn pop_front(&mut self) -> Option<T> {
        let first = self.blocks.front_mut()?;
        let item = first.items[first.start].take();
        first.start += 1;
        self.len -= 1;
        if first.start == first.end {
            self.spare = self.blocks.pop_front();
        }
        item
    }

    /// Puts items at the end, of which the last comes first: they fill blocks
    /// from behind.
    pub fn extend_reversed(&mut self, items: impl Iterator<Item = T>) {
        let mut block = self.empty_block(BLOCK);
        for item in items {
            if block.start == 0 {
                let full = block;
                block = self.empty_block(BLOCK);
                self.reversed.push(full);
            }
            block.start -= 1;
            block.items[block.start] = Some(item);
            self.len += 1;
        }
        self.append(block);
        while let Some(block) = self.reversed.pop() {
            self.append(block);
        }
    }

    /// Puts a block at the end, or what is in it if the last one has room.
    fn append(&mut self, mut block: Block<T>) {
        let count = block.end - block.start;
        match self.blocks.back_mut() {
            Some(last) if count <= BLOCK - last.end => {
                let to = last.end..last.end + count;
                last.end = to.end;
                let from = block.start..block.end;
                last.items[to].swap_with_slice(&mut block.items[from]);
                self.spare = Some(block);
            }
            _ if count > 0 => self.blocks.push_back(block),
            _ => self.spare = Some(block),
        }
    }

    /// A block whose first item will be at this place, or whose last one will
    /// be before it.
    fn empty_block(&mut self, at: usize) -> Block<T> {
        let spare = self.spare.take();
        let items = match spare {
            Some(block) => block.items,
            None => Box::new(array::from_fn(|_| None)),
        };
        Block {
            items,
            start: at,
            end: at,
        }
    }
}
