//! The book's pages, from the current build.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use tower_http::services::{ServeDir, ServeFile};

use super::app::App;
use super::call::Refusal;

/// No address of the book comes near this.
const ADDRESS_BYTES_MOST: usize = 4096;

/// Serves a file of the book, or the book's own page for what doesn't exist.
pub async fn page(State(app): State<Arc<App>>, request: Request) -> Response {
    if request.uri().path().len() > ADDRESS_BYTES_MOST {
        let error = "no page has so long an address";
        return Refusal::new(StatusCode::URI_TOO_LONG, error).into_response();
    }
    // Held until the file is open: a newer build removes the folder of this one
    // when the last request has let go of it.
    let build = app.book.read().expect("no writer panics").clone();
    let book = build.folder();
    if is_nowhere(request.uri()) {
        return missing(book, request.method().clone()).await;
    }
    let method = request.method().clone();
    let may_be_kept = is_named_by_its_content(request.uri().path());
    let answer = ServeDir::new(book)
        .not_found_service(ServeFile::new(book.join("404.html")))
        .try_call(request)
        .await;
    match answer {
        Ok(response) if may_be_kept && response.status().is_success() => {
            let kept = HeaderValue::from_static("max-age=31536000, immutable");
            ([(CACHE_CONTROL, kept)], response).into_response()
        }
        Ok(response) => response.into_response(),
        // No file can have such a name, or it would lie below one.
        Err(error) if is_about_the_name(error.kind()) => missing(book, method).await,
        Err(_unreadable) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Whether no file can be meant. An address that begins with two slashes would
/// lead to another host if a redirect repeated it.
fn is_nowhere(address: &Uri) -> bool {
    address.path().contains("//")
}

/// Whether another content would have another address: then it never has to be asked
/// for again, and a page is drawn in its own fonts at once. mdBook gives scripts and
/// styles such names, too, but afterward writes the addresses of other files into some.
fn is_named_by_its_content(path: &str) -> bool {
    let name = path.strip_suffix(".woff2").unwrap_or_default();
    let hash = name.rsplit_once('-').map_or("", |(_, hash)| hash);
    hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_about_the_name(kind: ErrorKind) -> bool {
    use ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    [InvalidFilename, InvalidInput, NotADirectory, NotFound].contains(&kind)
}

/// The book's own page for what doesn't exist.
async fn missing(book: &Path, method: Method) -> Response {
    let request = Request::builder().method(method).body(Body::empty());
    let request = request.expect("a method and a path make a request");
    let page = ServeFile::new(book.join("404.html"));
    let mut response = match page.clone().try_call(request).await {
        Ok(response) => response.into_response(),
        Err(_unreadable) => ().into_response(),
    };
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}
