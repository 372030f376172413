//! Serves the book on this machine, with the runner behind it.

mod announcer;
mod api;
mod app;
mod browser;
mod call;
mod connections;
mod console;
mod exercises;
mod launch;
mod pages;
mod security;
mod stream;
mod token;
mod watcher;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::book::{Keeper, News};
use crate::problem::Problem;
use crate::runner::crates::Status;
use crate::runner::{Mode, Runner};
use crate::terminal::harmless;
use crate::workshop::{Scratch, Workshop};
use announcer::Announcer;
use app::App;
use console::Console;
use launch::Launch;
use security::Gate;

/// The port on which mdBook's own server has always been: readers know it.
pub const DEFAULT_PORT: u16 = 3000;

/// What the command line says about the server.
#[derive(Clone, Debug)]
pub struct Options {
    /// The port to listen on; 0 means any that is free.
    pub port: u16,
    /// The address to listen on.
    pub address: IpAddr,
    /// Names, other than this machine's own, under which pages may reach it.
    pub allowed_hosts: Vec<String>,
    /// The page to open, `your-trace.html` for instance; empty for the first.
    pub page: &'static str,
    /// Whether to open a browser.
    pub open: bool,
}

/// Builds the book and serves it until Ctrl-C.
///
/// # Errors
///
/// When the port is taken, the book is broken or the target folder can't be
/// written to.
pub async fn serve(workshop: Workshop, options: Options) -> Result<(), Problem> {
    let listener = listen(&options).await?;
    let address = listener
        .local_addr()
        .map_err(|error| Problem::new(error.to_string()))?;
    let scratch = Arc::new(Scratch::claim(&workshop.target())?);
    let (keeper, complaints) = Keeper::start(&workshop, scratch.clone())?;
    complaints
        .iter()
        .for_each(|complaint| eprintln!("warning: {}", harmless(complaint)));

    let token = token::Token::new()?;
    let here = format!("http://{}", as_seen_from_here(address));
    let target = format!("/{}#token={}", options.page, token.as_str());
    let url = format!("{here}{target}");
    let (launch, launch_path) = Launch::new(target)?;
    let announcer = Arc::new(Announcer::new(complaints));
    let app = Arc::new(App {
        runner: Runner::new(&workshop, &scratch),
        workshop,
        book: keeper.current(),
        announcer: announcer.clone(),
        console: Arc::new(Console::new()),
    });
    let guards = Guards {
        launch: Arc::new(launch),
        gate: Arc::new(Gate::new(address, &options.allowed_hosts, token)),
    };
    let console = app.console.clone();
    // Before the link is printed: it may be used to start a check at once, and pages must hear of it.
    watcher::watch(&app.workshop, announcer.clone(), console.clone());
    println!("The book is at {url}");
    println!("Ctrl-C ends it.");
    warn_if_public(address);
    if options.open && !browser::open(&format!("{here}/{launch_path}")) {
        eprintln!("warning: no browser could be opened");
        eprintln!("help: open the link above in yours");
    }

    keeper.watch(move |news| tell(news, &announcer, &console));
    prepare_crates(app.clone());
    tokio::select! {
        () = connections::serve(listener, router(app.clone(), guards)) => {}
        _signal = asked_to_end() => {}
    }
    app.runner.close().await;
    // What is left is removed by the next start.
    let _left = scratch.sweep();
    Ok(())
}

/// What decides who may come in.
struct Guards {
    launch: Arc<Launch>,
    gate: Arc<Gate>,
}

fn router(app: Arc<App>, guards: Guards) -> Router {
    let open = get(launch::open).with_state(guards.launch);
    // The last layer is the first to see a request.
    Router::new()
        .nest("/api", api::router())
        .route("/open/{secret}", open)
        .fallback(pages::page)
        .layer(DefaultBodyLimit::max(call::MAX_BODY_BYTES))
        .layer(middleware::from_fn_with_state(guards.gate, security::guard))
        .with_state(app)
}

async fn listen(options: &Options) -> Result<TcpListener, Problem> {
    let address = SocketAddr::new(options.address, options.port);
    let error = match TcpListener::bind(address).await {
        Ok(listener) => return Ok(listener),
        Err(error) => error,
    };
    let problem = Problem::new(format!("`{address}` cannot be listened on: {error}"));
    if error.kind() != std::io::ErrorKind::AddrInUse {
        return Err(problem.help("choose another with `--port`, any free one with `--port 0`"));
    }
    let other = options.port.checked_add(1).unwrap_or(DEFAULT_PORT);
    if is_workshop(as_seen_from_here(address)).await {
        let problem = Problem::new(format!("a workshop is served at `{address}` already"));
        return Err(problem.help(format!(
            "open the link in its terminal, or serve this one beside it: `--port {other}`"
        )));
    }
    Err(problem.help(format!(
        "end the other program, or choose another port: `--port {other}`"
    )))
}

/// Whether a server such as this one listens there.
async fn is_workshop(address: SocketAddr) -> bool {
    let ask = async {
        let mut connection = TcpStream::connect(address).await?;
        let request =
            format!("GET /api/ping HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        connection.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        connection.take(4096).read_to_end(&mut answer).await?;
        std::io::Result::Ok(String::from_utf8_lossy(&answer).contains("\"workshop\":1"))
    };
    // The program on that port need not answer at all.
    let answer = tokio::time::timeout(Duration::from_secs(1), ask).await;
    matches!(answer, Ok(Ok(true)))
}

/// A server that listens on every address is reached at this machine's own.
fn as_seen_from_here(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(LOOPBACK);
    }
    address
}

fn warn_if_public(address: SocketAddr) {
    if !address.ip().is_loopback() {
        eprintln!("warning: other machines can reach {address}");
        eprintln!("help: anyone who learns the token can run programs here; leave out `--host`");
    }
}

/// The only address to listen on unless the reader insists on another.
pub const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn tell(news: News, announcer: &Announcer, console: &Console) {
    match news {
        News::Built(time) => {
            let time = time.as_millis();
            console.say(&format!("The book was rebuilt in {time} ms."));
            announcer.book_is_good();
        }
        News::Complaints(complaints) => {
            complaints
                .iter()
                .for_each(|complaint| console.complain(&format!("warning: {complaint}")));
            announcer.book_is_bad(complaints.join("\n"));
        }
        News::Failed(problem) => {
            console.complain(&format!("{problem}\nThe last good book is served on."));
            announcer.book_is_bad(problem.error().to_owned());
        }
    }
}

/// Builds the snippets' crates in the background, so that they are there when
/// the reader comes to the first snippet.
fn prepare_crates(app: Arc<App>) {
    app.runner.crates().prepare(Mode::Debug);
    for mode in [Mode::Debug, Mode::Release] {
        let app = app.clone();
        tokio::spawn(async move {
            let mut status = app.runner.crates().watch(mode);
            while status.changed().await.is_ok() {
                let now = status.borrow_and_update().clone();
                report_crates(now, mode, &app);
            }
        });
    }
}

fn report_crates(status: Status, mode: Mode, app: &App) {
    match status {
        Status::Building { done, total } => {
            app.console.tell_crates(mode, done, total);
            app.announcer.crates_are_building(done, total);
        }
        Status::Ready(_) => {
            app.console
                .say(&format!("The snippets' crates are ready ({mode:?})."));
            app.announcer.crates_are_done();
        }
        Status::Failed(failure) => {
            app.console.complain(&failure.problem().to_string());
            app.announcer.crates_are_done();
        }
        Status::Absent => {}
    }
}

/// Completes when the reader presses Ctrl-C, closes the terminal or kills the
/// process politely, and says by which signal.
pub async fn asked_to_end() -> u8 {
    const CTRL_C: u8 = 2;
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let hangup = signal(SignalKind::hangup());
        let terminate = signal(SignalKind::terminate());
        if let (Ok(mut hangup), Ok(mut terminate)) = (hangup, terminate) {
            return tokio::select! {
                _ = hangup.recv() => 1,
                _ = terminate.recv() => 15,
                _ = tokio::signal::ctrl_c() => CTRL_C,
            };
        }
    }
    let _ = tokio::signal::ctrl_c().await;
    CTRL_C
}
