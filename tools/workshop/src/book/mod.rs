//! Builds the book with mdBook, and keeps the served one up to date.

mod address;
mod build;
mod complaints;
mod includes;
mod keeper;
mod minutes;
mod stamp;

pub use address::Address;
pub use build::{Purpose, build};
pub use complaints::listen;
pub use includes::includes;
pub use keeper::{Current, Keeper, News};
