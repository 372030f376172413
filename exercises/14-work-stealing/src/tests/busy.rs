//! Tasks that keep a worker busy.

use super::*;

/// More tasks than most queues of fixed length hold.
const BURST: usize = 300;
/// A busy task gives up after this many polls.
const TOO_MANY: usize = 50_000;

/// Polls of tasks that keep a worker busy.
#[derive(Clone, Default)]
pub struct Busy {
    polls: Arc<AtomicUsize>,
    is_endless: bool,
}

impl Busy {
    /// For tasks that never give up.
    pub fn endless() -> Self {
        Self {
            polls: Arc::default(),
            is_endless: true,
        }
    }

    /// Counts a poll. Returns `true` as long as there should be more.
    pub fn go_on(&self) -> bool {
        self.polls.fetch_add(1, SeqCst) < TOO_MANY || self.is_endless
    }

    pub fn polls(&self) -> usize {
        self.polls.load(SeqCst)
    }

    /// Returns `true` once its tasks have given up, or were stopped.
    pub fn is_over(&self) -> bool {
        self.polls() >= TOO_MANY && !self.is_endless
    }

    /// Waits for the only worker's next poll, so that the one before is over.
    /// Gives up after a while if there is none.
    pub fn let_one_pass(&self) {
        let seen = self.polls();
        for _ in 0..1_000 {
            if self.polls() > seen {
                return;
            }
            thread::sleep(Duration::from_micros(50));
        }
    }

    pub fn stop(&self) {
        self.polls.store(TOO_MANY, SeqCst);
    }

    /// Tasks that spawn their successors.
    pub fn chain(self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            if self.go_on() {
                spawn(self.chain());
            }
        })
    }

    /// Tasks that spawn their successors and yield.
    pub fn yielding_chain(self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            if self.go_on() {
                spawn(self.clone().yielding_chain());
                yield_now().await;
                self.go_on();
            }
        })
    }

    /// Tasks that each spawn eight others, about 80,000 in total.
    pub fn storm(self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            if self.go_on() && self.polls() < 10_000 {
                (0..8).for_each(|_| drop(spawn(self.clone().storm())));
            }
        })
    }

    /// A task that spawns a queue full of others, yields, and repeats this.
    pub fn bursts(self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            while self.go_on() {
                for _ in 0..BURST {
                    let busy = self.clone();
                    spawn(async move { busy.go_on() });
                }
                yield_now().await;
            }
        })
    }

    pub async fn yields(self) {
        while self.go_on() {
            yield_now().await;
        }
    }

    pub async fn wakes_itself(self) {
        poll_fn(|cx| match self.go_on() {
            true => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            false => Poll::Ready(()),
        })
        .await;
    }

    /// Two tasks that wake each other.
    pub fn pair(self) {
        let wakers: Arc<[Mutex<Option<Waker>>; 2]> = Arc::default();
        for me in [0, 1] {
            let (busy, wakers) = (self.clone(), wakers.clone());
            spawn(poll_fn(move |cx| {
                *wakers[me].lock().unwrap() = Some(cx.waker().clone());
                let other = wakers[1 - me].lock().unwrap().take();
                match other {
                    Some(waker) => waker.wake(),
                    None => cx.waker().wake_by_ref(),
                }
                match busy.go_on() {
                    true => Poll::Pending,
                    false => Poll::Ready(()),
                }
            }));
        }
    }
}

/// A way to keep a worker busy forever.
pub type Way = fn(Busy);

pub const WAYS: [(&str, Way); 4] = [
    ("spawn their successors", |busy| drop(spawn(busy.chain()))),
    ("yield", |busy| drop(spawn(busy.yields()))),
    ("wake themselves", |busy| drop(spawn(busy.wakes_itself()))),
    ("wake one another", Busy::pair),
];
