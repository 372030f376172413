//! Answers that go on while something runs: one JSON object a line.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::events::Event;

/// The events of one answer. When the client goes away this is dropped, and
/// with it the receiver, which ends what the events are about.
pub struct EventStream(pub UnboundedReceiver<Event>);

impl Stream for EventStream {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0
            .poll_recv(context)
            .map(|event| event.map(|event| Ok(line(&event))))
    }
}

impl IntoResponse for EventStream {
    fn into_response(self) -> Response {
        let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
        (kind, Body::from_stream(self)).into_response()
    }
}

fn line(event: &Event) -> Bytes {
    let mut line = serde_json::to_vec(event).expect("an event has only text and numbers");
    line.push(b'\n');
    line.into()
}
