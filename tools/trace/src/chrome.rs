//! The trace for Chrome's and Perfetto's viewers, in Chrome's trace-event format.

use std::collections::HashMap;
use std::fmt;

use crate::event::{Event, Kind};
use crate::json::{self, Text};
use crate::reading::Poll;
use crate::trace::Trace;

/// The "process" whose threads are the workers.
const WORKERS: u32 = 1;
/// The "process" whose threads are the tasks.
const TASKS: u32 = 2;

/// The first worker's "thread". No number may occur twice, not even in two processes: Perfetto
/// identifies threads by their number alone.
const FIRST_WORKER: u32 = 1_000;
/// The "thread" of what ran on no worker, for no task; then one for each task.
const ELSEWHERE: u32 = 1_000_000;
/// The "thread" of a task is behind this.
const FIRST_TASK: u32 = 2_000_000;

impl Trace {
    /// The trace as Chrome trace-event JSON, which <https://ui.perfetto.dev> opens:
    /// what each worker did, what became of each task, and an arrow from each
    /// wake-up to the poll that it led to.
    pub fn to_chrome(&self) -> String {
        let polls = self.all_polls();
        let mut rows = self.lanes(&polls);
        rows.extend(polls.iter().flat_map(|poll| self.poll(poll)));
        for (name, states) in [("parked", self.parks()), ("searching", self.searches())] {
            rows.extend(states.iter().map(|state| {
                let span = Span(state.start_ns, state.end_ns.unwrap_or(self.end_ns()));
                let tid = lane_of(state.worker, 0);
                format!(
                    r#"{{"ph":"X","pid":{WORKERS},"tid":{tid},{span},"name":"{name}","cat":"worker"}}"#
                )
            }));
        }
        rows.extend(self.flows(&polls));
        rows.extend(self.lengths().into_iter().map(|length| {
            let (ts, name) = (Microseconds(length.time_ns), length.queue_name());
            let tasks = length.tasks.max(0);
            format!(
                r#"{{"ph":"C","pid":{WORKERS},"ts":{ts},"name":"{name}","args":{{"tasks":{tasks}}}}}"#
            )
        }));
        rows.extend(self.events.iter().filter_map(|event| self.instant(event)));
        format!(
            "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":{}}}\n",
            json::lines(rows)
        )
    }

    /// When the last event was.
    fn end_ns(&self) -> u64 {
        self.events.last().map_or(0, |event| event.time_ns)
    }

    /// The names of processes and threads, and the threads' order.
    fn lanes(&self, polls: &[Poll]) -> Vec<String> {
        let mut rows = Vec::new();
        for (pid, name) in [(WORKERS, "Workers"), (TASKS, "Tasks")] {
            rows.push(format!(
                r#"{{"ph":"M","pid":{pid},"name":"process_name","args":{{"name":"{name}"}}}}"#
            ));
        }
        let mut lane = |pid: u32, tid: u32, name: &str| {
            let name = Text(name);
            let head = format!(r#"{{"ph":"M","pid":{pid},"tid":{tid},"name":"#);
            rows.push(format!(r#"{head}"thread_name","args":{{"name":{name}}}}}"#));
            rows.push(format!(
                r#"{head}"thread_sort_index","args":{{"sort_index":{tid}}}}}"#
            ));
        };
        for worker in 0..self.meta.workers as i32 {
            lane(WORKERS, lane_of(worker, 0), &format!("worker {worker}"));
        }
        lane(WORKERS, ELSEWHERE, "other threads");
        for (name, task) in self.names.iter().zip(1..) {
            lane(TASKS, FIRST_TASK + task, name);
            let is_elsewhere = |poll: &Poll| poll.task == task && poll.worker < 0;
            if polls.iter().any(is_elsewhere) {
                lane(WORKERS, lane_of(-1, task), &format!("{name}, on no worker"));
            }
        }
        rows
    }

    /// A poll, as its worker's and as its task's, and the wait before it.
    fn poll(&self, poll: &Poll) -> Vec<String> {
        let Poll {
            task,
            worker,
            start_ns,
            ..
        } = *poll;
        let span = Span(start_ns, poll.end_ns.unwrap_or(self.end_ns()));
        let result = match (poll.end_ns, poll.is_ready) {
            (None, _) => "unknown",
            (Some(_), true) => "Ready",
            (Some(_), false) => "Pending",
        };
        let name = Text(self.name(task));
        let waited = poll.waited_ns.map_or(String::new(), |waited| {
            format!(r#","waited_us":{}"#, Microseconds(waited))
        });
        let args = format!(r#"{{"task":{task},"worker":{worker},"result":"{result}"{waited}}}"#);
        let (tid, lane) = (lane_of(worker, task), FIRST_TASK + task);
        let mut rows = vec![
            format!(
                r#"{{"ph":"X","pid":{WORKERS},"tid":{tid},{span},"name":{name},"cat":"poll","args":{args}}}"#
            ),
            format!(
                r#"{{"ph":"X","pid":{TASKS},"tid":{lane},{span},"name":"running","cat":"task","args":{args}}}"#
            ),
        ];
        if let Some(waited) = poll.waited_ns.filter(|&waited| waited > 0) {
            let span = Span(start_ns - waited, start_ns);
            rows.push(format!(
                r#"{{"ph":"X","pid":{TASKS},"tid":{lane},{span},"name":"waiting","cat":"task"}}"#
            ));
        }
        rows
    }

    /// Arrows from the first wake-up of a task to the poll after it. They begin and end in polls:
    /// an arrow from nowhere isn't drawn.
    fn flows(&self, polls: &[Poll]) -> Vec<String> {
        let mut wakes: HashMap<u32, &Event> = HashMap::new();
        let mut polls = polls.iter();
        let mut rows = Vec::new();
        for event in &self.events {
            match event.kind {
                Kind::Wake => {
                    wakes.entry(event.task).or_insert(event);
                }
                Kind::PollBegin => {
                    let poll = polls.next();
                    let wake = wakes.remove(&event.task).filter(|wake| wake.arg != 0);
                    let Some((wake, poll)) = wake.zip(poll) else {
                        continue;
                    };
                    let id = rows.len() / 2 + 1;
                    let from = lane_of(wake.worker, wake.arg);
                    let to = lane_of(poll.worker, poll.task);
                    let head = r#""name":"wake","cat":"wake""#;
                    rows.push(format!(
                        r#"{{"ph":"s","pid":{WORKERS},"tid":{from},"ts":{},{head},"id":{id}}}"#,
                        Microseconds(wake.time_ns)
                    ));
                    rows.push(format!(
                        r#"{{"ph":"f","bp":"e","pid":{WORKERS},"tid":{to},"ts":{},{head},"id":{id}}}"#,
                        Microseconds(poll.start_ns)
                    ));
                }
                _ => {}
            }
        }
        rows
    }

    /// What has no length.
    fn instant(&self, event: &Event) -> Option<String> {
        let name = match event.kind {
            Kind::Mark => self.meta.marks.get(event.arg as usize)?.clone(),
            Kind::Yield => "yield".to_owned(),
            Kind::Wake => format!("wakes {}", self.name(event.task)),
            Kind::Overflow => format!("overflow: {} tasks", event.count),
            Kind::Steal => format!("steals {} from worker {}", event.count, event.arg),
            Kind::Take => format!("takes {} from the global queue", event.count),
            Kind::Notify => format!("notifies worker {}", event.arg),
            _ => return None,
        };
        let by = match event.kind {
            Kind::Wake => event.arg,
            Kind::Mark | Kind::Yield => event.task,
            _ => 0,
        };
        let tid = lane_of(event.worker, by);
        Some(format!(
            r#"{{"ph":"i","s":"t","pid":{WORKERS},"tid":{tid},"ts":{},"name":{},"cat":"{}"}}"#,
            Microseconds(event.time_ns),
            Text(&name),
            event.kind.name()
        ))
    }
}

/// What runs on other threads may overlap, so each task gets a lane.
fn lane_of(worker: i32, task: u32) -> u32 {
    u32::try_from(worker).map_or(ELSEWHERE + task, |worker| FIRST_WORKER + worker)
}

/// A start and an end, as start and length.
struct Span(u64, u64);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, length) = (Microseconds(self.0), Microseconds(self.1 - self.0));
        write!(f, r#""ts":{start},"dur":{length}"#)
    }
}

/// The format's unit. Fractions are read to the nanosecond.
struct Microseconds(u64);

impl fmt::Display for Microseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1_000, self.0 % 1_000)
    }
}
