//! A line for the machine: a few run at once, some wait, the rest is refused.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::watch;

use crate::problem::Problem;

/// How many may wait.
const LONGEST_LINE: usize = 16;

/// The line.
pub struct Queue {
    state: Arc<watch::Sender<State>>,
}

#[derive(Default)]
struct State {
    running: usize,
    running_most: usize,
    waiting: VecDeque<u64>,
    next_number: u64,
}

/// A place in the line; dropping it gives it up.
pub struct Ticket {
    number: u64,
    state: Arc<watch::Sender<State>>,
}

/// The right to run; dropping it lets the next one run.
pub struct Turn {
    state: Arc<watch::Sender<State>>,
}

impl Queue {
    /// Creates a line from which about as many run at once as the machine can
    /// serve without spoiling each other's times.
    pub fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self::with_room_for(cores.clamp(2, 4))
    }

    fn with_room_for(running_most: usize) -> Self {
        let state = State {
            running_most,
            ..State::default()
        };
        Self {
            state: Arc::new(watch::Sender::new(state)),
        }
    }

    /// Joins the line.
    ///
    /// # Errors
    ///
    /// When the line is full.
    pub fn enter(&self) -> Result<Ticket, Problem> {
        let mut number = None;
        self.state.send_if_modified(|state| {
            let free = state.running_most - state.running;
            if state.waiting.len() < LONGEST_LINE + free {
                number = Some(state.next_number);
                state.waiting.push_back(state.next_number);
                state.next_number += 1;
            }
            false
        });
        match number {
            Some(number) => Ok(Ticket {
                number,
                state: self.state.clone(),
            }),
            None => Err(Problem::new("too many runs are waiting already")
                .help("stop some of them, or wait until one has ended")),
        }
    }

    /// Completes when nothing runs.
    pub async fn drained(&self) {
        let mut state = self.state.subscribe();
        let _closed = state.wait_for(|state| state.running == 0).await;
    }
}

impl Ticket {
    /// Waits for the turn, and tells every change of the place in the line.
    pub async fn turn(self, mut on_position: impl FnMut(usize)) -> Turn {
        let mut changes = self.state.subscribe();
        let mut told = None;
        loop {
            changes.borrow_and_update();
            if self.try_start() {
                return Turn {
                    state: self.state.clone(),
                };
            }
            let position = self.position();
            if told != Some(position) {
                on_position(position);
                told = Some(position);
            }
            let _open = changes.changed().await;
        }
    }

    /// Returns `true` if this ticket is first in line and there is room.
    fn try_start(&self) -> bool {
        self.state.send_if_modified(|state| {
            let first = state.waiting.front() == Some(&self.number);
            let starts = first && state.running < state.running_most;
            if starts {
                state.waiting.pop_front();
                state.running += 1;
            }
            starts
        })
    }

    fn position(&self) -> usize {
        let state = self.state.borrow();
        let ahead = state
            .waiting
            .iter()
            .take_while(|&&number| number != self.number);
        ahead.count() + 1
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.state.send_if_modified(|state| {
            let before = state.waiting.len();
            state.waiting.retain(|&number| number != self.number);
            state.waiting.len() != before
        });
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.state.send_modify(|state| state.running -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_LINE, Queue, Ticket};

    async fn start(ticket: Ticket) -> super::Turn {
        ticket.turn(|position| panic!("waits at {position}")).await
    }

    #[tokio::test]
    async fn the_next_in_line_runs_when_a_turn_ends() {
        let queue = Queue::with_room_for(1);
        let first = start(queue.enter().unwrap()).await;
        let second = queue.enter().unwrap();
        let third = queue.enter().unwrap();
        assert_eq!((second.position(), third.position()), (1, 2));
        assert!(!second.try_start());

        drop(second);
        assert_eq!(
            third.position(),
            1,
            "a ticket that leaves the line holds up no other"
        );
        drop(first);
        drop(start(third).await);
        queue.drained().await;
    }

    #[tokio::test]
    async fn a_full_line_refuses_and_takes_again_when_one_leaves() {
        let queue = Queue::with_room_for(2);
        let _running = (
            start(queue.enter().unwrap()).await,
            start(queue.enter().unwrap()).await,
        );
        let mut line: Vec<_> = (0..LONGEST_LINE).map(|_| queue.enter().unwrap()).collect();
        assert!(queue.enter().is_err());
        line.pop();
        assert!(queue.enter().is_ok());
    }
}
