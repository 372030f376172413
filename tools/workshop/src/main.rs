//! The `cargo workshop` command.
//!
//! | module | what |
//! |---|---|
//! | [`cli`] | the command line |
//! | [`book`] | builds the book with mdBook, and keeps the served one up to date |
//! | [`server`] | serves the book and the page's calls, and guards both |
//! | [`runner`] | compiles and runs snippets, a few at a time |
//! | [`sandbox`] | runs any program within limits, and ends all it started |
//! | [`exercises`] | checks, hints and benches of the exercises |
//! | [`figures`] | the traces and sweeps that programs leave |
//! | [`hash`] | tells versions of files apart |
//! | [`measure`] | for authors: measures how long a reader waits |
//! | [`terminal`] | colors and progress, where a terminal shows them |
//! | [`removal`] | removes what programs leave on disk, however they leave it |
//! | [`record`] | for authors: records what the book's figures show |
//! | [`verify`] | for authors: whether the workshop keeps its own rules |

mod book;
mod cli;
mod events;
mod exercises;
mod figures;
mod hash;
mod keys;
mod measure;
mod problem;
mod record;
mod removal;
mod runner;
mod sandbox;
mod server;
mod terminal;
mod verify;
mod workshop;

use std::process::ExitCode;

fn main() -> ExitCode {
    // The launcher of a sandboxed program must start quickly, and without the
    // threads of a runtime.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|argument| argument == sandbox::LAUNCHER)
    {
        return sandbox::launch();
    }
    terminal::end_quietly_with_the_reader();
    let cli = cli::Cli::read();
    book::listen();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime needs a few threads and a poller");
    match runtime.block_on(cli::run(cli)) {
        Ok(code) => code,
        Err(problem) => {
            eprintln!("{}", terminal::harmless(&problem.to_string()));
            ExitCode::FAILURE
        }
    }
}
