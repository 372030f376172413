//! What a call of the page is made of, and an answer that says no.

use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// A body is a snippet or an exercise; neither comes near this.
pub const MAX_BODY_BYTES: usize = 256 << 10;

/// How long a call's body may take to arrive. From the same machine that is no
/// time at all.
const BODY_LIMIT: Duration = Duration::from_secs(10);

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

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Call<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let body = Bytes::from_request(request, state);
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
