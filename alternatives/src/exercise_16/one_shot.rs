//! Another correct design: one-shot events, from the crate polling. A task that
//! has to wait arms its direction, which costs a system call. In return no event
//! comes for which no task waits, and arming looks at the source once more, so
//! that nothing can come between `WouldBlock` and the wait.

super::common_parts! {}
super::armed_parts! {}

#[path = "one_shot/poller.rs"]
mod poller;
