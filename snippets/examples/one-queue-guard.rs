// ANCHOR: all
//! Four workers share a receiver. How long does each keep it?

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

type Job = fn();
type Work = fn(&Mutex<Receiver<Job>>);

// ANCHOR: short
fn in_two_lines(receiver: &Mutex<Receiver<Job>>) {
    while let Ok(job) = receiver.lock().unwrap().recv() {
        job();
    }
}
// ANCHOR_END: short

fn in_four_lines(receiver: &Mutex<Receiver<Job>>) {
    loop {
        let received = receiver.lock().unwrap().recv();
        let Ok(job) = received else { return };
        job();
    }
}

fn time(title: &str, work: Work) {
    let (sender, receiver) = channel::<Job>();
    for _ in 0..4 {
        sender
            .send(|| thread::sleep(Duration::from_millis(200)))
            .unwrap();
    }
    drop(sender);
    let receiver = Mutex::new(receiver);
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| work(&receiver));
        }
    });
    println!("{title}: {:.1} s", start.elapsed().as_secs_f64());
}

fn main() {
    time("in two lines", in_two_lines);
    time("in four lines", in_four_lines);
}
// ANCHOR_END: all
