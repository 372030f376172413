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

impl Trace {
    /// The trace as Chrome trace-event JSON, which <https://ui.perfetto.dev> opens:
    /// what each worker did, what became of each task, and an arrow from each
    /// wake-up to the poll that it led to.
    pub fn to_chrome(&self) -> String {
        let polls = self.all_polls();
        let mut rows = self.lanes(&polls);
        rows.extend(polls.iter().flat_map(|poll| self.poll(poll)));
        rows.extend(self.parks().iter().map(|park| {
            let end = park.end_ns.unwrap_or(self.end_ns());
            let span = Span(park.start_ns, end);
            format!(
                r#"{{"ph":"X","pid":{WORKERS},"tid":{},{span},"name":"parked","cat":"park"}}"#,
                park.worker + 1
            )
        }));
        rows.extend(self.flows(&polls));
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
        for worker in 0..self.meta.workers as u32 {
            lane(WORKERS, worker + 1, &format!("worker {worker}"));
        }
        for (name, task) in self.names.iter().zip(1..) {
            lane(TASKS, task, name);
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
        let tid = lane_of(worker, task);
        let mut rows = vec![
            format!(
                r#"{{"ph":"X","pid":{WORKERS},"tid":{tid},{span},"name":{name},"cat":"poll","args":{args}}}"#
            ),
            format!(
                r#"{{"ph":"X","pid":{TASKS},"tid":{task},{span},"name":"running","cat":"task","args":{args}}}"#
            ),
        ];
        if let Some(waited) = poll.waited_ns {
            let span = Span(start_ns - waited, start_ns);
            rows.push(format!(
                r#"{{"ph":"X","pid":{TASKS},"tid":{task},{span},"name":"waiting","cat":"task"}}"#
            ));
        }
        rows
    }

    /// Arrows from the first wake-up of a task to the poll after it.
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
                    let Some((wake, poll)) = wakes.remove(&event.task).zip(poll) else {
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
            _ => return None,
        };
        let by = if event.kind == Kind::Wake {
            event.arg
        } else {
            event.task
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

/// Workers are counted from 1 there. What runs on other threads may overlap, so
/// that each task gets a lane.
fn lane_of(worker: i32, task: u32) -> u32 {
    u32::try_from(worker).map_or(1_000 + task, |worker| worker + 1)
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
