//! What a thread keeps, and what it costs.

use super::*;

/// Clause 7: this is what the exercise is about.
#[test]
fn calls_after_the_first_allocate_nothing() {
    let lesson = Lesson {
        clause: "7. No allocation",
        promise: "After the first call on a thread, `block_on` allocates nothing, whether the \
                  future is ready at once or not.",
        usual_cause: "The parker and the waker are created for each call, or they are taken out of \
                      the cache and not put back.",
        read: "one-future/cached-block-on.html#what-a-call-pays-for",
    };
    check(lesson, || {
        block_on(async {});
        for round in 1..=5 {
            let ((), ready) = allocations(|| block_on(async {}));
            let ((), yields) = allocations(|| block_on(Yields(10)));
            let blocks = ready.count + yields.count;
            assert!(blocks == 0, "round {round} allocated {blocks} blocks");
        }
        // On some systems, a mutex allocates when the thread first locks it to
        // sleep.
        allocations_of_a_sleep();
        let blocks = allocations_of_a_sleep();
        assert!(blocks == 0, "a call that sleeps allocated {blocks} blocks");
    });
}

/// The number of blocks that a `block_on` that sleeps allocates, without those
/// of its future.
fn allocations_of_a_sleep() -> u64 {
    let (future, handle) = ManualFuture::new();
    let waking = thread::spawn(move || {
        handle.wait_until_asleep();
        handle.complete();
    });
    let of_polls = Cell::new(0);
    let mut future = pin!(future);
    let ((), whole) = allocations(|| {
        block_on(poll_fn(|cx| {
            let (poll, counted) = allocations(|| future.as_mut().poll(cx));
            of_polls.set(of_polls.get() + counted.count);
            poll
        }))
    });
    join(waking);
    whole.count - of_polls.get()
}

/// Clause 10: a timer that turned out not to be needed fires after the call.
#[test]
fn a_waker_may_be_used_after_its_thread_has_ended() {
    let lesson = Lesson {
        clause: "10. Wakers live on",
        promise: "A waker may be woken, cloned and dropped on any thread, even after its call has \
                  returned and its thread has ended.",
        usual_cause: "The waker points into the thread's cache without a reference count, and the \
                      cache is freed when the thread ends.",
        read: "one-future/cached-block-on.html#what-a-call-leaves-behind",
    };
    check(lesson, || {
        let here = waker_of_this_thread();
        let ended = thread::spawn(|| {
            block_on(Yields(1));
            waker_of_this_thread()
        });
        let ended = ended.join().expect("the thread doesn't panic");
        // A later thread, which may get the first thread's memory.
        join(thread::spawn(move || {
            for waker in [here, ended] {
                block_on(async {
                    waker.wake_by_ref();
                    let clone = waker.clone();
                    Yields(1).await;
                    clone.wake();
                    waker.wake();
                });
            }
        }));
        block_on(Yields(1));
    });
}

/// Calls `block_on` when its thread ends.
struct BlocksOnDrop(mpsc::Sender<Waker>);

impl Drop for BlocksOnDrop {
    fn drop(&mut self) {
        block_on(Yields(3));
        let waker = block_on(poll_fn(|cx| {
            let waker = cx.waker().clone();
            join(thread::spawn(|| waker.wake()));
            Poll::Ready(cx.waker().clone())
        }));
        block_on(Yields(1));
        let _ = self.0.send(waker);
    }
}

thread_local! {
    static LAST_WORDS: RefCell<Option<BlocksOnDrop>> = const { RefCell::new(None) };
}

/// Clause 11: thread-locals are destroyed one after another, and a later
/// destructor finds the cache gone.
#[test]
fn it_works_in_the_destructor_of_a_thread_local() {
    let lesson = Lesson {
        clause: "11. Thread exit",
        promise: "`block_on` works while the thread ends, whether or not the thread called it \
                  before.",
        usual_cause: "The cache is a thread-local that may be gone already, and then `with` \
                      panics. Use `try_with`, and do without the cache if it's gone.",
        read: "one-future/cached-block-on.html#when-the-thread-ends",
    };
    check(lesson, || {
        // A thread-local is registered at its first use, and the one registered
        // last is destroyed first.
        let before: fn() = || block_on(Yields(1));
        let never: fn() = || ();
        for [first, then] in [[before, never], [never, before], [never, never]]
        {
            let (announce, announced) = mpsc::channel();
            join(thread::spawn(move || {
                first();
                LAST_WORDS.set(Some(BlocksOnDrop(announce)));
                then();
            }));
            let waker = announced.recv();
            waker.expect("the destructor ran").wake();
        }
    });
}

/// Clause 8: what detects the recursion may be gone, too.
#[test]
fn a_recursive_call_while_the_thread_ends_panics() {
    let lesson = Lesson {
        clause: "8. No recursion",
        promise: "A recursive call panics and polls nothing, even in the destructor of a \
                  thread-local.",
        usual_cause: "The mark that a call is running is in the cache, and a call that finds the \
                      cache gone doesn't check it. Keep the mark in a thread-local of its own, \
                      whose type has no destructor, so that it exists until the thread has ended.",
        read: "one-future/cached-block-on.html#when-the-thread-ends",
    };
    check(lesson, || {
        // If there is a `todo!`, it is reached here, because a panic in a
        // destructor ends the process.
        block_on(Yields(1));
        for calls_before in [true, false] {
            let (announce, announced) = mpsc::channel();
            join(thread::spawn(move || {
                RECURSES.set(Some(RecursesOnDrop(announce)));
                // What the call keeps is registered later, so it's destroyed
                // earlier.
                if calls_before {
                    block_on(Yields(1));
                }
            }));
            // Another check is about whether `block_on` works there at all.
            let Ok((outer, panics, polls)) = announced.recv() else {
                continue;
            };
            assert!(
                outer == 6 && panics && polls == 0,
                "while the thread ended, the recursive call {} and polled its future {polls} \
                 times; the outer call returned {outer}",
                if panics { "panicked" } else { "returned" }
            );
        }
    });
}

struct RecursesOnDrop(mpsc::Sender<(u32, bool, u32)>);

impl Drop for RecursesOnDrop {
    fn drop(&mut self) {
        let mut polls = 0;
        let mut panics = false;
        let mut given = 0;
        let outer = panic_message(|| {
            given = block_on(async {
                let inner = async { polls += 1 };
                panics = panic_message(|| block_on(inner)).is_some();
                6
            });
        });
        if outer.is_none() {
            let _ = self.0.send((given, panics, polls));
        }
    }
}

thread_local! {
    static RECURSES: RefCell<Option<RecursesOnDrop>> = const { RefCell::new(None) };
}

/// Clause 2: what the thread keeps is gone, but the thread still has to wait.
#[test]
fn it_sleeps_while_the_thread_ends() {
    let lesson = Lesson {
        clause: "2. Idle",
        promise: "In the destructor of a thread-local, too, `block_on` sleeps until it is woken.",
        usual_cause: "A call that finds the cache gone does without a parker, and polls again and \
                      again. Create a parker and a waker for this call, which may allocate. Or the \
                      call accesses the cache by `with` or `take`, which panic once it's gone; \
                      `try_with` returns an error instead.",
        read: "one-future/cached-block-on.html#when-the-thread-ends",
    };
    const WINDOW: Duration = Duration::from_millis(100);
    const MOST_CPU: Duration = Duration::from_millis(20);
    check(lesson, || {
        block_on(Yields(1));
        for calls_before in [true, false] {
            let (future, handle) = ManualFuture::new();
            let ending = thread::spawn(move || {
                AT_THE_END.set(Some(AtTheEnd(Some(Box::new(|| {
                    block_on(future);
                })))));
                if calls_before {
                    block_on(Yields(1));
                }
            });
            let (_waker, ends) = handle.wait_until_asleep();
            let cost = idle_cost(&ends, WINDOW);
            let polls = handle.polls();
            handle.complete();
            join(ending);
            let cpu = cost.map_or(Duration::ZERO, |cost| cost.cpu);
            assert!(
                polls <= 2 && cpu < MOST_CPU,
                "while its thread ended, a future that wasn't woken was polled {polls} times, and \
                 the thread used {cpu:.0?} of CPU time in {WINDOW:?}"
            );
        }
    });
}

/// Does something when its thread ends.
struct AtTheEnd(Option<Box<dyn FnOnce()>>);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|last| last());
    }
}

thread_local! {
    static AT_THE_END: RefCell<Option<AtTheEnd>> = const { RefCell::new(None) };
}

/// Clause 4: what an ending thread drops, such as a sender or a guard, may wake
/// other threads.
#[test]
fn a_thread_that_ends_wakes_another() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "A destructor of a thread-local may call any waker, and the waker wakes the \
                  thread that it was made for, even if one of the ended thread's had the same \
                  address.",
        usual_cause: "The waker accesses what the thread keeps by `with`, although it may be gone: \
                      use `try_with`. Or the waker compares its target's address with one that the \
                      thread has stored, and the stored address outlives the target: another \
                      thread's target may be allocated there. Clear the address when the target \
                      may be freed.",
        read: "one-future/cached-block-on.html#whose-flag-is-it",
    };
    const ROUNDS: usize = 6;
    check(lesson, || {
        for round in 0..ROUNDS {
            let (tell_waker, wakers) = mpsc::channel::<Waker>();
            let (tell_gone, gone) = mpsc::channel::<Waker>();
            let (tell_panic, panics) = mpsc::channel();
            let ending = thread::spawn(move || {
                let kept = Rc::new(Cell::new(None));
                AT_THE_END.set(Some(AtTheEnd(Some(Box::new({
                    let kept = kept.clone();
                    move || {
                        // A thread that panicked has none, and its `join`
                        // returns the panic.
                        let Some(gone) = kept.take() else { return };
                        // Its last count is given back on another thread.
                        let _ = tell_gone.send(gone);
                        let Ok(waker) = wakers.recv() else { return };
                        let panic = panic_message(|| waker.wake_by_ref());
                        let _ = tell_panic.send(panic);
                    }
                })))));
                // What the call keeps is registered later, so it's destroyed
                // earlier.
                kept.set(Some(waker_of_this_thread()));
            });
            let waiting = thread::spawn(move || {
                let Ok(gone) = gone.recv() else { return };
                let mut is_first = true;
                let _others = free_for_reuse(gone, round % 2);
                block_on(poll_fn(|cx| {
                    if !std::mem::take(&mut is_first) {
                        return Poll::Ready(());
                    }
                    let _ = tell_waker.send(cx.waker().clone());
                    Poll::Pending
                }));
            });
            let panic = panics.recv().ok().flatten();
            assert!(
                panic.is_none(),
                "a wake-up by a thread that was ending panicked: {panic:?}"
            );
            join(ending);
            join(waiting);
        }
    });
}

/// Drops the waker so that this thread's next allocation gets its memory, or,
/// for each size, the next allocation after `but` others.
fn free_for_reuse(waker: Waker, but: usize) -> impl Sized {
    /// More blocks than testkit's allocator keeps from being reused.
    const KEPT_FROM_REUSE: usize = 5_000;
    /// More blocks of each size than the system's allocator keeps for a thread.
    const KEPT_FOR_REUSE: usize = 40;
    let blocks_of_each_size = |count| {
        let sizes = (8..=128).step_by(8);
        let blocks = sizes.flat_map(|size| [size].repeat(count));
        blocks.map(Vec::<u8>::with_capacity).collect::<Vec<_>>()
    };
    let age = || {
        for _ in 0..KEPT_FROM_REUSE {
            drop(std::hint::black_box(Box::new([0_u8; 1_000])));
        }
    };
    age();
    let before = blocks_of_each_size(KEPT_FOR_REUSE);
    drop(waker);
    age();
    (before, blocks_of_each_size(but))
}

/// Clause 11: a program may start a thread for each request.
#[test]
fn what_a_thread_kept_is_freed_when_it_ends() {
    let lesson = Lesson {
        clause: "11. Thread exit",
        promise: "The parker and the waker of a thread are freed when it ends.",
        usual_cause: "The cache is leaked to get a `'static` reference, or is kept behind a raw \
                      pointer and never freed. Or the cache keeps what a call creates for itself \
                      while the thread ends, when no destructor will run anymore. Or a `wake` by \
                      value returns before it has given back its waker's count.",
        read: "one-future/cached-block-on.html#when-the-thread-ends",
    };
    const THREADS: isize = 100;
    check(lesson, || {
        let call = || join(thread::spawn(|| block_on(Yields(1))));
        let wakes_by_value = || {
            join(thread::spawn(|| {
                block_on(poll_fn(|cx| {
                    let [here, elsewhere, _dropped] =
                        [(); 3].map(|()| cx.waker().clone());
                    here.wake();
                    join(thread::spawn(|| elsewhere.wake()));
                    Poll::Ready(())
                }));
            }));
        };
        let calls_at_its_end = || {
            let (announce, announced) = mpsc::channel();
            join(thread::spawn(move || {
                LAST_WORDS.set(Some(BlocksOnDrop(announce)));
                block_on(Yields(1));
            }));
            drop(announced);
        };
        let ways: [(&str, &dyn Fn()); 3] = [
            ("have called it", &call),
            ("were woken by value", &wakes_by_value),
            ("called it as they ended", &calls_at_its_end),
        ];
        for (what, thread) in ways {
            thread();
            let before = live_blocks();
            (0..THREADS).for_each(|_| thread());
            let kept = live_blocks() - before;
            assert!(
                kept < THREADS / 2,
                "{THREADS} threads that {what} left {kept} blocks of memory behind"
            );
        }
    });
}

/// Clause 12: counted rather than timed, so that every machine agrees. This
/// counts what the code does through the crate `primitives`.
#[test]
fn a_wake_on_the_polling_thread_takes_no_atomic_read_modify_write() {
    let lesson = Lesson {
        clause: "12. Cheap",
        promise: "A wake-up by reference on the polling thread, and the poll after it, take no \
                  atomic read-modify-write.",
        usual_cause: "The waker swaps an atomic flag or locks a mutex although no other thread is \
                      involved, or the loop takes the other threads' token before its own flag. Or \
                      only the waker in the `Context` takes the fast path, and its clones don't.",
        read: "one-future/cached-block-on.html#two-ways-to-be-woken",
    };
    const WAKES: u32 = 1_000;
    check(lesson, || {
        block_on(async {});
        let before = read_modify_writes();
        block_on(Yields(WAKES));
        let made = read_modify_writes() - before;
        assert!(
            made < u64::from(WAKES) / 10,
            "{WAKES} wake-ups on the polling thread took {made} atomic read-modify-writes"
        );

        let before = read_modify_writes();
        let (mut clone, mut wakes) = (None, 0);
        block_on(poll_fn(|cx| {
            if wakes == WAKES {
                return Poll::Ready(());
            }
            wakes += 1;
            clone
                .get_or_insert_with(|| cx.waker().clone())
                .wake_by_ref();
            Poll::Pending
        }));
        let made = read_modify_writes() - before;
        assert!(
            made < u64::from(WAKES) / 10,
            "{WAKES} wake-ups by a clone on the polling thread took {made} atomic \
             read-modify-writes"
        );
    });
}

/// Clause 12: counted in the processor's instructions, so that those within the
/// standard library count, too.
#[test]
fn no_locked_instruction_is_executed_for_a_wake_on_the_polling_thread() {
    let lesson = Lesson {
        clause: "12. Cheap",
        promise: "A wake-up by reference on the polling thread, and the poll after it, take no \
                  atomic read-modify-write: no instruction with a `lock` prefix, and no `xchg` \
                  with memory.",
        usual_cause: "A call into the standard library hides one. `thread::current()` increments \
                      and decrements the count of an `Arc`, and so does cloning a `Waker`. To \
                      compare threads, compare the addresses of something that each thread keeps.",
        read: "one-future/cached-block-on.html#whose-flag-is-it",
    };
    const FEW: u32 = 4;
    const MORE: u32 = 20;
    check(lesson, || {
        let locked_for =
            |wakes| locked_instructions(|| block_on(Yields(wakes)));
        // First uses take paths of their own.
        let _first = locked_for(FEW);
        let (Some(few), Some(many)) = (locked_for(FEW), locked_for(FEW + MORE))
        else {
            return; // This machine doesn't step through code.
        };
        let made = many.saturating_sub(few);
        assert!(
            made < MORE / 10,
            "{MORE} wake-ups on the polling thread executed {made} atomic read-modify-writes"
        );
    });
}
