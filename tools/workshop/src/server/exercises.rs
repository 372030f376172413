//! What a page can ask about one exercise.

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde::{Deserialize, Serialize};

use super::app::App;
use super::call::{Call, Nothing, Refusal};
use crate::exercises::catalogue;
use crate::exercises::file::{self, Unwritten};
use crate::exercises::{self, hint};
use crate::problem::Problem;

/// The routes below `/api/exercises/{number}`.
pub fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/read", post(read))
        .route("/write", post(write))
        .route("/hint", post(give_hint))
        .route("/code", post(code))
        .route("/diff", post(diff))
        .route("/order", post(order))
        .route("/bench", post(bench))
        .route("/reset", post(reset))
}

/// A new text for the reader's file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Writing {
    text: String,
    /// The version that it replaces; nothing if there is no file.
    hash: Option<String>,
    /// A text to keep in a file beside it.
    #[serde(default)]
    aside: Option<String>,
}

/// What was written.
#[derive(Serialize)]
struct Written {
    hash: String,
    kept: Option<String>,
}

type Answer<T> = Result<Json<T>, Refusal>;

async fn read(
    State(app): State<Arc<App>>,
    Path(number): Path<u32>,
    _call: Call<Nothing>,
) -> Answer<exercises::Opened> {
    exercises::open(&app.workshop, number)
        .map(Json)
        .map_err(unable)
}

async fn write(
    State(app): State<Arc<App>>,
    Path(number): Path<u32>,
    Call(writing): Call<Writing>,
) -> Response {
    let exercise = match catalogue::find(&app.workshop, number) {
        Ok(exercise) => exercise,
        Err(problem) => return unable(problem).into_response(),
    };
    let written = apart(move || {
        let Writing { text, hash, aside } = writing;
        file::write(&exercise, &text, hash.as_deref(), aside.as_deref())
    });
    match written.await {
        Ok((hash, kept)) => {
            let relative = |file: &std::path::PathBuf| {
                let file = file.strip_prefix(app.workshop.root()).unwrap_or(file);
                file.display().to_string()
            };
            let kept = kept.as_ref().map(relative);
            Json(Written { hash, kept }).into_response()
        }
        Err(Unwritten::Conflict(now)) => (StatusCode::CONFLICT, Json(now)).into_response(),
        Err(Unwritten::Problem(problem)) => unable(problem).into_response(),
    }
}

async fn give_hint(
    State(app): State<Arc<App>>,
    Path(number): Path<u32>,
    _call: Call<Nothing>,
) -> Answer<hint::Hints> {
    exercises::give_hint(&app.workshop, number)
        .map(Json)
        .map_err(unable)
}

/// A text for people.
#[derive(Serialize)]
struct Words {
    text: String,
}

/// Which check is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
}

async fn code(
    State(app): State<Arc<App>>,
    Path(number): Path<u32>,
    Call(named): Call<Named>,
) -> Answer<Words> {
    let text = exercises::code_of_check(&app.workshop, number, &named.name).map_err(unable)?;
    Ok(Json(Words { text }))
}

async fn diff(
    State(app): State<Arc<App>>,
    Path(number): Path<u32>,
    _call: Call<Nothing>,
) -> Answer<Words> {
    let text = exercises::diff(&app.workshop, number).map_err(unable)?;
    Ok(Json(Words { text }))
}

/// Answers with the order in which a model has failed, or with nothing: a page asks
/// without knowing whether there is one.
async fn order(
    State(app): State<Arc<App>>,
    Path(number): Path<u32>,
    _call: Call<Nothing>,
) -> Result<Response, Refusal> {
    let order = apart(move || exercises::failing_order(&app.workshop, number));
    Ok(match order.await.map_err(unable)? {
        Some(order) => Json(order).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

/// Answers with what `cargo workshop bench` has measured last, or with nothing.
async fn bench(
    State(app): State<Arc<App>>,
    Path(number): Path<u32>,
    _call: Call<Nothing>,
) -> Result<Response, Refusal> {
    let measured = apart(move || exercises::last_bench(&app.workshop, number));
    Ok(match measured.await.map_err(unable)? {
        Some(measured) => Json(measured).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

async fn reset(
    State(app): State<Arc<App>>,
    Path(number): Path<u32>,
    _call: Call<Nothing>,
) -> Answer<Words> {
    let reset = apart(move || exercises::reset(&app.workshop, number));
    let text = reset.await.map_err(unable)?;
    Ok(Json(Words { text }))
}

/// Does what waits for the disk, and for others who want to write, on a thread
/// that no other page needs.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}

/// The call was right, and the machine doesn't let us.
fn unable(problem: Problem) -> Refusal {
    Refusal::from_problem(StatusCode::UNPROCESSABLE_ENTITY, &problem)
}
