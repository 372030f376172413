//! Attacks the server with a plain client, which may send what no browser would.

mod fixture;

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;

use fixture::{Fixture, PATIENCE, Request, Server};
use serde_json::json;

/// A call that must be refused: what it would have printed must not come back.
fn run_call(server: &Server) -> Request {
    server.call(
        "/api/run",
        &json!({ "code": "fn main() { println!(\"it ran\"); }" }),
    )
}

#[track_caller]
fn assert_refused(server: &Server, request: &Request, status: u16) {
    let answer = server.send(request);
    assert_eq!(answer.status, status, "{answer:?}");
    assert!(!answer.body.contains("it ran"), "{answer:?}");
    assert!(
        !answer.head.contains("access-control"),
        "nothing is shared: {answer:?}"
    );
}

#[test]
fn the_own_page_may_run_code() {
    let server = Fixture::new().serve();
    let answer = server.send(&run_call(&server));
    assert_eq!(answer.status, 200);
    assert!(
        answer.head.contains("content-type: application/x-ndjson"),
        "{answer:?}"
    );
    assert!(answer.body.contains("it ran"), "{answer:?}");
    let by_name = run_call(&server)
        .with("Host", &format!("LOCALHOST:{}", server.port))
        .with("Origin", &format!("http://localhost:{}", server.port));
    assert_eq!(server.send(&by_name).status, 200);
}

#[test]
fn a_foreign_host_gets_nothing_not_even_a_page() {
    let server = Fixture::new().serve();
    let port = server.port;
    let hosts = [
        format!("evil.example:{port}"),
        "evil.example".into(),
        "127.0.0.1".into(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("127.0.0.1.evil.example:{port}"),
        format!("127.0.0.1:{port}.evil.example"),
        format!("user@127.0.0.1:{port}"),
        format!("0.0.0.0:{port}"),
        String::new(),
    ];
    for host in hosts {
        for path in ["/", "/api/ping", "/one.html", "/no-such-page"] {
            assert_refused(&server, &server.page(path).with("Host", &host), 421);
        }
        let origin = format!("http://{host}");
        let rebinding = run_call(&server)
            .with("Host", &host)
            .with("Origin", &origin);
        assert_refused(&server, &rebinding, 421);
    }
    assert_refused(&server, &server.page("/").and("Host", "evil.example"), 421);
    let absolute =
        Request::new("GET", "http://evil.example/").with("Host", &format!("127.0.0.1:{port}"));
    assert_refused(&server, &absolute, 421);
}

#[test]
fn a_request_without_a_host_is_refused() {
    let server = Fixture::new().serve();
    let answer = server.send(&server.page("/").without("Host"));
    assert!([400, 421].contains(&answer.status), "{answer:?}");
}

#[test]
fn a_call_from_another_origin_is_refused() {
    let server = Fixture::new().serve();
    let port = server.port;
    let origins = [
        "null".into(),
        "http://evil.example".into(),
        "http://127.0.0.1".into(),
        format!("http://127.0.0.1:{}", port ^ 1),
        format!("https://127.0.0.1:{port}"),
        format!("http://localhost:{port}"),
        format!("http://127.0.0.1:{port}.evil.example"),
        format!("127.0.0.1:{port}"),
        String::new(),
    ];
    for origin in origins {
        assert_refused(&server, &run_call(&server).with("Origin", &origin), 403);
    }
    assert_refused(&server, &run_call(&server).without("Origin"), 403);
    let own = format!("http://127.0.0.1:{port}");
    assert_refused(&server, &run_call(&server).and("Origin", &own), 403);
}

#[test]
fn a_request_that_another_site_caused_is_refused() {
    let server = Fixture::new().serve();
    for site in ["cross-site", "same-site", "none", "nonsense"] {
        assert_refused(
            &server,
            &run_call(&server).with("Sec-Fetch-Site", site),
            403,
        );
    }
    for site in ["cross-site", "same-site"] {
        let embedded = server.page("/one.html").with("Sec-Fetch-Site", site);
        assert_refused(&server, &embedded, 403);
        assert_refused(
            &server,
            &server.page("/api/ping").with("Sec-Fetch-Site", site),
            403,
        );
        let framed = embedded
            .with("Sec-Fetch-Mode", "navigate")
            .with("Sec-Fetch-Dest", "iframe");
        assert_refused(&server, &framed, 403);
        let followed_link = framed.with("Sec-Fetch-Dest", "document");
        assert_eq!(server.send(&followed_link).status, 200);
    }
}

#[test]
fn a_call_without_the_right_token_is_refused() {
    let server = Fixture::new().serve();
    let (token, call) = (&server.token, run_call(&server));
    let wrong = [
        String::new(),
        token[1..].to_owned(),
        format!("{token}0"),
        token.to_uppercase() + " ",
        "0".repeat(token.len()),
    ];
    assert_eq!(token.len(), 32, "128 bits");
    for token in wrong {
        assert_refused(&server, &call.clone().with("X-Workshop-Token", &token), 401);
    }
    assert_refused(&server, &call.clone().without("X-Workshop-Token"), 401);
    assert_refused(&server, &call.and("X-Workshop-Token", "0"), 401);
    for path in [
        "/api/events",
        "/api/exercises",
        "/api/exercises/1/check",
        "/api/exercises/1/wrong",
        "/api/exercises/1/read",
        "/api/exercises/1/write",
        "/api/exercises/1/hint",
        "/api/exercises/1/code",
        "/api/exercises/1/diff",
        "/api/exercises/1/order",
        "/api/exercises/1/reset",
        "/api/traces/latest",
        "/api/no-such-call",
    ] {
        let call = server.call(path, &json!({})).without("X-Workshop-Token");
        assert_refused(&server, &call, 401);
    }
}

#[test]
fn the_token_is_on_no_page() {
    let server = Fixture::new().serve();
    for path in [
        "/",
        "/one.html",
        "/print.html",
        "/api/ping",
        "/no-such-page",
    ] {
        let answer = server.send(&server.page(path));
        assert!(!answer.body.contains(&server.token) && !answer.head.contains(&server.token));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_token_is_in_no_programs_arguments() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new();
    // What stands for the browser only writes down how it was called.
    fixture.write("bin/xdg-open", "#!/bin/sh\necho \"$@\" > \"$OPENED\"\n");
    let (bin, opened) = (fixture.path().join("bin"), fixture.path().join("opened"));
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bin.join("xdg-open"), executable).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let server = Server::start_with(fixture, &["serve", "--port", "0"], |command| {
        command.env("PATH", path).env("OPENED", &opened);
    });
    fixture::wait_until("the browser is called", || {
        std::fs::read_to_string(&opened).is_ok_and(|link| link.ends_with('\n'))
    });
    let link = server.fixture.read("opened");
    assert!(!link.contains(&server.token), "{link}");
    let own = format!("http://127.0.0.1:{}", server.port);
    let path = link.trim().strip_prefix(&own).unwrap();

    let foreign = server.page(path).with("Host", "evil.example");
    assert_refused(&server, &foreign, 421);
    assert_refused(&server, &server.page("/open/0"), 410);
    let answer = server.send(&server.page(path));
    assert_eq!(answer.status, 303, "{answer:?}");
    let location = format!("location: /#token={}", server.token);
    assert!(answer.head.contains(&location), "{answer:?}");
    let again = server.send(&server.page(path));
    assert_eq!(again.status, 410, "it is good only once");
    assert!(!again.head.contains(&server.token) && !again.body.contains(&server.token));
}

#[test]
fn only_json_sent_by_post_is_a_call() {
    let server = Fixture::new().serve();
    let call = run_call(&server);
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/jsonp",
        "",
    ] {
        assert_refused(&server, &call.clone().with("Content-Type", kind), 415);
    }
    assert_refused(&server, &call.without("Content-Type"), 415);
    for method in ["GET", "HEAD", "PUT", "OPTIONS", "DELETE"] {
        let own = format!("127.0.0.1:{}", server.port);
        let request = Request::new(method, "/api/run")
            .with("Host", &own)
            .with("Origin", &format!("http://{own}"))
            .with("X-Workshop-Token", &server.token);
        assert_refused(&server, &request, 405);
    }
    assert_refused(&server, &server.page("/").body("x"), 200);
    let posted =
        Request::new("POST", "/one.html").with("Host", &format!("127.0.0.1:{}", server.port));
    assert_refused(&server, &posted, 405);
}

#[test]
fn a_call_may_name_no_flag_no_file_and_no_other_limit() {
    let server = Fixture::new().serve();
    let code = "fn main() { println!(\"it ran\"); }";
    let calls = [
        json!({ "code": code, "flags": ["-C", "linker=/bin/sh"] }),
        json!({ "code": code, "crates": ["libc"] }),
        json!({ "code": code, "env": { "PATH": "/" } }),
        json!({ "code": code, "limit": 3600 }),
        json!({ "code": code, "mode": "../release" }),
        json!({ "mode": "debug" }),
    ];
    for call in calls {
        assert_refused(&server, &server.call("/api/run", &call), 400);
    }
    assert_refused(&server, &server.call("/api/run", &json!({})).body("{"), 400);
}

#[test]
fn an_oversized_body_is_refused() {
    let server = Fixture::new().serve();
    let code = format!(
        "fn main() {{ println!(\"it ran\"); }}{}",
        " ".repeat(256 << 10)
    );
    assert_refused(
        &server,
        &server.call("/api/run", &json!({ "code": code })),
        413,
    );
    let endless = run_call(&server).with("Content-Length", "99999999999");
    assert_refused(&server, &endless, 413);
}

#[test]
fn a_body_of_unknown_length_is_cut_off() {
    let server = Fixture::new().serve();
    let code = format!("{{\"code\":\"//{}\"}}", " ".repeat(300 << 10));
    let chunked = format!("{:x}\r\n{code}\r\n0\r\n\r\n", code.len());
    let call = server.call("/api/run", &json!({})).body(&chunked);
    let call = call
        .without("Content-Length")
        .with("Transfer-Encoding", "chunked");
    assert_refused(&server, &call, 413);
}

#[test]
fn calls_that_never_come_to_an_end_hold_up_nobody() {
    let server = Fixture::new().serve();
    // The head of a call, or a part of it, and nothing more.
    let unfinished = run_call(&server).with("Content-Length", "100000");
    let started = Request::new("POST", "/api/run").unfinished();
    let waiting: Vec<_> = (0..200)
        .map(|number| match number % 2 {
            0 => server.open(&unfinished),
            _ => server.open(&started),
        })
        .collect();
    assert_eq!(server.send(&run_call(&server)).status, 200);
    server.assert_answers();
    drop(waiting);
    server.assert_clean();
}

#[test]
fn connections_that_say_half_of_something_are_closed_and_those_that_listen_stay() {
    let server = Fixture::new().serve();
    let page = BufReader::new(server.open(&server.call("/api/events", &json!({}))));
    let half_body = run_call(&server).with("Content-Length", "100000");
    let kept_alive = server
        .page("/api/ping")
        .with("Connection", "keep-alive")
        .bytes();
    let beginnings = [
        String::new(),
        "P".into(),
        Request::new("POST", "/api/run").unfinished().bytes(),
        format!(
            "{}X-Half: ",
            Request::new("POST", "/api/run").unfinished().bytes()
        ),
        half_body.bytes(),
        kept_alive.clone(),
        format!(
            "{kept_alive}{}",
            Request::new("GET", "/").unfinished().bytes()
        ),
    ];
    let open = beginnings.map(|beginning| {
        let mut connection = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        connection.write_all(beginning.as_bytes()).unwrap();
        (beginning, connection)
    });
    for (beginning, mut connection) in open {
        let closed = connection.read_to_end(&mut Vec::new());
        let is_open = closed.is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        assert!(!is_open, "it's open still: {beginning:?}");
    }
    // A page has said all that it has to say, and waits for news.
    server.fixture.write("src/one.md", "# One, changed\n");
    let mut news = page.lines().map_while(Result::ok);
    assert!(news.any(|line| line.contains("reload")));
}

#[test]
fn a_client_that_never_reads_is_left() {
    let server = Fixture::new().serve();
    let page = server.page("/book.js").with("Connection", "keep-alive");
    let asking = page.bytes().repeat(2000);
    let mut connection = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let patience = 4 * PATIENCE;
    connection.set_write_timeout(Some(patience)).unwrap();
    // The server takes no more questions while its answers aren't read, and ends
    // the connection in the end.
    let sent = (0..).try_for_each(|_: u32| connection.write_all(asking.as_bytes()));
    let error = sent.unwrap_err();
    assert!(
        matches!(
            error.kind(),
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
        ),
        "{error}"
    );
    server.assert_answers();
}

#[test]
fn an_address_without_a_page_gets_the_books_own_words_however_long_it_is() {
    let server = Fixture::new().serve();
    let part = "x".repeat(300);
    let addresses = [
        (format!("/{part}"), 404),
        (format!("/{part}.html?{part}"), 404),
        (format!("/one.html/{part}"), 404),
        (format!("/{}", "x/".repeat(1000)), 404),
        (format!("/{}", "%41".repeat(300)), 404),
        (format!("/{}", "x".repeat(5000)), 414),
        ("/nul%00".into(), 404),
    ];
    for (address, status) in addresses {
        let answer = server.send(&server.page(&address));
        assert_eq!(answer.status, status, "{address}: {answer:?}");
        let text = match status {
            404 => "Document not found",
            _ => "no page has so long an address",
        };
        assert!(answer.body.contains(text), "{address}: {answer:?}");
    }
    let head = Request::new("HEAD", &format!("/{part}"));
    let head = head.with("Host", &format!("127.0.0.1:{}", server.port));
    assert_refused(&server, &head, 404);
}

#[test]
fn no_address_leads_to_another_host() {
    let server = Fixture::new().serve();
    for address in [
        "//css",
        "///css",
        "//css/",
        "//evil.example/css",
        "/css//",
        "//css/..",
        "/%2fcss",
        "/css",
        "/\\css",
        "/%5ccss",
        "//evil.example",
        "/.//css",
        "/css/..//css",
    ] {
        let answer = server.send(&server.page(address));
        let location = answer
            .head
            .lines()
            .find_map(|line| line.strip_prefix("location: "));
        // A single slash, and then the name of a folder of the book.
        let stays = |to: &str| to.starts_with("/css") || to.starts_with("/fonts");
        assert!(location.is_none_or(stays), "{address}: {answer:?}");
    }
    assert_refused(&server, &server.page("//css"), 404);
}

#[test]
fn a_token_can_be_tried_before_it_is_kept() {
    let server = Fixture::new().serve();
    let ping = server.call("/api/ping", &json!({}));
    assert_refused(&server, &ping, 200);
    assert_refused(
        &server,
        &ping.clone().with("X-Workshop-Token", "moved"),
        401,
    );
    assert_refused(&server, &ping.clone().without("X-Workshop-Token"), 401);
    let foreign = ping.with("Origin", "http://evil.example");
    assert_refused(&server, &foreign, 403);
    assert_refused(&server, &server.page("/api/ping"), 200);
}

#[test]
fn no_other_spelling_of_a_path_gets_round_the_rules() {
    let server = Fixture::new().serve();
    let paths = [
        "/%61pi/run",
        "/api%2frun",
        "//api/run",
        "/./api/run",
        "/api//run",
        "/api/./run",
        "/API/run",
        "/x/../api/run",
        "/css/../api/run",
        "/api/run/",
        "/api/exercises/../run",
        "/api\\run",
        "/api/run;x",
        "/api/ping/../run",
    ];
    for path in paths {
        let call = server.call(
            path,
            &json!({ "code": "fn main() { println!(\"it ran\"); }" }),
        );
        let foreign = call
            .without("X-Workshop-Token")
            .with("Origin", "http://evil.example");
        let answer = server.send(&foreign);
        assert!(answer.status >= 400, "{path}: {answer:?}");
        assert!(!answer.body.contains("it ran"), "{path}: {answer:?}");
    }
    // Nor does a token elsewhere than in its header.
    let (token, call) = (&server.token, run_call(&server).without("X-Workshop-Token"));
    assert_refused(
        &server,
        &call.clone().with("Cookie", &format!("token={token}")),
        401,
    );
    let bearer = format!("Bearer {token}");
    assert_refused(&server, &call.with("Authorization", &bearer), 401);
    let query = server.call(&format!("/api/run?token={token}"), &json!({}));
    assert_refused(&server, &query.without("X-Workshop-Token"), 401);
}

#[test]
fn there_is_no_other_way_to_a_stream() {
    let server = Fixture::new().serve();
    let own = format!("http://127.0.0.1:{}", server.port);
    for path in ["/", "/api/events", "/api/run", "/__livereload", "/one.html"] {
        for origin in [&own, "http://evil.example", "null"] {
            let upgrade = server
                .page(path)
                .with("Connection", "Upgrade, close")
                .with("Upgrade", "websocket")
                .with("Origin", origin)
                .with("Sec-WebSocket-Version", "13")
                .with("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
            let answer = server.send(&upgrade);
            assert_ne!(answer.status, 101, "{path} from {origin}: {answer:?}");
            assert!(!answer.head.contains("\nupgrade:"), "{answer:?}");
        }
    }
    // What an `EventSource`, a form, a script or a beacon can send.
    let stream = server
        .page("/api/events")
        .with("Accept", "text/event-stream");
    assert_refused(&server, &stream, 405);
    for (site, origin) in [
        ("cross-site", "http://evil.example"),
        ("same-site", "http://127.0.0.1:1"),
    ] {
        let call = server.call("/api/events", &json!({}));
        let call = call.with("Sec-Fetch-Site", site).with("Origin", origin);
        assert_refused(&server, &call, 403);
        // An older browser doesn't say where a call comes from.
        assert_refused(&server, &call.without("Sec-Fetch-Site"), 403);
    }
    let preflight = Request::new("OPTIONS", "/api/run")
        .with("Host", &own["http://".len()..])
        .with("Origin", "https://evil.example")
        .with("Access-Control-Request-Method", "POST")
        .with(
            "Access-Control-Request-Headers",
            "x-workshop-token,content-type",
        )
        .with("Access-Control-Request-Private-Network", "true");
    assert_refused(&server, &preflight, 405);
}

#[test]
fn no_foreign_page_can_frame_or_embed_one_of_ours() {
    let server = Fixture::new().serve();
    for site in ["cross-site", "same-site"] {
        for destination in ["iframe", "frame", "object", "embed", "fencedframe"] {
            let framed = server
                .page("/one.html")
                .with("Sec-Fetch-Site", site)
                .with("Sec-Fetch-Mode", "navigate")
                .with("Sec-Fetch-Dest", destination);
            assert_refused(&server, &framed, 403);
        }
        for destination in ["script", "style", "image", "worker", "font"] {
            let embedded = server
                .page("/book.js")
                .with("Sec-Fetch-Site", site)
                .with("Sec-Fetch-Mode", "no-cors")
                .with("Sec-Fetch-Dest", destination);
            assert_refused(&server, &embedded, 403);
        }
    }
}

#[test]
fn no_path_leads_out_of_the_book() {
    let fixture = Fixture::new();
    fixture.write("target/workshop/secret.html", "it ran");
    let server = fixture.serve();
    let tricks = [
        "/../secret.html",
        "/../../../book.toml",
        "/%2e%2e/secret.html",
        "/%2e%2e%2fsecret.html",
        "/..%2fsecret.html",
        "/one.html/../../secret.html",
        "/css/%2e%2e/%2e%2e/secret.html",
        "/..\\secret.html",
        "/%5c..%5csecret.html",
        "//etc/passwd",
        "/%2fetc%2fpasswd",
        "/secret.html%00.html",
    ];
    for path in tricks {
        let answer = server.send(&server.page(path));
        assert!([400, 404].contains(&answer.status), "{path}: {answer:?}");
        for stolen in ["it ran", "[book]", "root:"] {
            assert!(!answer.body.contains(stolen), "{path}: {answer:?}");
        }
    }
    assert_refused(
        &server,
        &server.call("/api/exercises/..%2f1/check", &json!({})),
        400,
    );
}

#[test]
fn every_answer_forbids_foreign_frames_and_sharing() {
    let server = Fixture::new().serve();
    let pages = ["/", "/api/ping", "/no-such-page"].map(|path| server.page(path));
    let refused = server.page("/").with("Host", "evil.example");
    for request in pages.into_iter().chain([refused, run_call(&server)]) {
        let answer = server.send(&request);
        let expected = [
            "x-frame-options: sameorigin",
            "frame-ancestors 'self'",
            "object-src 'none'",
            "connect-src 'self'",
            "form-action 'none'",
            "cross-origin-resource-policy: same-origin",
            "cross-origin-opener-policy: same-origin",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
        ];
        for header in expected {
            assert!(
                answer.head.contains(header),
                "no `{header}` in {}",
                answer.head
            );
        }
        assert!(!answer.head.contains("access-control"), "{}", answer.head);
    }
}

#[test]
fn a_name_that_was_allowed_may_call() {
    let server = Server::start(Fixture::new(), |command| {
        command.args(["--allow-host", "Tunnel.example"]);
    });
    let call = run_call(&server).with("Host", "tunnel.example");
    for origin in ["https://tunnel.example", "http://tunnel.example"] {
        assert_eq!(
            server.send(&call.clone().with("Origin", origin)).status,
            200
        );
    }
    let own = format!("http://127.0.0.1:{}", server.port);
    assert_refused(&server, &call.with("Origin", &own), 403);
    assert_refused(
        &server,
        &run_call(&server).with("Host", "tunnel.example:1"),
        421,
    );
}

#[test]
fn the_server_listens_on_loopback_alone() {
    let server = Fixture::new().serve();
    let lines = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let port = format!(":{:04X}", server.port);
    let listens = |line: &&str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        // State 0A is LISTEN.
        fields.len() > 3 && fields[1].ends_with(&port) && fields[3] == "0A"
    };
    for line in lines.lines().filter(listens) {
        assert!(line.contains(&format!("0100007F{port}")), "{line}");
    }
}
