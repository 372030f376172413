//! What std has and a model checker's side of `primitives` hasn't. The book shows the list, too.
#![doc = include_str!("missing.md")]
//!
//! For each row there is a program below that compiles over std, and doesn't over loom: what this
//! list says is missing is missing.

/// A program for a row of the list. `lib` is std's modules, or `primitives`.
macro_rules! missing {
    ($($name:ident, $row:literal, $program:literal;)*) => {
        $(
            #[doc = concat!("Row ", $row)]
            ///
            /// ```
            /// mod lib { pub use std::sync::*; pub use std::{hint, thread, thread_local}; }
            #[doc = $program]
            /// ```
            ///
            /// ```compile_fail
            /// use primitives as lib;
            #[doc = $program]
            /// ```
            pub mod $name {}
        )*
    };
}

missing! {
    self_type, "`self: &Arc<Self>`",
    "use lib::Arc; struct S; impl S { fn run(self: &Arc<Self>) {} } Arc::new(S).run();";
    wake, "`Arc` as a `Wake`",
    "use lib::Arc; struct S; impl std::task::Wake for S { fn wake(self: Arc<Self>) {} }";
    unsized_values, "`Arc<dyn Trait>`",
    "use lib::Arc; let _: Arc<dyn Fn()> = Arc::new(|| ());";
    weak, "`Weak`",
    "use lib::Arc; let _ = Arc::downgrade(&Arc::new(1));";
    comparison, "`Arc: Ord`",
    "use lib::Arc; assert!(Arc::new(1) < Arc::new(2));";
    statics, "`static` atomics and locks",
    "use lib::atomic::AtomicBool; static FLAG: AtomicBool = AtomicBool::new(false);";
    once, "`OnceLock`",
    "use lib::OnceLock; let _: OnceLock<u32> = OnceLock::new();";
    scope, "`thread::scope`",
    "use lib::thread; thread::scope(|scope| { scope.spawn(|| ()); });";
    finished, "`JoinHandle::is_finished`",
    "use lib::thread; let _ = thread::spawn(|| ()).is_finished();";
    bounded_channel, "`mpsc::sync_channel`",
    "use lib::mpsc; let _ = mpsc::sync_channel::<u32>(1);";
    locals, "`LocalKey::set`",
    "lib::thread_local! { static LOCAL: std::cell::Cell<u32> = const { std::cell::Cell::new(0) }; } LOCAL.set(1);";
    poison, "`Mutex::is_poisoned`",
    "use lib::Mutex; let _ = Mutex::new(()).is_poisoned();";
    pointers, "`AtomicPtr::fetch_ptr_add`",
    "use lib::atomic::{AtomicPtr, Ordering}; AtomicPtr::new(&mut 1).fetch_ptr_add(1, Ordering::Relaxed);";
    exclusive, "`&mut` of an atomic",
    "use lib::atomic::AtomicU32; let mut atomic = AtomicU32::new(1); let _: &mut u32 = atomic.get_mut();";
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_row_has_its_program() {
        let list = include_str!("missing.md").lines().skip(2);
        let rows = list.filter_map(|line| line.split('|').nth(1));
        let rows: Vec<_> = rows.map(str::trim).collect();
        let source = include_str!("missing.rs").lines();
        let programs = source.filter_map(|line| line.strip_suffix("\",")?.split_once(", \""));
        let programs: Vec<_> = programs.map(|(_name, row)| row).collect();
        assert_eq!(rows, programs);
    }
}
