//! Who may ask for what. Code that is run here has the reader's rights, so only
//! a click on the reader's own page may start it.
//!
//! | rule | keeps out |
//! |---|---|
//! | the `Host` is ours | a foreign name that was made to point to this machine |
//! | `Sec-Fetch-Site` is ours | pages of other sites and other ports, in newer browsers |
//! | calls are `POST`, JSON, from our own `Origin` | the same, in every browser |
//! | calls carry the token | other programs and other users of this machine |
//! | the browser is handed a link that is good once | users who can list programs and their arguments |

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::call::{MAX_BODY_BYTES, Refusal};
use super::token::Token;

const TOKEN: HeaderName = HeaderName::from_static("x-workshop-token");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// mdBook's pages have scripts and styles within them, and its fonts and icons
/// come as `data:`. Without JavaScript its contents are a frame of this origin.
const CONTENT_POLICY: &str = "default-src 'self'; script-src 'self' 'unsafe-inline'; \
    style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; \
    connect-src 'self'; worker-src 'self' blob:; object-src 'none'; base-uri 'self'; \
    form-action 'none'; frame-ancestors 'self'";

/// Headers of every answer. None of them shares anything with other origins.
/// Cross-origin opener policy: a trace can be handed to a viewer in a new tab.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
    (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin-allow-popups",
    ),
];

/// What a request must match.
pub struct Gate {
    origins: Vec<Origin>,
    token: Token,
}

/// A name under which pages may reach this server.
struct Origin {
    host: String,
    // A tunnel from another machine may add TLS.
    https: bool,
}

impl Gate {
    /// Lets requests to `address` pass, and those to `allowed_hosts`.
    pub fn new(address: SocketAddr, allowed_hosts: &[String], token: Token) -> Self {
        let port = address.port();
        let names = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}"));
        // With `--host` the reader asked for this very name too.
        let names = names.into_iter().chain([address.to_string()]);
        let own = names.flat_map(|host| Origin::with_and_without_port(host, false));
        let allowed = allowed_hosts.iter().map(|host| host.to_ascii_lowercase());
        let allowed = allowed.flat_map(|host| Origin::with_and_without_port(host, true));
        Self {
            origins: own.chain(allowed).collect(),
            token,
        }
    }

    fn check(&self, request: &Request) -> Result<(), Refusal> {
        let origin = self.host(request)?;
        check_fetch_site(request)?;
        let path = request.uri().path();
        if path != "/api" && !path.starts_with("/api/") {
            return check_page_method(request.method());
        }
        // Whether there is a workshop may be asked without a token; whether a token
        // is the workshop's takes a call with it.
        if path == "/api/ping" && matches!(*request.method(), Method::GET | Method::HEAD) {
            return Ok(());
        }
        let headers = request.headers();
        if request.method() != Method::POST {
            return Err(Refusal::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "calls are made by `POST`",
            ));
        }
        origin.check(headers)?;
        check_content_type(headers)?;
        check_length(headers)?;
        let token = single(headers, &TOKEN);
        if !token.is_some_and(|token| self.token.matches(token.as_bytes())) {
            return Err(Refusal::new(
                StatusCode::UNAUTHORIZED,
                "the token is missing or an old one",
            )
            .help("open the link printed in your terminal once"));
        }
        Ok(())
    }

    /// Returns the origin that the request is addressed to.
    fn host(&self, request: &Request) -> Result<&Origin, Refusal> {
        let misdirected = || {
            Refusal::new(
                StatusCode::MISDIRECTED_REQUEST,
                "this server does not go by that name",
            )
            .help("open the link printed in your terminal, or start with `--allow-host NAME`")
        };
        let host = single(request.headers(), &header::HOST).and_then(|host| host.to_str().ok());
        let host = host.ok_or_else(misdirected)?.to_ascii_lowercase();
        // A request line with a whole address must agree with it.
        let authority = request
            .uri()
            .authority()
            .map(|authority| authority.as_str());
        if authority.is_some_and(|authority| !authority.eq_ignore_ascii_case(&host)) {
            return Err(misdirected());
        }
        self.origins
            .iter()
            .find(|origin| origin.host == host)
            .ok_or_else(misdirected)
    }
}

impl Origin {
    /// Browsers leave out a scheme's usual port, even if the link has it.
    fn with_and_without_port(host: String, https: bool) -> Vec<Self> {
        let short = host
            .strip_suffix(":80")
            .or_else(|| host.strip_suffix(":443").filter(|_| https))
            .map(str::to_owned);
        let hosts = short.into_iter().chain([host]);
        hosts.map(|host| Self { host, https }).collect()
    }

    /// The page that calls must come from the very host that it calls.
    fn check(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let origin = single(headers, &header::ORIGIN).and_then(|origin| origin.to_str().ok());
        let (scheme, host) = origin
            .and_then(|origin| origin.split_once("://"))
            .unwrap_or_default();
        let own = scheme == "http" || (scheme == "https" && self.https);
        match own && host.eq_ignore_ascii_case(&self.host) {
            true => Ok(()),
            false => Err(Refusal::new(
                StatusCode::FORBIDDEN,
                "only the book's own pages may call",
            )),
        }
    }
}

/// Browsers say where a request comes from. A page on another port of this
/// machine is `same-site`, and as foreign as any.
fn check_fetch_site(request: &Request) -> Result<(), Refusal> {
    let headers = request.headers();
    let is = |name, value: &str| single(headers, &name).is_some_and(|found| found == value);
    if !headers.contains_key(FETCH_SITE) || is(FETCH_SITE, "same-origin") {
        return Ok(());
    }
    let is_get = request.method() == Method::GET;
    // Typed, or opened by a program; or a link on another page was followed,
    // which loads a page of its own and lets the other see nothing of it.
    let is_page = !request.uri().path().starts_with("/api");
    let followed_link = is_page && is(FETCH_MODE, "navigate") && is(FETCH_DEST, "document");
    if is_get && (is(FETCH_SITE, "none") || followed_link) {
        return Ok(());
    }
    Err(Refusal::new(
        StatusCode::FORBIDDEN,
        "other sites may not use this server",
    ))
}

fn check_page_method(method: &Method) -> Result<(), Refusal> {
    match *method {
        Method::GET | Method::HEAD => Ok(()),
        _ => Err(Refusal::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "pages are read by `GET`",
        )),
    }
}

fn check_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let kind = single(headers, &header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind
        .and_then(|kind| kind.split(';').next())
        .unwrap_or_default();
    match kind.trim().eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => Err(Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "calls are made in JSON",
        )),
    }
}

/// A body that says itself that it is too long need not be waited for.
fn check_length(headers: &HeaderMap) -> Result<(), Refusal> {
    let length = single(headers, &header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    let length = length.and_then(|length| length.parse::<usize>().ok());
    match length.is_some_and(|length| length > MAX_BODY_BYTES) {
        false => Ok(()),
        true => {
            let refusal = Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "the call is too long");
            Err(refusal.help("calls have at most 256 KiB"))
        }
    }
}

/// Returns the header if it is there exactly once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    values.next().is_none().then_some(first).flatten()
}

/// Checks every request, and puts the headers on every answer.
pub async fn guard(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let mut response = match gate.check(&request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    for (name, value) in HEADERS {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    // A page knows of files that may be kept.
    response
        .headers_mut()
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-cache"));
    response
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn gate(address: &str, allowed_hosts: &[String]) -> (Gate, String) {
        let token = Token::new().unwrap();
        let text = token.as_str().to_owned();
        (
            Gate::new(address.parse().unwrap(), allowed_hosts, token),
            text,
        )
    }

    /// A call as a page of `origin` makes it, addressed to `host`.
    fn call(host: &str, origin: &str, token: &str) -> Request {
        Request::post("/api/run")
            .header(header::HOST, host)
            .header(header::ORIGIN, origin)
            .header(header::CONTENT_TYPE, "application/json")
            .header(TOKEN, token)
            .body(Body::empty())
            .unwrap()
    }

    #[test]
    fn the_usual_port_need_not_be_named() {
        let (gate, token) = gate("127.0.0.1:80", &[]);
        for host in ["127.0.0.1", "127.0.0.1:80", "localhost", "[::1]"] {
            let call = call(host, &format!("http://{host}"), &token);
            assert!(gate.check(&call).is_ok(), "{host}");
        }
        let other = call("127.0.0.1:8080", "http://127.0.0.1:8080", &token);
        assert!(gate.check(&other).is_err());
    }

    #[test]
    fn another_port_must_be_named() {
        let (gate, token) = gate("127.0.0.1:8080", &["tunnel.example:443".into()]);
        for host in ["127.0.0.1", "127.0.0.1:80", "localhost"] {
            let call = call(host, &format!("http://{host}"), &token);
            assert!(gate.check(&call).is_err(), "{host}");
        }
        let tunnel = call("tunnel.example", "https://tunnel.example", &token);
        assert!(gate.check(&tunnel).is_ok());
    }
}
