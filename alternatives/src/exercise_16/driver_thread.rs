//! Another correct design: a thread of its own waits for the events, and puts
//! them into a queue. The driver waits at the queue, on a condition variable. So
//! each event costs one more switch between threads, but an unpark and an
//! earlier deadline cost no system call in the poller.

super::common_parts! {}

#[path = "driver_thread/driver.rs"]
mod driver;
#[path = "../../../solutions/16-reactor/src/handle.rs"]
mod handle;
#[path = "../../../solutions/16-reactor/src/io.rs"]
mod io;
#[path = "../../../solutions/16-reactor/src/registrations.rs"]
mod registrations;
#[path = "../../../solutions/16-reactor/src/shutdown.rs"]
mod shutdown;
#[path = "driver_thread/wake_up.rs"]
mod wake_up;
