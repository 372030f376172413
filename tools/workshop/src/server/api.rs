//! What the page can ask for.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Path, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::unbounded_channel;

use super::App;
use super::stream::EventStream;
use crate::events::{Event, Exit, Reason, send};
use crate::exercises;
use crate::problem::Problem;
use crate::runner;

/// How long a call's body may take to arrive. From the same machine that is no
/// time at all.
const BODY_LIMIT: Duration = Duration::from_secs(10);

/// The routes below `/api`.
pub fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/ping", get(ping).post(ping))
        .route("/events", post(events))
        .route("/run", post(run))
        .route("/exercises", post(list_exercises))
        .route("/exercises/{number}/check", post(check_exercise))
        .nest("/exercises/{number}", super::exercises::router())
        .route("/traces/latest", post(latest_trace))
        .fallback(unknown)
}

/// An answer that says no, and what to do about it.
#[derive(Debug, Serialize)]
pub struct Refusal {
    #[serde(skip)]
    status: StatusCode,
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl Refusal {
    /// Creates one from what is wrong: lower case, no final dot.
    pub fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self {
            status,
            error: error.into(),
            help: None,
        }
    }

    /// Adds the remedy.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Creates one from a problem.
    pub fn from_problem(status: StatusCode, problem: &Problem) -> Self {
        Self {
            status,
            error: problem.error().to_owned(),
            help: problem.remedy().map(str::to_owned),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(&self)).into_response()
    }
}

/// The body of a call. What kind of body it is, the gate has checked.
pub struct Call<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Call<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Refusal> {
        let body = Bytes::from_request(request, app);
        let body = tokio::time::timeout(BODY_LIMIT, body).await.map_err(|_| {
            let seconds = BODY_LIMIT.as_secs();
            let error = format!("the call wasn't there after {seconds} seconds");
            Refusal::new(StatusCode::REQUEST_TIMEOUT, error)
        })?;
        let body = body.map_err(unreadable)?;
        let call = serde_json::from_slice(&body).map_err(|error| {
            Refusal::new(StatusCode::BAD_REQUEST, format!("not such a call: {error}"))
        })?;
        Ok(Self(call))
    }
}

fn unreadable(rejection: BytesRejection) -> Refusal {
    let refusal = Refusal::new(rejection.status(), rejection.body_text().to_lowercase());
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => refusal.help("calls have at most 256 KiB"),
        _ => refusal,
    }
}

/// A call that says nothing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

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

async fn check_exercise(
    State(app): State<Arc<App>>,
    Path(number): Path<u32>,
    _call: Call<Nothing>,
) -> Result<EventStream, Refusal> {
    let ticket = app.runner.enqueue().map_err(too_many)?;
    let (events, receiver) = unbounded_channel();
    let events = app.runner.until_closing(events);
    tokio::spawn(async move {
        let turn = tokio::select! {
            turn = ticket.turn(|position| send(&events, Event::Queued { position })) => turn,
            () = events.closed() => return,
        };
        if let Err(problem) = exercises::check(&app.workshop, number, &events).await {
            let text = format!("{problem}\n");
            send(&events, Event::Stderr { text });
            let message = Some(problem.error().to_owned());
            let exit = Exit {
                reason: Reason::Killed,
                code: None,
                compile_ms: None,
                run_ms: None,
                message,
            };
            send(&events, Event::Exit(exit));
        }
        drop(turn);
    });
    Ok(EventStream(receiver))
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
