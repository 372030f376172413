//! What the page can ask for.

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use tokio::sync::mpsc::unbounded_channel;

use super::app::App;
use super::call::{Call, Nothing, Refusal};
use super::stream::EventStream;
use crate::events::{Event, Events, Exit, Reason, send};
use crate::exercises;
use crate::problem::Problem;
use crate::runner;

/// The routes below `/api`.
pub fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/ping", get(ping).post(ping))
        .route("/events", post(events))
        .route("/run", post(run))
        .route("/exercises", post(list_exercises))
        .route("/exercises/{number}/check", post(check_exercise))
        .route("/exercises/{number}/wrong", post(check_wrong))
        .nest("/exercises/{number}", super::exercises::router())
        .route("/traces/latest", post(latest_trace))
        .fallback(unknown)
}

async fn ping() -> Response {
    Json(serde_json::json!({ "workshop": 1, "version": env!("CARGO_PKG_VERSION") })).into_response()
}

async fn unknown() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "there is no such call")
}

async fn events(State(app): State<Arc<App>>, _call: Call<Nothing>) -> Result<EventStream, Refusal> {
    let full = || {
        Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too many pages are open")
            .help("close some of them, and load this one again")
    };
    app.announcer.subscribe().map(EventStream).ok_or_else(full)
}

async fn run(
    State(app): State<Arc<App>>,
    Call(request): Call<runner::Request>,
) -> Result<EventStream, Refusal> {
    let ticket = app.runner.enqueue().map_err(too_many)?;
    let (events, receiver) = unbounded_channel();
    // A task of its own outlives the connection, and clears up.
    tokio::spawn(async move { app.runner.run(ticket, &request, &events).await });
    Ok(EventStream(receiver))
}

async fn list_exercises(State(app): State<Arc<App>>, _call: Call<Nothing>) -> Response {
    Json(exercises::list(&app.workshop)).into_response()
}

/// How far a check goes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Extent {
    /// Whether the models are explored once the tests pass.
    #[serde(default)]
    models: bool,
}

async fn check_exercise(
    State(app): State<Arc<App>>,
    Path(number): Path<u32>,
    Call(extent): Call<Extent>,
) -> Result<EventStream, Refusal> {
    in_turn(app, move |app, events| async move {
        exercises::check(&app.workshop, number, extent.models, &events).await
    })
}

/// Which wrong version is meant: one that the workshop has.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Version {
    name: String,
}

async fn check_wrong(
    State(app): State<Arc<App>>,
    Path(number): Path<u32>,
    Call(version): Call<Version>,
) -> Result<EventStream, Refusal> {
    in_turn(app, move |app, events| async move {
        exercises::check_wrong(&app.workshop, number, &version.name, &events).await
    })
}

/// Does `work` when its turn has come, and answers with its events.
fn in_turn<W>(
    app: Arc<App>,
    work: impl FnOnce(Arc<App>, Events) -> W + Send + 'static,
) -> Result<EventStream, Refusal>
where
    W: Future<Output = Result<(), Problem>> + Send,
{
    let ticket = app.runner.enqueue().map_err(too_many)?;
    let (events, receiver) = unbounded_channel();
    let events = app.runner.until_closing(events);
    tokio::spawn(async move {
        let turn = tokio::select! {
            turn = ticket.turn(|position| send(&events, Event::Queued { position })) => turn,
            () = events.closed() => return,
        };
        if let Err(problem) = work(app.clone(), events.clone()).await {
            tell(&problem, &events);
        }
        drop(turn);
    });
    Ok(EventStream(receiver))
}

/// What kept the work from its end.
fn tell(problem: &Problem, events: &Events) {
    let text = format!("{problem}\n");
    send(events, Event::Stderr { text });
    let exit = Exit {
        reason: Reason::Killed,
        code: None,
        compile_ms: None,
        run_ms: None,
        message: Some(problem.error().to_owned()),
    };
    send(events, Event::Exit(exit));
}

/// Answers with the document that `cargo workshop trace` made last, or with
/// nothing: a page asks without knowing whether there is one.
async fn latest_trace(State(app): State<Arc<App>>, _call: Call<Nothing>) -> Response {
    let file = exercises::trace::latest(&app.workshop);
    match tokio::fs::read(file).await {
        Ok(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Err(_none) => StatusCode::NO_CONTENT.into_response(),
    }
}

fn too_many(problem: Problem) -> Refusal {
    Refusal::from_problem(StatusCode::TOO_MANY_REQUESTS, &problem)
}
