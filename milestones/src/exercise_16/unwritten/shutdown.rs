//! As in the stub.

use super::handle::Shared;

impl Shared {
    pub fn shut_down(&self) {
        todo!()
    }
}
