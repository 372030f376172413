//! Blocks that are reused. The checks of the exercise do without them: there
//! each task is meant to be freed at its end.

use std::ptr::NonNull;
use std::sync::mpsc;
use std::thread;

use testkit::{Lesson, allocations, check, live_blocks};

use super::memory::{BATCH, CLASSES, DEPOT, MOST_BATCHES, STEP, place, remove};

/// The process's other threads may have allocated this many blocks meanwhile.
const SPARE: isize = 20;

/// Runs `body` in a process of its own, where no other thread allocates.
fn alone(promise: &'static str, body: impl FnOnce() + Send + 'static) {
    let lesson = Lesson {
        clause: "1. One allocation",
        promise,
        usual_cause: "See `memory.rs`: this is about nothing but our own solution.",
        read: "scheduler/task.html",
    };
    check(lesson, body);
}

/// Puts a cell into a new place.
fn put<C>(cell: C, recycles: bool) -> NonNull<C> {
    let place = place(recycles);
    // SAFETY: the place is ours, and for a `C`.
    unsafe { place.write(cell) };
    place
}

type Bytes<const N: usize> = [u8; N];

/// Cells of one size.
struct Cells<const N: usize>(Vec<NonNull<Bytes<N>>>);

// SAFETY: the thread that has the cells is their only owner.
unsafe impl<const N: usize> Send for Cells<N> {}

impl<const N: usize> Cells<N> {
    fn put(count: usize) -> Self {
        let cells = (0..count).map(|index| put([index as u8; N], true));
        Self(cells.collect())
    }

    fn remove(self) {
        for (index, cell) in self.0.into_iter().enumerate() {
            // SAFETY: `put` made the cell, and it hasn't been removed.
            let bytes = unsafe { cell.read() };
            assert_eq!(bytes, [index as u8; N], "another cell's memory");
            // SAFETY: as above, and the cell isn't used anymore.
            unsafe { remove(cell, true) };
        }
    }
}

/// Runs `body` on a thread that keeps no blocks yet, and waits for its end.
fn on_a_thread<R: Send>(body: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| scope.spawn(body).join().expect("it doesn't panic"))
}

fn serves_the_next<const N: usize>() {
    on_a_thread(|| {
        Cells::<N>::put(3).remove();
        let mut places = Vec::with_capacity(3);
        let (cells, counted) = allocations(|| {
            for index in 0..3 {
                places.push(put([index; N], true));
            }
            Cells(places)
        });
        assert_eq!(counted.count, 0, "cells of {N} bytes were allocated again");
        cells.remove();
    });
}

#[test]
fn a_block_serves_the_next_task_of_its_size() {
    alone(
        "The block of a task that has ended serves the next task.",
        || {
            // The first and the last size of a class.
            serves_the_next::<1>();
            serves_the_next::<STEP>();
            serves_the_next::<{ STEP + 1 }>();
            serves_the_next::<{ 7 * STEP }>();
            serves_the_next::<{ CLASSES * STEP }>();
        },
    );
}

#[test]
fn only_schedulers_that_ask_reuse_blocks() {
    #[derive(Clone, Copy)]
    #[repr(align(128))]
    struct Wide(#[expect(dead_code, reason = "it is there for its size")] u8);

    fn is_given_back<C: Copy>(cell: C, recycles: bool) {
        let place = put(cell, recycles);
        // SAFETY: `put` has just made it, for the same `recycles`.
        unsafe { remove(place, recycles) };
        let (place, counted) = allocations(|| put(cell, recycles));
        assert_eq!(counted.count, 1, "the block was kept");
        // SAFETY: as above.
        unsafe { remove(place, recycles) };
    }

    alone(
        "Large and widely aligned tasks have memory of their own.",
        || {
            is_given_back([0_u8; STEP], false);
            is_given_back([0_u8; CLASSES * STEP + 1], true);
            is_given_back(Wide(0), true);
        },
    );
}

#[test]
fn a_thread_that_ends_keeps_nothing() {
    alone("What a thread keeps is freed when it ends.", || {
        on_a_thread(|| {});
        let before = live_blocks();
        // A spare batch, and some more; no batch for the depot.
        on_a_thread(|| Cells::<STEP>::put(BATCH + 10).remove());
        let kept = live_blocks() - before;
        assert!(kept <= SPARE, "{kept} blocks are left");
    });
}

#[test]
fn blocks_travel_from_the_ending_to_the_spawning_thread() {
    alone("Blocks go back to the thread that spawns.", || {
        const COUNT: usize = 10 * BATCH;
        let (to_end, ended) = mpsc::channel::<Cells<STEP>>();
        let (sender, receiver) = mpsc::channel();
        let ends = thread::spawn(move || {
            for cells in ended {
                cells.remove();
                sender.send(()).expect("the other waits for it");
            }
        });
        on_a_thread(move || {
            for round in 0..3 {
                let mut places = Vec::with_capacity(COUNT);
                let ((), counted) = allocations(|| {
                    for index in 0..COUNT {
                        places.push(put([index as u8; STEP], true));
                    }
                });
                // Two batches stay with the thread that ends tasks.
                let most = if round == 0 { COUNT } else { 2 * BATCH };
                assert!(
                    counted.count <= most as u64,
                    "round {round}: {} of {COUNT} blocks were allocated",
                    counted.count
                );
                to_end.send(Cells(places)).expect("the thread waits");
                receiver.recv().expect("the thread ends them");
            }
        });
        ends.join().expect("it doesn't panic");
    });
}

#[test]
fn a_thread_that_spawns_and_ends_in_turn_sends_nothing_away() {
    alone("Only whole batches go to the depot.", || {
        on_a_thread(|| {
            // Not a whole batch is kept, however often one of its blocks is
            // used.
            Cells::<STEP>::put(BATCH / 2).remove();
            for _ in 0..10 * BATCH {
                Cells::<STEP>::put(1).remove();
            }
            assert_eq!(DEPOT[0].lock().len(), 0);
            Cells::<STEP>::put(3 * BATCH).remove();
            let sent = DEPOT[0].lock().len();
            assert!((1..=2).contains(&sent), "{sent} batches were sent away");
        });
    });
}

#[test]
fn the_depot_is_not_without_bounds() {
    alone(
        "The depot keeps a fixed number of batches, and the rest is freed.",
        || {
            on_a_thread(|| {});
            let before = live_blocks();
            on_a_thread(|| {
                Cells::<STEP>::put((MOST_BATCHES + 20) * BATCH).remove()
            });
            assert_eq!(DEPOT[0].lock().len(), MOST_BATCHES);
            let kept = live_blocks() - before;
            let most = (MOST_BATCHES * BATCH) as isize + SPARE;
            assert!(kept <= most, "{kept} blocks are left, not {most}");
        },
    );
}
