//! The book: built, served, rebuilt, and broken.

mod fixture;

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use fixture::{Fixture, Server, wait_until};
use serde_json::{Value, json};

/// The events that every open page hears.
fn listen(server: &Server) -> impl Iterator<Item = Value> + use<> {
    let call = server.call("/api/events", &json!({}));
    let lines = BufReader::new(server.open(&call)).lines();
    lines
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_str(&line).ok())
}

fn page(server: &Server) -> String {
    let answer = server.send(&server.page("/one.html"));
    assert_eq!(answer.status, 200, "the book is always whole");
    answer.body
}

#[test]
fn a_change_is_served_and_told_to_open_pages() {
    let server = Fixture::new().serve();
    assert!(page(&server).contains("the first build"));
    let mut events = listen(&server);
    let example = "fn main() {\n    // ANCHOR: part\n    println!(\"the second\");\n    // ANCHOR_END: part\n}\n";
    server.fixture.write("snippets/examples/one.rs", example);
    assert!(events.any(|event| event["type"] == "reload"));
    assert!(page(&server).contains("the second"));
}

#[test]
fn only_a_file_that_is_named_by_its_content_is_kept_by_browsers() {
    let server = Fixture::new().serve();
    let head = |path: &str| server.send(&server.page(path)).head;
    let style = page(&server);
    let style = style.split('"').find(|part| part.contains("fonts/fonts-"));
    let style = format!("/{}", style.expect("the page names the style of its fonts"));
    let fonts = server.send(&server.page(&style)).body;
    let font = fonts
        .split(['\'', '"', '(', ')'])
        .find(|part| part.ends_with(".woff2"));
    let font = format!(
        "/fonts/{}",
        font.expect("the style names the fonts")
            .trim_start_matches("../fonts/")
    );

    let kept = head(&font);
    assert!(kept.starts_with("http/1.1 200"), "{font}: {kept}");
    assert!(
        kept.contains("cache-control: max-age=31536000, immutable"),
        "{kept}"
    );
    let gone = "/fonts/none-0123abcd.woff2";
    // mdBook writes the fonts' addresses into the style after it has named it.
    for path in ["/", "/one.html", &style, gone] {
        let answer = head(path);
        assert!(
            answer.contains("cache-control: no-cache"),
            "{path}: {answer}"
        );
        assert!(!answer.contains("immutable"), "{path}: {answer}");
    }
}

#[test]
fn a_broken_book_is_told_and_the_last_good_one_served() {
    let server = Fixture::new().serve();
    let mut events = listen(&server);
    server.fixture.write(
        "src/SUMMARY.md",
        "# Summary\n\n[One](one.md)\n[Two](missing.md)\n",
    );
    let error = events.find(|event| event["type"] == "book-error").unwrap();
    assert!(
        error["message"].as_str().unwrap().contains("missing.md"),
        "{error}"
    );
    assert!(page(&server).contains("the first build"));

    let late = listen(&server).find(|event| event["type"] == "book-error");
    assert_eq!(late, Some(error), "a page opened later learns it too");
    server
        .fixture
        .write("src/SUMMARY.md", "# Summary\n\n[One](one.md)\n");
    let mended = events.find(|event| event["type"] == "book-error").unwrap();
    assert!(mended["message"].is_null());
    assert!(events.any(|event| event["type"] == "reload"));
}

#[test]
fn a_chapter_removed_while_it_is_served_is_told_and_stays_until_it_is_back() {
    let server = Fixture::new().serve();
    let mut events = listen(&server);
    let chapter = server.fixture.read("src/one.md");
    std::fs::remove_file(server.fixture.path().join("src/one.md")).unwrap();
    let error = events.find(|event| event["type"] == "book-error").unwrap();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("one.md"), "{message}");
    assert!(page(&server).contains("the first build"));
    server.fixture.write("src/one.md", &chapter);
    assert!(events.any(|event| event["type"] == "reload"));
    assert!(page(&server).contains("the first build"));
}

#[test]
fn a_missing_anchor_is_told() {
    let server = Fixture::new().serve();
    let mut events = listen(&server);
    server
        .fixture
        .write("snippets/examples/one.rs", "fn main() {}\n");
    let error = events.find(|event| event["type"] == "book-error").unwrap();
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("no anchor `part`"),
        "{error}"
    );
}

#[test]
fn a_page_is_there_at_every_moment_while_the_book_is_built_anew() {
    let server = Fixture::new().serve();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    page(&server);
                }
            });
        }
        let mut events = listen(&server);
        for round in 0..12 {
            let text = format!("# One\n\nThe text of round {round}.\n");
            server.fixture.write("src/one.md", &text);
            assert!(events.any(|event| event["type"] == "reload"));
        }
        is_over.store(true, Relaxed);
    });
}

#[test]
fn the_search_finds_again_soon_after_a_change() {
    let server = Fixture::new().serve();
    let mut events = listen(&server);
    server
        .fixture
        .write("src/one.md", "# One\n\nA word to find: zanzibar.\n");
    assert!(events.any(|event| event["type"] == "reload"));
    wait_until("the index has the new word", || {
        let page = page(&server);
        let name = page
            .split(['"', '/'])
            .find(|part| part.starts_with("searchindex"));
        let index = server.send(&server.page(&format!("/{}", name.unwrap())));
        index.status == 200 && index.body.contains("zanzibar")
    });
}

#[test]
fn two_servers_in_one_folder_do_not_disturb_each_other() {
    let first = Fixture::new().serve();
    let output = first.fixture.command();
    let second = {
        let fixture = Fixture::new();
        // The second server works in the first one's folder.
        let path = first.fixture.path();
        Server::start(fixture, |command| {
            command.current_dir(path);
        })
    };
    drop(output);
    for server in [&first, &second] {
        assert!(page(server).contains("the first build"));
        assert_eq!(
            server
                .run_code("fn main() { println!(\"x\"); }")
                .text("stdout"),
            "x\n"
        );
    }
}

#[test]
fn the_static_book_is_built_where_it_is_wanted() {
    let fixture = Fixture::new();
    let output = fixture.output(&["build", "--dest-dir", "elsewhere"]);
    assert!(output.status.success(), "{output:?}");
    assert!(fixture.path().join("elsewhere/one.html").is_file());
}

#[test]
fn a_published_book_knows_its_address() {
    let fixture = Fixture::new();
    let address = "https://x.example/a-book";
    let output = fixture.output(&["build", "--site-url", address]);
    assert!(output.status.success(), "{output:?}");
    let page = fixture.read("book/one.html");
    let own = format!("<meta property=\"og:url\" content=\"{address}/one.html\">");
    assert!(page.contains(&own), "{page}");
    // It is shown for any address below, so its links can't be relative to that.
    let missing = fixture.read("book/404.html");
    assert!(
        missing.contains(&format!("<base href=\"{address}/\">")),
        "{missing}"
    );
    assert_fails(
        &fixture,
        &["build", "--site-url", "here"],
        "`here`",
        "https://",
    );
}

/// Runs the command, which must fail in two lines: what is wrong and what to do.
#[track_caller]
fn assert_fails(fixture: &Fixture, arguments: &[&str], error: &str, help: &str) {
    let output = fixture.output(arguments);
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr);
    let (first, rest) = text.split_once("\nhelp: ").unwrap_or((&text, ""));
    assert!(
        first.starts_with("error: ") && first.contains(error),
        "{text}"
    );
    assert!(rest.contains(help), "{text}");
}

#[test]
fn a_folder_that_is_no_workshop_is_refused() {
    let fixture = Fixture::new();
    std::fs::remove_file(fixture.path().join("book.toml")).unwrap();
    assert_fails(
        &fixture,
        &["list"],
        "is not inside the workshop's folder",
        "change into",
    );
}

#[test]
fn a_port_in_use_is_refused() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    assert_fails(
        &Fixture::new(),
        &["serve", "--no-open", "--port", &port],
        &port,
        "--port",
    );
}

#[test]
fn a_broken_book_is_refused_in_the_words_of_mdbook() {
    let fixture = Fixture::new();
    fixture.write("book.toml", "[book]\ntitle = \"A book\"\nno-such-key = 1\n");
    assert_fails(&fixture, &["build"], "no-such-key", "book.toml");
    assert_fails(
        &fixture,
        &["serve", "--no-open", "--port", "0"],
        "no-such-key",
        "book.toml",
    );
}

#[test]
fn a_static_book_with_a_hole_is_refused() {
    let fixture = Fixture::new();
    fixture.write("src/one.md", "# One\n\n{{#include ../no-such-file.rs}}\n");
    assert_fails(&fixture, &["build"], "no-such-file.rs", "fix");
}

#[test]
fn a_target_folder_that_cannot_be_written_is_refused() {
    let fixture = Fixture::unbuilt();
    fixture.write("target", "a file where the folder should be");
    assert_fails(
        &fixture,
        &["serve", "--no-open", "--port", "0"],
        "cannot be written",
        "CARGO_TARGET_DIR",
    );
}
