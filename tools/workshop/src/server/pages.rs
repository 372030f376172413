//! The book's pages, from whichever build is the current one.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tower_http::services::{ServeDir, ServeFile};

use super::App;

/// Serves a file of the book, or the book's own page for what does not exist.
pub async fn page(State(app): State<Arc<App>>, request: Request) -> Response {
    let book = app.book.read().expect("no writer panics").clone();
    let missing = ServeFile::new(book.join("404.html"));
    let answer = ServeDir::new(&book)
        .not_found_service(missing)
        .try_call(request)
        .await;
    match answer {
        Ok(response) => response.into_response(),
        Err(_unreadable) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
