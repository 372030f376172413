//! Whole recordings, from the numbers to the text.

use std::fs;

use serde_json::{Value, json};

use super::document::{Document, EndKind};
use super::picture::{Extent, draw};
use super::recording::Recording;
use super::sources::Sources;
use super::{Kept, catalogue, find, keep, overcome, shown, text};
use crate::workshop::Workshop;

const MODEL: &str = "exercises/02-x/src/models.rs";
const LIB: &str = "exercises/02-x/src/lib.rs";
const OTHER: &str = "solutions/01-y/src/lib.rs";

const FLAGS: &str = "exercises/02-x/src/flags.rs";

const SOURCES: [(&str, &str); 4] = [
    (
        FLAGS,
        "const RUNNING: u32 = 1;\nconst ABORTED: u32 = 1 << 1;\nconst JOINED: u32 = 1 << 2;\n\
         const REFERENCE: u32 = 1 << 3;\nself.flags.fetch_and(!RUNNING, Release);\n\
         self.flags.fetch_add(REFERENCE, Relaxed);\n",
    ),
    (
        MODEL,
        "let parker = Parker::new();\nlet unparking = thread::spawn(|| unpark());\n",
    ),
    (
        LIB,
        "const EMPTY: u8 = 0;\nconst PARKED: u8 = 1;\nlet lock = Mutex::new(());\n\
         let state = AtomicU8::new(EMPTY);\nlet woken = Condvar::new();\n\
         self.state.swap(PARKED, Release);\nself.state.load(Acquire);\nlet cell = UnsafeCell::new(());\n",
    ),
    (OTHER, "fn wake() {\n    self.x.load(Relaxed);\n}\n"),
];

fn at(file: &str, line: u32, column: u32, fields: Value) -> Value {
    let mut row = json!({ "file": file, "line": line, "column": column });
    let (Some(row_fields), Some(fields)) = (row.as_object_mut(), fields.as_object()) else {
        panic!("these are objects");
    };
    row_fields.extend(fields.clone());
    row
}

/// Objects 0 to 5: a mutex, an atomic, a condition variable, a cell, an atomic of another
/// exercise, and a word of flags.
fn recording(message: &str, steps: &[Value], order: &[Value]) -> Recording {
    let text = json!({
        "format": "primitives.order/1", "checker": "loom", "values": "plain",
        "newest_passed": true, "execution": 3, "message": message,
        "threads": [{}, at(MODEL, 2, 17, json!({}))],
        "objects": [
            at(LIB, 3, 12, json!({ "kind": "Mutex" })),
            at(LIB, 4, 13, json!({ "kind": "AtomicU8", "initial": "0" })),
            at(LIB, 5, 13, json!({ "kind": "Condvar" })),
            at(LIB, 8, 12, json!({ "kind": "UnsafeCell" })),
            at(OTHER, 2, 5, json!({ "kind": "AtomicU32", "initial": "0" })),
            at(FLAGS, 1, 1, json!({ "kind": "AtomicU32", "initial": "28" })),
        ],
        "steps": steps, "order": order,
    });
    Recording::read(&text.to_string()).expect("it is a recording")
}

fn spawn() -> Value {
    at(
        MODEL,
        2,
        17,
        json!({ "thread": 0, "operation": "spawn", "target": 1 }),
    )
}

fn drawn(recording: &Recording, extent: Extent) -> (String, EndKind) {
    let own = ["exercises/02-x/".to_owned()];
    let document = draw(
        recording,
        &Sources::from(&SOURCES),
        "models::m",
        &own,
        extent,
    );
    (text(&document, 200, None), document.end.kind)
}

#[test]
fn a_lost_wake_up_is_shown_with_names() {
    let steps = [
        at(
            LIB,
            6,
            12,
            json!({ "thread": 0, "object": 1, "operation": "load", "read": "0", "orderings": ["Relaxed"] }),
        ),
        spawn(),
        at(
            LIB,
            3,
            1,
            json!({ "thread": 0, "object": 0, "operation": "lock" }),
        ),
        at(
            LIB,
            6,
            12,
            json!({ "thread": 1, "object": 1, "operation": "swap", "read": "0", "wrote": "1", "orderings": ["Release"] }),
        ),
        at(
            LIB,
            5,
            1,
            json!({ "thread": 1, "object": 2, "operation": "notify_one" }),
        ),
        at(
            LIB,
            5,
            1,
            json!({ "thread": 0, "object": 2, "operation": "wait" }),
        ),
    ];
    let order = [0, 1, 2, 3, 4].map(|done| json!({ "done": done }));
    let order = [&order[..], &[json!({ "sleeps": 5 })]].concat();
    let recording = recording("deadlock; threads = []", &steps, &order);
    let (text, end) = drawn(&recording, Extent::Folded);
    let expected = "  \
  The order of the steps alone does it: each load reads the newest value.

       | main                | unparking                          |
     1 | spawn unparking     |                                    | models.rs:2
     2 | lock.lock           |                                    | lib.rs:3
     3 |                     | state.swap: EMPTY → PARKED Release | lib.rs:6
     4 |                     | woken.notify_one wakes no thread   | lib.rs:5
     5 | woken.wait: sleeps  |                                    | lib.rs:5
    => | main sleeps in woken.wait: a deadlock
";
    let narrow = |text: &str| {
        let lines = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines.map(|words| words.join(" ")).collect::<Vec<_>>()
    };
    assert_eq!((narrow(&text), end), (narrow(expected), EndKind::Deadlock));
    let (whole, _) = drawn(&recording, Extent::Whole);
    assert!(whole.contains("1 | state.load = EMPTY Relaxed"), "{whole}");
}

#[test]
fn an_old_value_is_shown_with_the_newest() {
    let steps = [
        spawn(),
        at(
            LIB,
            6,
            12,
            json!({ "thread": 1, "object": 1, "operation": "store", "wrote": "1", "orderings": ["Relaxed"] }),
        ),
        at(
            LIB,
            7,
            12,
            json!({ "thread": 0, "object": 1, "operation": "load", "read": "0", "newest": "1", "orderings": ["Acquire"] }),
        ),
    ];
    let mut order = [0, 1, 2].map(|done| json!({ "done": done })).to_vec();
    order.push(at(
        LIB,
        7,
        1,
        json!({ "panics": 0, "message": "not\nseen" }),
    ));
    let (text, end) = drawn(&recording("not\nseen", &steps, &order), Extent::Folded);
    assert_eq!(end, EndKind::Failure);
    for part in [
        "  Step 3 reads an old value: one of the threads lacks an ordering",
        "one step. No order was found to fail in which",
        "state.load = EMPTY, OLD: step 2 left PARKED Acquire",
        "=> | main fails (lib.rs:7): not seen\n",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn of_a_race_both_accesses_are_marked() {
    let steps = [
        spawn(),
        at(
            LIB,
            1,
            1,
            json!({ "thread": 0, "object": 3, "operation": "write" }),
        ),
        at(
            LIB,
            2,
            1,
            json!({ "thread": 1, "object": 3, "operation": "read" }),
        ),
    ];
    let mut order = [0, 1].map(|done| json!({ "done": done })).to_vec();
    let message = "Causality violation: x";
    order.push(json!({ "panics": 1, "message": message }));
    let (text, end) = drawn(&recording(message, &steps, &order), Extent::Folded);
    assert_eq!(end, EndKind::Race);
    for part in [
        "2 | cell.write (!)",
        "| cell.read (!)",
        "=> | cell: main writes it (lib.rs:1), and unparking reads it (lib.rs:2), and nothing orders",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn what_is_dropped_in_std_has_no_place() {
    let write = json!({ "thread": 0, "object": 3, "operation": "write" });
    let drop = json!({ "thread": 1, "object": 3, "operation": "drop" });
    let std = "/rustc/0/library/core/src/ptr/mod.rs";
    let steps = [spawn(), at(LIB, 1, 1, write), at(std, 805, 1, drop)];
    let message = "Causality violation: x";
    let mut order = [0, 1].map(|done| json!({ "done": done })).to_vec();
    order.push(json!({ "panics": 1, "message": message }));
    let (text, _) = drawn(&recording(message, &steps, &order), Extent::Folded);
    assert!(!text.contains("mod.rs"), "{text}");
    let both = "cell: main writes it (lib.rs:1), and unparking drops it, and nothing orders";
    assert!(text.contains(both), "{text}");
}

#[test]
fn parts_of_other_exercises_are_one_step_each() {
    let load = |thread| {
        at(
            OTHER,
            2,
            12,
            json!({ "thread": thread, "object": 4, "operation": "load", "read": "0" }),
        )
    };
    let steps = [spawn(), load(1), load(1), load(0)];
    let mut order = [0, 1, 2, 3].map(|done| json!({ "done": done })).to_vec();
    order.push(json!({ "panics": 0, "message": "x" }));
    let (text, _) = drawn(&recording("x", &steps, &order), Extent::Folded);
    assert!(text.contains("     2 |                 | (wake)"), "{text}");
    assert!(!text.contains("     4 |"), "{text}");
}

#[test]
fn a_flag_that_no_operation_is_given_is_not_taken_for_others() {
    let fields =
        json!({ "thread": 0, "object": 5, "operation": "fetch_and", "read": "29", "wrote": "28" });
    let order = [json!({ "done": 0 }), json!({ "done": 1 })];
    let recording = recording("x", &[spawn(), at(FLAGS, 5, 12, fields)], &order);
    let (text, _) = drawn(&recording, Extent::Whole);
    let change = "RUNNING|JOINED|3*REFERENCE → −RUNNING";
    assert!(text.contains(change), "{text}");
    assert!(
        !text.contains("*RUNNING") && !text.contains("ABORTED"),
        "{text}"
    );
}

#[test]
fn a_word_of_flags_has_them_for_the_page_to_draw() {
    let change = |operation: &str, read: &str, wrote: &str| {
        let fields = json!({ "thread": 0, "object": 5, "operation": operation, "read": read, "wrote": wrote });
        at(FLAGS, 5, 12, fields)
    };
    let steps = [
        spawn(),
        change("fetch_or", "28", "29"),
        change("fetch_sub", "29", "21"),
    ];
    let order = [0, 1, 2].map(|done| json!({ "done": done }));
    let document = draw(
        &recording("x", &steps, &order),
        &Sources::from(&SOURCES),
        "models::m",
        &[],
        Extent::Whole,
    );
    let cells: Vec<_> = document
        .cells
        .iter()
        .map(|cell| {
            (
                cell.initial.as_str(),
                cell.bits.join("|"),
                cell.counts.join("|"),
            )
        })
        .collect();
    let expected = (
        "JOINED|3*REFERENCE",
        "RUNNING|JOINED".into(),
        "REFERENCE".into(),
    );
    assert_eq!(cells, [expected]);
}

#[test]
fn a_step_in_our_own_wrappers_has_no_place() {
    let fields = json!({ "thread": 0, "object": 0, "operation": "unlock" });
    let unlock = at("tools/primitives/src/lock.rs", 7, 1, fields);
    let order = [json!({ "done": 0 }), json!({ "done": 1 })];
    let recording = recording("x", &[spawn(), unlock], &order);
    let (text, _) = drawn(&recording, Extent::Whole);
    assert!(text.contains("     2 | lock.unlock     |\n"), "{text}");
}

#[test]
fn a_loop_is_shown_twice_and_counted() {
    let load = at(
        LIB,
        7,
        12,
        json!({ "thread": 0, "object": 1, "operation": "load", "read": "0" }),
    );
    let fence = at(LIB, 7, 12, json!({ "thread": 0, "operation": "fence" }));
    let swap = at(
        LIB,
        6,
        12,
        json!({ "thread": 1, "object": 1, "operation": "swap", "read": "0", "wrote": "0" }),
    );
    let mut steps = vec![spawn(), swap];
    for _ in 0..5 {
        steps.extend([load.clone(), fence.clone()]);
    }
    steps.push(load.clone());
    let order: Vec<_> = (0..steps.len())
        .map(|done| json!({ "done": done }))
        .collect();
    let message = "Model exceeded maximum number of branches.";
    let (text, _) = drawn(&recording(message, &steps, &order), Extent::Folded);
    assert!(
        text.contains("6 | fence (the last 2 steps 5 times)"),
        "{text}"
    );
    assert!(text.contains("7 | state.load = EMPTY"), "{text}");
    assert!(text.contains("=> | a loop goes on forever"), "{text}");
}

#[test]
fn of_very_many_steps_the_first_and_the_last_are_shown() {
    let mut steps = vec![spawn()];
    for value in 0..10_000 {
        let (read, wrote) = (value.to_string(), (value + 1).to_string());
        steps.push(at(
            LIB,
            6,
            12,
            json!({ "thread": value % 2, "object": 1, "operation": "swap", "read": read, "wrote": wrote }),
        ));
    }
    let order: Vec<_> = (0..steps.len())
        .map(|done| json!({ "done": done }))
        .collect();
    let message = "Model exceeded maximum number of branches.";
    let recording = recording(message, &steps, &order);
    let (text, _) = drawn(&recording, Extent::Folded);
    assert!(text.contains("259 |"), "{text}");
    assert!(text.contains("… 9702 more steps"), "{text}");
    assert!(
        text.contains("300 | ") && !text.contains("301 | "),
        "{text}"
    );
    assert!(text.contains("swap: 9999 → 10000"), "{text}");
    let (text, _) = drawn(&recording, Extent::Whole);
    assert!(
        text.contains("10001 | "),
        "every step is there for a terminal"
    );
}

#[test]
fn a_page_has_every_step_only_if_there_are_more_and_it_can_draw_them() {
    let load = at(
        LIB,
        7,
        12,
        json!({ "thread": 0, "object": 1, "operation": "load", "read": "0" }),
    );
    for (loads, is_there) in [(0, false), (1, true), (498, true), (499, false)] {
        let mut steps = vec![load.clone(); loads];
        steps.extend([spawn(), load.clone()]);
        let order: Vec<_> = (0..steps.len())
            .map(|done| json!({ "done": done }))
            .collect();
        let kept = Kept {
            model: "models::m".into(),
            fingerprint: String::new(),
            own: vec!["exercises/02-x/".into()],
            recording: recording("it failed", &steps, &order),
            sources: Sources::from(&SOURCES),
            is_overcome: false,
        };
        let (folded, whole) = kept.for_page();
        assert_eq!(folded.steps.len(), 2);
        assert_eq!(whole.is_some(), is_there, "{loads} loads before the spawn");
    }
}

#[test]
fn what_is_overcome_is_for_a_terminal_only() {
    let root = tempfile::tempdir().expect("a folder");
    let package = root.path().join("exercises/02-x");
    fs::create_dir_all(&package).expect("a folder in it");
    fs::write(package.join("Cargo.toml"), "").expect("a package");
    let workshop = Workshop::at(root.path());
    let exercise = catalogue::find(&workshop, 2).expect("the exercise");
    overcome(&workshop, &exercise);
    assert_eq!(shown(&workshop, &exercise), None, "nothing was kept");
    let kept = Kept {
        model: "models::m".into(),
        fingerprint: exercise.fingerprint(),
        own: Vec::new(),
        recording: recording("it failed", &[spawn()], &[json!({ "done": 0 })]),
        sources: Sources::from(&SOURCES),
        is_overcome: false,
    };
    keep(&workshop, &exercise, &kept);
    assert!(shown(&workshop, &exercise).is_some_and(|order| !order.changed));
    overcome(&workshop, &exercise);
    assert_eq!(shown(&workshop, &exercise), None);
    assert!(find(&workshop, 2).is_ok(), "a terminal shows it again");
}

#[test]
fn what_fails_in_a_checker_is_told_by_its_cause() {
    let (overflow, index) = (
        "attempt to add with overflow",
        "index out of bounds: 9 and 103",
    );
    for (message, file, end) in [
        (
            overflow,
            "/x/loom-0.7.2/src/rt/vv.rs",
            "=> | a loop goes on forever",
        ),
        (overflow, LIB, "=> | main fails (lib.rs:32): attempt to add"),
        (
            index,
            "/x/loom-0.7.2/src/rt/object.rs",
            "=> | main uses something that was freed",
        ),
        (index, LIB, "=> | main fails (lib.rs:32): index out"),
        (
            "RefCell already borrowed",
            "/x/shuttle-engine-0.1.7/src/future/batch_semaphore.rs",
            "=> | main uses something that was freed",
        ),
    ] {
        let panics = json!({ "panics": 0, "message": message, "file": file, "line": 32 });
        let order = [json!({ "done": 0 }), panics];
        let recording = recording(message, &[spawn()], &order);
        let (text, _) = drawn(&recording, Extent::Folded);
        assert!(text.contains(end), "{text}");
    }
}

#[test]
fn what_happens_while_a_panic_unwinds_is_not_shown() {
    let panics = |message: &str| json!({ "panics": 0, "message": message, "file": LIB, "line": 6 });
    let load = json!({ "thread": 0, "object": 1, "operation": "load", "read": "0" });
    let order = [
        json!({ "done": 0 }),
        panics("it was dropped"),
        json!({ "done": 1 }),
        panics("not in exploring state"),
    ];
    let steps = [spawn(), at(LIB, 7, 12, load)];
    let recording = recording("not in exploring state", &steps, &order);
    let (text, _) = drawn(&recording, Extent::Whole);
    let end = "=> | main fails (lib.rs:6): it was dropped";
    assert!(text.contains(end) && !text.contains("state.load"), "{text}");
}

#[test]
fn a_broken_recording_is_none() {
    assert!(Recording::read("{}").is_none());
    let other = r#"{"format":"x","checker":"","values":"","newest_passed":false,"execution":1,"message":"","threads":[],"objects":[],"steps":[],"order":[]}"#;
    assert!(Recording::read(other).is_none());
}

/// A thread swaps the state `changes` times, and looks at it `looks` times after each; the
/// last swap but one decides.
fn long(changes: usize, looks: usize) -> Recording {
    let state = |operation: &str, fields: Value| {
        let mut step = json!({ "thread": 0, "object": 1, "operation": operation });
        let fields = fields.as_object().expect("an object").clone();
        step.as_object_mut().expect("an object").extend(fields);
        at(LIB, 6, 12, step)
    };
    let mut steps = vec![spawn()];
    let other = json!({ "thread": 1, "object": 1, "operation": "load", "read": "0" });
    steps.push(at(LIB, 7, 12, other));
    let mut order = vec![json!({ "done": 0 }), json!({ "done": 1 })];
    for number in 0..changes {
        let (read, wrote) = (number.to_string(), (number + 1).to_string());
        if number + 2 == changes {
            order.push(json!({ "lost": 60 }));
        }
        order.push(json!({ "done": steps.len() }));
        steps.push(state("swap", json!({ "read": read, "wrote": wrote })));
        for _ in 0..looks {
            order.push(json!({ "done": steps.len() }));
            steps.push(state("load", json!({ "read": wrote })));
        }
    }
    recording("deadlock! blocked tasks: []", &steps, &order)
}

#[test]
fn of_a_long_order_the_step_that_decides_is_named_and_what_is_far_before_it_is_one_row() {
    let recording = long(60, 1);
    let own = ["exercises/02-x/".to_owned()];
    let document = draw(
        &recording,
        &Sources::from(&SOURCES),
        "models::m",
        &own,
        Extent::Folded,
    );
    let decisive = document.steps.iter().position(|step| step.note.is_some());
    let decisive = decisive.expect("one decides");
    assert_eq!(document.steps[decisive].text, "state.swap: 58 → 59");
    let words = format!(
        "Step {} decides: all of the 60 ways to go on from there that were tried fail.",
        decisive + 1
    );
    assert!(
        document.description.ends_with(&words),
        "{}",
        document.description
    );
    let first = &document.steps[0];
    assert!(first.text.ends_with(" earlier steps"), "{}", first.text);
    assert_eq!(first.changes.len(), 1, "it says what became of the state");
    // A terminal shows it, even if it isn't one of the last.
    let shown = text(&document, 200, Some(2));
    assert!(shown.contains("state.swap: 58 → 59 (!)"), "{shown}");
}

/// A thread's swaps of the state, of which the last but one decides.
fn swaps(values: impl Iterator<Item = (usize, usize)>) -> Document {
    let other = json!({ "thread": 1, "object": 1, "operation": "load", "read": "0" });
    let mut steps = vec![spawn(), at(LIB, 7, 12, other)];
    steps.extend(values.map(|(read, wrote)| {
        let values = json!({
            "thread": 0, "object": 1, "operation": "swap",
            "read": read.to_string(), "wrote": wrote.to_string(),
        });
        at(LIB, 6, 12, values)
    }));
    let mut order: Vec<_> = (0..steps.len())
        .map(|done| json!({ "done": done }))
        .collect();
    order.insert(steps.len() - 2, json!({ "lost": 60 }));
    let recording = recording("deadlock", &steps, &order);
    let own = ["exercises/02-x/".to_owned()];
    let sources = Sources::from(&SOURCES);
    draw(&recording, &sources, "models::m", &own, Extent::Folded)
}

#[test]
fn a_cell_that_is_what_it_was_is_not_said_to_have_changed() {
    let document = swaps((0..80).map(|step| (step % 9, (step + 1) % 9)));
    assert!(document.steps[0].text.ends_with(" earlier steps"));
    assert!(document.steps[0].changes.is_empty(), "{document:?}");
}

#[test]
fn the_step_that_decides_is_not_left_out_of_a_loop() {
    let document = swaps((0..80).map(|_| (1, 1)));
    let decisive = document.steps.iter().filter(|step| step.note.is_some());
    assert_eq!(decisive.count(), 1, "{document:?}");
}

#[test]
fn of_many_steps_the_looks_that_find_the_same_again_are_left_out() {
    let count = |recording: &Recording, words: &str| {
        let text = drawn(recording, Extent::Folded).0;
        text.lines().filter(|line| line.contains(words)).count()
    };
    let looks = |recording: &Recording| count(recording, "state.load = 19");
    assert_eq!(looks(&long(20, 3)), 1);
    // Few are shown as they are.
    assert_eq!(count(&long(3, 2), "state.load = 2"), 2);
}

/// An order in which a function of the code under test locks several times.
fn locks(signature: &str, count: usize) -> Document {
    let source = format!("{signature} {{\n    self.state.lock().unwrap()\n}}\n");
    let lock = |_| {
        let values = json!({ "thread": 0, "object": 0, "operation": "lock" });
        at(LIB, 2, 16, values)
    };
    let mut steps = vec![spawn()];
    steps.extend((0..count).map(lock));
    let order: Vec<_> = (0..steps.len())
        .map(|done| json!({ "done": done }))
        .collect();
    let recording = recording("deadlock", &steps, &order);
    let sources = Sources::from(&[(LIB, &source)]);
    let own = ["exercises/02-x/".to_owned()];
    draw(&recording, &sources, "models::m", &own, Extent::Folded)
}

#[test]
fn a_lock_is_told_with_the_function_that_takes_it() {
    let text = |signature| locks(signature, 1).steps.pop().expect("it locks").text;
    assert!(text("fn take_up(&self)").ends_with(".lock in take_up"));
    let helper = text("fn lock(&self) -> MutexGuard<'_, State>");
    assert!(helper.ends_with(".lock"), "its callers say more: {helper}");
}

#[test]
fn a_function_that_only_locks_is_told_to_show_its_callers() {
    let described = |signature: &str, count| locks(signature, count).description;
    let helper = "fn lock(&self) -> MutexGuard<'_, State>";
    assert!(
        described(helper, 3).ends_with(
            " Put #[track_caller] before “fn lock” (lib.rs:2), and each of its steps shows the \
             line that calls it."
        ),
        "{}",
        described(helper, 3)
    );
    for (signature, count) in [(helper, 2), ("fn work(&self)", 3)] {
        let described = described(signature, count);
        assert!(!described.contains("track_caller"), "{described}");
    }
}
