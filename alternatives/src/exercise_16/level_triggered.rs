//! Another correct design: `poll(2)`, which is level-triggered, and has the list
//! of all sources passed to it in each call. A direction is in the list as long
//! as a task waits for it, so that it's reported only then. A task that has to
//! wait ends the driver's call, because that call has the old list.

super::common_parts! {}
super::armed_parts! {}

#[path = "level_triggered/poller.rs"]
mod poller;
