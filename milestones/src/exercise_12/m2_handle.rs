//! Tasks run, are awaited, and end in every way. What a scheduler needs to end
//! them all, and a yield of its own, are still missing.

super::the_rest! {}
super::parts! {
    join = "../../../solutions/12-task/src/join.rs",
    raw = "../../../solutions/12-task/src/raw.rs"
}
super::without_list_and_yields! {}
