//! Makes the document of a recording: names what it numbers, says each step in a few
//! words, and leaves out what doesn't matter.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::document::{Cell, Change, Document, SCHEMA, Source, Step, Thread};
use super::recording::{Entry, Place, Recording, Step as Recorded};
use super::sources::{Sources, without_detours};
use super::values::{self, Values};
use super::{ending, names};

/// Where the wrappers are whose operations are recorded.
const PRIMITIVES: &str = "tools/primitives/src/";

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// What matters: nothing before the first thread is started, nothing that one thread
    /// alone touches, no unlocks, and the parts of other exercises as one step each.
    Folded,
    /// Every step.
    Whole,
}

/// Draws a recording of the model of this name. `own` begins the names of the files of
/// the code under test.
pub fn draw(
    recording: &Recording,
    sources: &Sources,
    title: &str,
    own: &[String],
    extent: Extent,
) -> Document {
    let picture = Picture {
        recording,
        sources,
        own,
        cells: names::cells(recording, sources, own),
        threads: names::threads(recording, sources),
        values: values::of_objects(recording, sources),
    };
    picture.document(title, extent)
}

/// What is known of it.
pub struct Picture<'a> {
    pub recording: &'a Recording,
    pub sources: &'a Sources,
    own: &'a [String],
    /// Their names.
    pub cells: Vec<String>,
    threads: Vec<String>,
    values: Vec<Values>,
}

/// A step of the document, and what it was made of.
#[derive(Debug)]
pub struct Row {
    /// The number of the operation.
    pub operation: usize,
    /// What of it this is.
    pub phase: Phase,
    pub step: Step,
    /// Whether every order fails after it, as far as that is known.
    pub decides: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Done,
    Sleeps,
    /// It was begun, and is where its thread stands.
    Stands,
}

impl Picture<'_> {
    fn document(&self, title: &str, extent: Extent) -> Document {
        let mut rows = self.rows();
        let end = self.end(&mut rows);
        let objects = self.recording.objects.iter().zip(&self.values);
        let mut initial: Vec<_> = objects
            .map(|(object, values)| values.shown(&object.initial))
            .collect();
        if extent == Extent::Folded {
            self.fold(&mut rows, &mut initial);
        }
        let mut steps: Vec<_> = rows.into_iter().map(|row| row.step).collect();
        let threads = self.threads.iter();
        Document {
            schema: SCHEMA.to_owned(),
            title: title.to_owned(),
            description: self.description(&steps, &end),
            threads: threads.map(|name| Thread { name: name.clone() }).collect(),
            cells: self.cells_of(&mut steps, &initial),
            steps,
            end,
        }
    }

    /// The cells that change in these steps, which name them by their place from now on.
    fn cells_of(&self, steps: &mut [Step], initial: &[String]) -> Vec<Cell> {
        let mut places = BTreeMap::new();
        let mut cells = Vec::new();
        for change in steps.iter_mut().flat_map(|step| &mut step.changes) {
            let object = change.cell;
            change.cell = *places.entry(object).or_insert_with(|| {
                cells.push(Cell {
                    name: self.cells[object].clone(),
                    initial: initial[object].clone(),
                    ..Cell::default()
                });
                cells.len() - 1
            });
        }
        for (&object, &cell) in &places {
            let changes = steps.iter().flat_map(|step| &step.changes);
            let of_cell = changes.filter(|change| change.cell == cell);
            let texts = [initial[object].as_str()]
                .into_iter()
                .chain(of_cell.map(|change| change.value.as_str()));
            let (bits, counts) = self.values[object].fields_in(texts);
            (cells[cell].bits, cells[cell].counts) = (bits, counts);
        }
        cells
    }

    /// All that happened, in its order; then where the threads stand that go no further.
    fn rows(&self) -> Vec<Row> {
        let steps = &self.recording.steps;
        let mut rows = Vec::new();
        let order = &self.recording.order;
        let end = self.first_panic().map_or(order.len(), |(at, _)| at);
        let mut lost = None;
        for entry in &order[..end] {
            match entry {
                Entry::Lost { lost: orders } => lost = Some(*orders),
                Entry::Done { done } if *done < steps.len() => {
                    let mut row = self.row(*done, Phase::Done);
                    row.step.note = lost.take().map(ending::no_return);
                    row.decides = row.step.note.is_some();
                    rows.push(row);
                }
                Entry::Sleeps { sleeps } if *sleeps < steps.len() => {
                    rows.push(self.row(*sleeps, Phase::Sleeps));
                }
                _ => {}
            }
        }
        rows
    }

    pub fn row(&self, operation: usize, phase: Phase) -> Row {
        let step = &self.recording.steps[operation];
        let stale = step.newest.as_ref().zip(step.object);
        let stale = stale.map(|(value, object)| self.values[object].shown(value));
        let change = step.object.zip(step.wrote.as_ref());
        let changes = change.map(|(cell, value)| Change {
            cell,
            value: self.values[cell].shown(value),
        });
        let is_done = phase == Phase::Done;
        let row = Step {
            thread: step.thread,
            text: self.text(step, phase),
            ordering: ordering(step),
            source: self.source(&step.place),
            changes: changes.into_iter().filter(|_| is_done).collect(),
            blocks: phase == Phase::Sleeps,
            wakes: step.wakes.clone(),
            stale: stale.filter(|_| is_done),
            note: None,
        };
        Row {
            operation,
            phase,
            step: row,
            decides: false,
        }
    }

    /// A guard is released in code of our own, and a value may be dropped in std's, which
    /// says nothing.
    fn source(&self, place: &Place) -> Option<Source> {
        let file = without_detours(&place.file);
        let is_told = self.is_told(place);
        let code = self.sources.line(place).trim();
        is_told.then(|| Source {
            file,
            line: place.line,
            code: Some(code.to_owned()).filter(|code| !code.is_empty()),
        })
    }

    /// Whether the place is in a file that a reader has.
    pub fn is_told(&self, place: &Place) -> bool {
        let is_ours = !self.sources.text(&place.file).is_empty();
        is_ours && !without_detours(&place.file).contains(PRIMITIVES)
    }

    /// Whether the place is in the code under test or in its model.
    pub fn is_own(&self, place: &Place) -> bool {
        let file = without_detours(&place.file);
        self.own.iter().any(|own| file.contains(own.as_str()))
    }

    /// What the step does, in a few words.
    pub fn text(&self, step: &Recorded, phase: Phase) -> String {
        let operation = step.operation.as_str();
        let subject = match (step.object, step.target) {
            (Some(object), _) => format!("{}.{operation}", self.cells[object]),
            (None, Some(thread)) => format!("{operation} {}", self.threads[thread]),
            (None, None) => operation.to_owned(),
        };
        match phase {
            Phase::Sleeps => return format!("{subject}: sleeps"),
            Phase::Stands => return subject,
            Phase::Done => {}
        }
        let shown = |value: &str| match step.object {
            Some(object) => self.values[object].shown(value),
            None => value.to_owned(),
        };
        let is_notification = operation.starts_with("notify");
        match (&step.read, &step.wrote) {
            (Some(read), Some(wrote)) => {
                let values = step.object.map(|object| &self.values[object]);
                let now = values.map_or_else(|| wrote.clone(), |it| it.changed(read, wrote));
                format!("{subject}: {} → {now}", shown(read))
            }
            (Some(read), None) if step.failed => format!("{subject} fails: it is {}", shown(read)),
            (Some(read), None) => format!("{subject} = {}", shown(read)),
            (None, Some(wrote)) => format!("{subject} {}", shown(wrote)),
            (None, None) if step.failed => format!("{subject} fails"),
            _ if !step.wakes.is_empty() && operation != "unpark" => {
                let wakes = step.wakes.iter().map(|&thread| self.thread(thread));
                format!("{subject} wakes {}", wakes.collect::<Vec<_>>().join(", "))
            }
            _ if is_notification => format!("{subject} wakes no thread"),
            _ if operation == "wait" || operation == "park" => format!("{subject} returns"),
            _ if operation == "lock" => match self.own_function(&step.place) {
                Some(function) => format!("{subject} in {function}"),
                None => subject,
            },
            _ => subject,
        }
    }

    /// The function under test that the place is in: what's done under a lock, its name may
    /// say.
    fn own_function(&self, place: &Place) -> Option<&str> {
        let is_model = without_detours(&place.file).contains("models");
        let function = self.sources.function(place)?;
        // Of what only locks, the callers would say more.
        (self.is_own(place) && !is_model && function != "lock").then_some(function)
    }

    pub fn thread(&self, number: usize) -> &str {
        self.threads.get(number).map_or("thread", String::as_str)
    }

    /// Leaves out what doesn't matter. What cells are before the first step that is left is
    /// put into `initial`.
    fn fold(&self, rows: &mut Vec<Row>, initial: &mut [String]) {
        let recorded = |row: &Row| &self.recording.steps[row.operation];
        let mut users: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for row in rows.iter() {
            let step = recorded(row);
            let of_object = step.object.map(|object| users.entry(object).or_default());
            if let Some(users) = of_object.filter(|users| !users.contains(&step.thread)) {
                users.push(step.thread);
            }
        }
        if let Some(first) = rows
            .iter()
            .position(|row| recorded(row).operation == "spawn")
        {
            for change in rows.drain(..first).flat_map(|row| row.step.changes) {
                initial[change.cell] = change.value;
            }
        }
        let is_shared = |object: usize| {
            let kind = self.recording.objects[object].kind.as_str();
            kind == "Mutex" || kind == "Condvar" || users[&object].len() > 1
        };
        let last = rows.len();
        let mut at = 0;
        rows.retain(|row| {
            at += 1;
            let step = recorded(row);
            let is_last = at == last && step.operation != "unlock";
            let is_end = is_last || row.step.blocks;
            let is_marked = row.step.note.is_some() || row.step.stale.is_some();
            let is_noise =
                step.operation == "unlock" || step.object.is_some_and(|it| !is_shared(it));
            is_end || is_marked || !is_noise
        });
        self.leave_out_looks(rows);
        self.fold_parts(rows);
        fold_repeats(rows);
        leave_out(rows, initial);
    }

    /// Of many steps, leaves out those that only look, at a cell that isn't changed by any
    /// of them, or before another look of the same thread that finds the same.
    fn leave_out_looks(&self, rows: &mut Vec<Row>) {
        if rows.len() <= MANY {
            return;
        }
        let steps = &self.recording.steps;
        let recorded = |row: &Row| &steps[row.operation];
        let is_look = |row: &Row| recorded(row).read.is_some() && row.step.changes.is_empty();
        let changed: BTreeSet<usize> = steps
            .iter()
            .filter(|step| step.wrote.is_some())
            .filter_map(|step| step.object)
            .collect();
        let mut is_kept = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let object = recorded(row).object;
            let concerns = |other: &&Row| recorded(other).object == object;
            let is_repeated = || {
                let mut later = rows[at + 1..].iter().filter(concerns);
                let next = later.find(|it| !is_look(it) || it.step.thread == row.step.thread);
                next.is_some_and(|it| is_look(it) && it.step.text == row.step.text)
            };
            let is_changed = object.is_some_and(|it| changed.contains(&it));
            let is_marked = row.step.note.is_some() || row.step.stale.is_some();
            is_kept.push(!is_look(row) || is_marked || (is_changed && !is_repeated()));
        }
        let mut is_kept = is_kept.into_iter();
        rows.retain(|_| is_kept.next().unwrap_or(true));
    }

    /// Makes one step of several that a thread does in one function of another package.
    fn fold_parts(&self, rows: &mut Vec<Row>) {
        let mut folded: Vec<Row> = Vec::new();
        for mut row in rows.drain(..) {
            let part = self.part_of(&row);
            if let (Some(part), Some(last)) = (&part, folded.last_mut())
                && last.step.thread == row.step.thread
                && self.part_of(last).as_ref() == Some(part)
                && last.step.note.is_none()
                && (row.step.note.is_none() || row.decides)
                && row.step.stale.is_none()
            {
                let source = last.step.source.take();
                let mut changes = std::mem::take(&mut last.step.changes);
                changes.append(&mut row.step.changes);
                let wakes = last.step.wakes.iter().chain(&row.step.wakes);
                let wakes: Vec<_> = wakes.copied().collect();
                let text = match (row.step.blocks || row.decides, wakes.as_slice()) {
                    (true, _) => format!("{part}: {}", row.step.text),
                    (false, []) => part.clone(),
                    (false, wakes) => {
                        let names = wakes.iter().map(|&thread| self.thread(thread));
                        format!("{part} wakes {}", names.collect::<Vec<_>>().join(", "))
                    }
                };
                last.step = Step {
                    text,
                    source,
                    changes,
                    wakes,
                    ordering: None,
                    ..row.step
                };
                last.operation = row.operation;
                last.phase = row.phase;
                last.decides = row.decides;
                continue;
            }
            if let Some(part) = part.filter(|_| row.decides) {
                row.step.text = format!("{part}: {}", row.step.text);
            }
            folded.push(row);
        }
        *rows = folded;
    }

    /// The function that a step belongs to, if it isn't one of the code under test or of
    /// its model.
    fn part_of(&self, row: &Row) -> Option<String> {
        let place = &self.recording.steps[row.operation].place;
        if self.is_own(place) {
            return None;
        }
        let function = self.sources.function(place)?;
        Some(format!("({function})"))
    }
}

/// An order of more steps than this is long to read.
const MANY: usize = 40;

/// The longest part of a loop that is recognized.
const LONGEST_LOOP: usize = 8;
/// How often something is shown that is repeated.
const REPEATS: usize = 2;

/// Shows what a thread repeats only twice, and says how often it does.
fn fold_repeats(rows: &mut Vec<Row>) {
    let is_same = |a: &Row, b: &Row| a.step.thread == b.step.thread && a.step.text == b.step.text;
    let mut folded: Vec<Row> = Vec::new();
    let mut rest = std::mem::take(rows).into_iter().peekable();
    while let Some(row) = rest.next() {
        folded.push(row);
        let count = folded.len();
        let repeats = |length: &usize| {
            let at = |back: usize| &folded[count - back];
            count >= REPEATS * length
                && (1..=*length).all(|back| is_same(at(back), at(back + length)))
        };
        let Some(length) = (1..=LONGEST_LOOP).find(repeats) else {
            continue;
        };
        let mut left_out: Vec<Row> = Vec::new();
        while let Some(next) = rest.next_if(|next| {
            let same = &folded[count - length + left_out.len() % length];
            !next.decides && is_same(next, same)
        }) {
            left_out.push(next);
        }
        // A turn that isn't whole is shown.
        let whole = left_out.len() - left_out.len() % length;
        if whole > 0 {
            let times = REPEATS + whole / length;
            let steps = match length {
                1 => "this step".to_owned(),
                _ => format!("the last {length} steps"),
            };
            let step = &mut folded[count - 1].step;
            step.text += &format!(" ({steps} {times} times)");
        }
        folded.extend(left_out.into_iter().skip(whole));
    }
    *rows = folded;
}

/// How many steps are shown of what matters: more are a loop that goes on, with other
/// values each time.
const MOST: usize = 300;
/// How many of them are the last ones.
const LAST: usize = 40;
/// How many are shown, at most, before the one that decides.
const BEFORE: usize = 24;

/// Shows the first steps and the last ones of very many, with what became of the cells
/// between; or, where one decides, those around it.
fn leave_out(rows: &mut Vec<Row>, initial: &[String]) {
    let decisive = rows.iter().position(|row| row.decides);
    match decisive.map(|at| at.saturating_sub(BEFORE)) {
        Some(before) if before > 1 => fold_range(rows, 0..before, initial),
        Some(_) => {}
        None if rows.len() > MOST => {
            fold_range(rows, MOST - LAST - 1..rows.len() - LAST, initial);
        }
        None => {}
    }
}

/// Makes one row of several. Of the cells, it shows those that have changed in the end.
fn fold_range(rows: &mut Vec<Row>, range: Range<usize>, initial: &[String]) {
    let first = range.start;
    let mut before: Vec<&String> = initial.iter().collect();
    let earlier: Vec<Change> = rows[..first]
        .iter()
        .flat_map(|row| row.step.changes.clone())
        .collect();
    for change in &earlier {
        before[change.cell] = &change.value;
    }
    let left_out: Vec<Row> = rows.drain(range).collect();
    let changes = left_out.iter().flat_map(|row| &row.step.changes);
    let changes: BTreeMap<usize, &String> = changes.map(|it| (it.cell, &it.value)).collect();
    let changes = changes
        .into_iter()
        .filter(|(cell, value)| before[*cell] != *value);
    let changes = changes.map(|(cell, value)| Change {
        cell,
        value: value.clone(),
    });
    let step = Step {
        thread: left_out[0].step.thread,
        text: match first {
            0 => format!("… {} earlier steps", left_out.len()),
            _ => format!("… {} more steps", left_out.len()),
        },
        changes: changes.collect(),
        ..Step::default()
    };
    rows.insert(
        first,
        Row {
            step,
            decides: false,
            ..left_out[0]
        },
    );
}

fn ordering(step: &Recorded) -> Option<String> {
    match (step.orderings.as_slice(), step.failed) {
        // Of a compare-exchange, the one that counted.
        ([success, _], false) => Some(success.clone()),
        ([_, failure], true) => Some(failure.clone()),
        (orderings, _) => orderings.first().cloned(),
    }
}

/// The last part of a path.
pub fn file_name(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}
