//! Tasks run on one queue, and nothing ends: neither a worker nor the runtime.

use ::task;

super::one_queue! {}

/// As in the stub.
mod end {
    use super::shared::Shared;

    impl Shared {
        pub fn shut_down(&self) {
            todo!()
        }

        pub fn shut_down_detached(&self) {
            todo!()
        }

        pub fn end_blocking(&self) {}
    }
}
