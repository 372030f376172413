//! Another build of this benchmark, so that two versions of solution 14 take
//! turns in one run. The other build runs in a process of its own, and measures
//! what it is asked to on its standard input.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::rounds::{Contender, Measured};
use super::{Cell, Sample, all};

/// The argument that makes a build answer instead of printing tables.
pub const SERVE: &str = "--serve";

/// Makes a contender of the same contender in another build.
pub fn other(program: &Path, contender: &str) -> Contender {
    let (program, asked) = (program.to_owned(), contender.to_owned());
    let start = move |workers: usize| {
        let mut child = Command::new(&program)
            .args([SERVE, &asked, &workers.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the other build can be started");
        let (questions, answers) = (child.stdin.take(), child.stdout.take());
        Box::new(Other {
            questions,
            answers: BufReader::new(answers.expect("it is piped")).lines(),
            child,
        }) as Box<dyn Measured>
    };
    Contender {
        name: format!("{contender}*"),
        start: Box::new(start),
        takes: |_| true,
    }
}

struct Other {
    questions: Option<ChildStdin>,
    answers: Lines<BufReader<ChildStdout>>,
    child: Child,
}

impl Measured for Other {
    fn measure(&mut self, cell: Cell) -> Sample {
        let mut questions = self.questions.as_ref().expect("it is taken at the end");
        writeln!(questions, "{cell}").expect("the other build is still there");
        let answer = self.answers.next();
        let answer = answer.expect("the other build answers");
        parse(&answer.expect("it answers with text"))
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // At the end of its input it ends.
        drop(self.questions.take());
        let _ = self.child.wait();
    }
}

/// Answers until the standard input ends.
pub fn serve(contender: &Contender, workers: usize) {
    let mut started = (contender.start)(workers);
    for line in std::io::stdin().lines() {
        let line = line.expect("the question is text");
        let cell = all().into_iter().find(|cell| cell.to_string() == line);
        let sample = cell.map_or_else(Sample::default, |cell| started.measure(cell));
        println!("{}", write(&sample));
    }
}

/// Writes the figures, and then each series, separated by `;`.
fn write(sample: &Sample) -> String {
    let write = |numbers: &Vec<f64>| {
        let numbers: Vec<_> = numbers.iter().map(f64::to_string).collect();
        numbers.join(" ")
    };
    let mut text = write(&sample.figures);
    for series in &sample.waits {
        text += ";";
        text += &write(series);
    }
    text
}

fn parse(text: &str) -> Sample {
    let numbers = |text: &str| {
        let numbers = text.split_whitespace();
        let numbers = numbers.map(|number| number.parse().expect("it is a number"));
        numbers.collect::<Vec<_>>()
    };
    let mut parts = text.split(';').map(numbers);
    let figures = parts.next().unwrap_or_default();
    Sample {
        waits: parts.collect(),
        figures,
    }
}
