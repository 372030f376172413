//! What the panel of an exercise asks of the server, and what it is told
//! without asking.

mod fixture;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use fixture::{EXERCISE as FILE, Fixture, PATIENCE, Server, stub};
use serde_json::{Value, json};

const HINTS: &str = "# Concept\n\nThink.\n\n# Code\n\n`6 * 7`\n";
const TESTS: &str = "
use testkit::{Lesson, check};

const LESSON: Lesson = Lesson {
    clause: \"1. Right\",
    promise: \"The answer is 42.\",
    usual_cause: \"It is another number.\",
    read: \"one.html\",
};

/// Clause 1: because it was asked for.
#[test]
fn the_answer_is_right() {
    check(LESSON, || assert!(super::answer() == 42, \"it is {}\", super::answer()));
}

/// Clause 1: and it stays so.
#[test]
fn the_answer_stays_right() {
    check(LESSON, || assert!(super::answer() == super::answer()));
}
";

/// A served workshop with one exercise.
fn serve() -> Server {
    let fixture = Fixture::with_exercise(&stub("todo!(\"find it\")"));
    let config = include_str!("../../../.cargo/config.toml");
    let files: [(&str, &str); 5] = [
        ("exercises/01-answer/stub.rs", &stub("todo!(\"find it\")")),
        ("exercises/01-answer/hints.md", HINTS),
        ("exercises/01-answer/src/tests.rs", TESTS),
        ("solutions/01-answer/src/lib.rs", &stub("6 * 7")),
        (".cargo/config.toml", config),
    ];
    for (file, text) in files {
        fixture.write(file, text);
    }
    fixture.write(
        "src/one.md",
        "# One\n\n<div class=\"exercise\" data-exercise=\"1\"></div>\n",
    );
    fixture.serve()
}

fn ask(server: &Server, call: &str, body: &Value) -> (u16, Value) {
    let path = format!("/api/exercises/1/{call}");
    let answer = server.send(&server.call(&path, body));
    (
        answer.status,
        serde_json::from_str(&answer.body).unwrap_or_default(),
    )
}

/// What the server tells all pages, from now on.
fn listen(server: &Server) -> Receiver<Value> {
    let connection = server.open(&server.call("/api/events", &json!({})));
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        // The lines between are the framing of HTTP.
        let lines = BufReader::new(connection).lines().map_while(Result::ok);
        let events = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        for event in events.filter(Value::is_object) {
            if sender.send(event).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Returns the first event of which `wanted` holds.
#[track_caller]
fn wait_for(events: &Receiver<Value>, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + PATIENCE;
    let mut others = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let event = events
            .recv_timeout(left)
            .unwrap_or_else(|_| panic!("not within {PATIENCE:?}: {what}, but {others:#?}"));
        if wanted(&event) {
            return event;
        }
        others.push(event);
    }
}

fn is_end(event: &Value) -> bool {
    event["type"] == "elsewhere" && event["event"]["type"] == "exit"
}

#[test]
fn a_page_writes_what_it_has_seen_and_is_told_when_it_has_not() {
    let server = serve();
    let (status, first) = ask(&server, "read", &json!({}));
    assert_eq!((status, first["file"].as_str()), (200, Some(FILE)));
    assert_eq!(first["text"], stub("todo!(\"find it\")"));

    let events = listen(&server);
    let mine = json!({ "text": "fn mine() {}\n", "hash": first["hash"] });
    let (status, written) = ask(&server, "write", &mine);
    assert_eq!(status, 200, "{written}");
    let file = server.fixture.path().join(FILE);
    assert_eq!(fs::read_to_string(&file).unwrap(), "fn mine() {}\n");
    let told = wait_for(&events, "the page's own version", |event| {
        event["type"] == "exercise-file"
    });
    assert_eq!(
        (&told["number"], &told["hash"]),
        (&json!(1), &written["hash"])
    );

    // An editor saves; the page, which doesn't know, tries to write.
    let saved = Instant::now();
    fs::write(&file, "fn theirs() {}\n").unwrap();
    let told = wait_for(&events, "the editor's version", |event| {
        event["type"] == "exercise-file"
    });
    println!("told after {:?}", saved.elapsed());
    let late = json!({ "text": "fn late() {}\n", "hash": written["hash"] });
    let (status, now) = ask(&server, "write", &late);
    assert_eq!((status, &now["hash"]), (409, &told["hash"]));
    assert_eq!(now["text"], "fn theirs() {}\n");
    assert_eq!(fs::read_to_string(&file).unwrap(), "fn theirs() {}\n");

    let decided = json!({ "text": "fn late() {}\n", "hash": now["hash"], "aside": now["text"] });
    let (status, written) = ask(&server, "write", &decided);
    assert_eq!(
        (status, written["kept"].as_str()),
        (200, Some("exercises/01-answer/lib-1.kept.rs"))
    );
    let kept = server
        .fixture
        .path()
        .join("exercises/01-answer/lib-1.kept.rs");
    assert_eq!(fs::read_to_string(kept).unwrap(), "fn theirs() {}\n");
}

#[test]
fn of_two_hundred_writers_at_once_each_wins_or_is_told_whose_text_is_there() {
    let server = serve();
    let (_, first) = ask(&server, "read", &json!({}));
    let won = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..200)
            .map(|number| {
                let body = json!({ "text": format!("fn number_{number}() {{}}\n"), "hash": first["hash"] });
                let server = &server;
                scope.spawn(move || ask(server, "write", &body).0)
            })
            .collect();
        let answers = writers.into_iter().map(|writer| writer.join().unwrap());
        answers
            .inspect(|status| assert!([200, 409].contains(status), "{status}"))
            .filter(|status| *status == 200)
            .count()
    });
    assert_eq!(won, 1, "all have seen the same version");
}

#[test]
fn hints_come_one_by_one_and_are_earned_by_a_red_check() {
    let server = serve();
    let hints = |call: &str| {
        let (_, answer) = ask(&server, call, &json!({}));
        if call == "read" {
            answer["hints"].clone()
        } else {
            answer
        }
    };
    assert_eq!(
        hints("read"),
        json!({ "given": [], "to_come": ["Concept", "Code"], "earned": false })
    );
    let (_, ended) = ask(&server, "check", &json!({}));
    assert_eq!(ended, Value::Null, "a check answers by a stream");
    assert_eq!(hints("read")["earned"], true);
    let first = json!([{ "heading": "Concept", "text": "Think." }]);
    assert_eq!(
        hints("hint"),
        json!({ "given": first, "to_come": ["Code"], "earned": false })
    );
    assert_eq!(hints("hint")["given"][1]["text"], "`6 * 7`");
    assert_eq!(hints("hint")["to_come"], json!([]));
}

#[test]
fn the_difference_and_the_way_back_are_at_hand() {
    let server = serve();
    server.fixture.write(FILE, &stub("6 * 9"));
    let (_, answer) = ask(&server, "diff", &json!({}));
    let text = answer["text"].as_str().unwrap();
    assert!(text.contains("-    6 * 9\n+    6 * 7\n"), "{text}");
    let (_, answer) = ask(&server, "reset", &json!({}));
    let text = answer["text"].as_str().unwrap();
    assert!(text.contains("exercises/01-answer/lib-1.kept.rs"), "{text}");
    assert_eq!(
        ask(&server, "read", &json!({})).1["text"],
        stub("todo!(\"find it\")")
    );
    assert_eq!(
        server
            .send(&server.call("/api/exercises/2/read", &json!({})))
            .status,
        422
    );
}

/// An order as `check` keeps it: a thread is started, and the model's own waits for it.
fn kept_order() -> Value {
    let step = |operation: &str| {
        json!({
            "thread": 0, "operation": operation, "target": 1,
            "file": "exercises/01-answer/src/models.rs", "line": 3, "column": 5,
        })
    };
    json!({
        "model": "models::it_ends", "fingerprint": "of before", "own": ["exercises/01-answer/"],
        "recording": {
            "format": "primitives.order/1", "checker": "loom", "values": "newest",
            "newest_passed": false, "execution": 1, "message": "deadlock",
            "threads": [{}, {}], "objects": [],
            "steps": [step("unpark"), step("spawn"), step("join")],
            "order": [{ "done": 0 }, { "done": 1 }],
        },
        "sources": { "exercises/01-answer/src/models.rs": "a\nb\nlet child = spawn();\n" },
    })
}

#[test]
fn the_order_in_which_a_model_failed_is_there_until_the_models_pass() {
    let server = serve();
    let keep = |order: &str| {
        let file = "target/workshop/orders/exercise-1.json";
        server.fixture.write(file, order);
    };
    let none = (204, Value::Null);
    assert_eq!(ask(&server, "order", &json!({})), none);
    keep(&kept_order().to_string());
    let (status, answer) = ask(&server, "order", &json!({}));
    assert_eq!(
        (status, &answer["changed"]),
        (200, &json!(true)),
        "{answer}"
    );
    let (document, whole) = (&answer["document"], &answer["whole"]);
    assert_eq!(document["title"], "models::it_ends");
    let source = &document["steps"][0]["source"];
    assert_eq!(source["code"], "let child = spawn();");
    assert_eq!(document["end"]["kind"], "deadlock");
    let steps = |document: &Value| document["steps"].as_array().map(Vec::len);
    assert_eq!((steps(document), steps(whole)), (Some(2), Some(3)));

    let mut overcome = kept_order();
    overcome["is_overcome"] = json!(true);
    for order in [&overcome.to_string(), "{}", "no JSON"] {
        keep(order);
        assert_eq!(ask(&server, "order", &json!({})), none, "{order}");
    }
}

#[test]
fn the_code_of_a_model_is_shown_like_that_of_a_test() {
    let server = serve();
    let model = "/// Clause 1: in every order.\n#[test]\nfn it_ends() {\n    run();\n}\n";
    server
        .fixture
        .write("exercises/01-answer/src/models.rs", model);
    let (_, answer) = ask(&server, "code", &json!({ "name": "models::it_ends" }));
    let text = answer["text"].as_str().unwrap_or_default();
    assert!(text.contains("fn it_ends() {\n    run();"), "{answer}");
}

#[test]
fn checks_in_any_terminal_reach_the_pages_and_are_remembered() {
    let server = serve();
    let events = listen(&server);
    let listed = || {
        let answer = server.send(&server.call("/api/exercises", &json!({})));
        serde_json::from_str::<Value>(&answer.body).unwrap()[0].clone()
    };
    assert_eq!(
        (&listed()["state"], &listed()["page"]),
        (&json!("not-started"), &json!("one.html"))
    );

    let red = server.fixture.output(&["check", "1"]);
    assert!(!red.status.success());
    let compiling = wait_for(&events, "the check begins", |event| {
        event["type"] == "elsewhere"
    });
    assert_eq!(
        (&compiling["number"], &compiling["event"]["type"]),
        (&json!(1), &json!("compiling"))
    );
    let failed = wait_for(&events, "a red test", |event| {
        event["event"]["outcome"] == "unwritten"
    });
    assert_eq!(failed["event"]["clause"], 1);
    assert_eq!(
        wait_for(&events, "the check ends", is_end)["event"]["code"],
        101
    );
    assert_eq!(listed()["state"], "unsolved");

    server.fixture.write(FILE, &stub("6 * 7"));
    assert_eq!(
        (&listed()["state"], &listed()["solved"]),
        (&json!("changed"), &json!(false))
    );
    let test = |filter: &str| {
        let output = Command::new(env!("CARGO"))
            .args(["test", "-p", "exercise-1", filter])
            .current_dir(server.fixture.path())
            .env_remove("CARGO_TARGET_DIR")
            // Cargo, which runs this, has set it for the workshop that this stands in.
            .env_remove("TESTKIT_CHECKS")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    // One test of two says nothing about the exercise.
    test("the_answer_is");
    let end = wait_for(&events, "the end of a part", is_end);
    assert_eq!(end["event"]["message"], "1 of 2 tests were run");
    assert_eq!(listed()["state"], "changed");
    test("");
    let end = wait_for(&events, "the end of all", is_end);
    assert_eq!(
        (&end["event"]["code"], &end["event"]["message"]),
        (&json!(0), &Value::Null)
    );
    wait_for(&events, "the memory changes", |event| {
        event["type"] == "progress"
    });
    assert_eq!(listed()["state"], "solved");

    server.fixture.write(FILE, &stub("6 * 7 // now"));
    assert_eq!(
        (&listed()["state"], &listed()["solved"]),
        (&json!("changed"), &json!(true))
    );
}

#[test]
fn a_check_whose_page_goes_away_is_told_to_have_stopped() {
    let server = serve();
    let events = listen(&server);
    server.fixture.write(
        FILE,
        &stub("loop { std::thread::sleep(std::time::Duration::from_millis(1)) }"),
    );
    let check = server.open(&server.call("/api/exercises/1/check", &json!({})));
    wait_for(&events, "a test runs", |event| {
        event["event"]["outcome"] == "running"
    });
    drop(check);
    let end = wait_for(&events, "the check ends", is_end);
    assert_eq!(
        (&end["event"]["reason"], &end["event"]["message"]),
        (&json!("killed"), &json!("stopped"))
    );
}

/// Adds the package of the wrong versions, with two of them.
fn add_wrong_versions(server: &Server) {
    let kit = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit");
    let manifest = format!(
        "[package]\nname = \"counterexamples\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         [[test]]\nname = \"exercise_1\"\npath = \"src/only_1.rs\"\n\
         [dev-dependencies]\ntestkit = {{ path = {kit:?} }}\n"
    );
    let wrong = "//! Breaks clause 1: Right.\n//! Caught by: the_answer_is_right\n//!\n\
        //! It's off by one.\n\npub fn answer() -> u32 {\n    41\n}\n\n#[cfg(test)]\n\
        #[path = \"../../../exercises/01-answer/src/tests.rs\"]\nmod tests;\n";
    let workspace = server.fixture.read("Cargo.toml");
    let workspace = workspace.replace("\"greeting\"", "\"greeting\", \"counterexamples\"");
    for (file, text) in [
        ("Cargo.toml", workspace.as_str()),
        ("counterexamples/Cargo.toml", &manifest),
        ("counterexamples/src/lib.rs", ""),
        ("counterexamples/src/only_1.rs", "mod exercise_1;\n"),
        (
            "counterexamples/src/exercise_1.rs",
            "pub mod c01_says_41;\npub mod c01_says_41_too;\n",
        ),
        ("counterexamples/src/exercise_1/c01_says_41.rs", wrong),
        ("counterexamples/src/exercise_1/c01_says_41_too.rs", wrong),
    ] {
        server.fixture.write(file, text);
    }
}

/// The events that a check of a wrong version answers with.
fn check_wrong(server: &Server, name: &str) -> Vec<Value> {
    let call = server.call("/api/exercises/1/wrong", &json!({ "name": name }));
    let answer = server.send(&call);
    assert_eq!(answer.status, 200, "{answer:?}");
    let lines = answer.body.lines();
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(Value::is_object)
        .collect()
}

#[test]
fn a_wrong_version_is_checked_as_the_exercise_is() {
    let server = serve();
    add_wrong_versions(&server);
    let pages = listen(&server);
    let events = check_wrong(&server, "c01_says_41");
    let tests = events.iter().filter(|event| event["type"] == "test");
    let ends: Vec<_> = tests
        .filter(|event| !["waiting", "running"].contains(&event["outcome"].as_str().unwrap()))
        .map(|event| {
            (
                event["name"].as_str().unwrap(),
                &event["outcome"],
                &event["clause"],
            )
        })
        .collect();
    let (failed, passed, one) = (json!("failed"), json!("passed"), json!(1));
    let mut sorted = ends.clone();
    sorted.sort_by_key(|end| end.0);
    assert_eq!(
        sorted,
        [
            ("tests::the_answer_is_right", &failed, &one),
            ("tests::the_answer_stays_right", &passed, &one)
        ],
        "{events:#?}"
    );
    let telling = events.iter().find(|event| event["type"] == "telling");
    let message = telling.unwrap()["message"].as_str().unwrap();
    assert!(message.contains("It is another number."), "{message}");
    assert_eq!(events.last().unwrap()["reason"], "exited");

    // The reader's own file is as it was, and so is what is known of it.
    let (_, listed) = ask(&server, "read", &json!({}));
    assert_eq!(listed["text"], stub("todo!(\"find it\")"));
    let told = pages
        .try_iter()
        .filter(|event| event["type"] == "elsewhere")
        .count();
    assert_eq!(told, 0, "no page takes it for a check of the reader's code");
}

#[test]
fn only_the_exact_name_of_a_wrong_version_is_built() {
    let server = serve();
    add_wrong_versions(&server);
    let whole = server
        .fixture
        .path()
        .join("counterexamples/src/exercise_1/c01_says_41");
    let whole = whole.display().to_string();
    for name in [
        "",
        "c01",
        "C01_SAYS_41",
        "../exercise_1/c01_says_41",
        "c01_says_41 --release",
        &whole,
    ] {
        let events = check_wrong(&server, name);
        assert!(
            events.iter().all(|event| event["type"] != "compiling"),
            "{name}: {events:?}"
        );
        let end = events.last().unwrap();
        assert_eq!(
            end["message"], "exercise 1 has no such wrong version",
            "{name}"
        );
    }
    for body in [
        json!({ "name": "c01_says_41", "code": "fn main() {}" }),
        json!({ "name": ["c01_says_41"] }),
        json!({}),
    ] {
        let (status, _) = ask(&server, "wrong", &body);
        assert!([400, 422].contains(&status), "{body}: {status}");
    }
}
