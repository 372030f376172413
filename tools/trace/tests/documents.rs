//! What is written fits the schemas, and the schemas fit the types.
//!
//! `TRACE_WRITE_SCHEMAS=1 cargo test -p trace --test documents` writes them.

use std::path::Path;

use schemars::{JsonSchema, schema_for};
use trace::Sweep;
use trace::document::{self, Document};

#[track_caller]
fn compare<T: JsonSchema>(file: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let schema = schema_for!(T).to_value();
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    // Not the texts: the order of keys depends on who else uses `serde_json`.
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap_or_default();
    let is_wanted = std::env::var_os("TRACE_WRITE_SCHEMAS").is_some();
    if is_wanted && kept != schema {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        std::fs::write(&file, text).unwrap();
    }
    assert!(
        kept == schema || is_wanted,
        "{} is out of date: see this test's head",
        file.display()
    );
}

#[test]
fn the_schema_of_traces_is_up_to_date() {
    compare::<document::Trace>("schema/workshop.trace-1.schema.json");
}

#[test]
fn the_schema_of_sweeps_is_up_to_date() {
    compare::<document::Sweep>("schema/workshop.sweep-1.schema.json");
}

#[test]
fn the_schema_of_steps_is_up_to_date() {
    compare::<document::Steps>("schema/workshop.steps-1.schema.json");
}

#[test]
fn a_trace_can_stand_in_a_page() {
    let recording = trace::record("a \"title\"</script>", "by hand", 1);
    trace::thread_start();
    trace::span("A\n\n<b>", || trace::mark("C:\\"));
    let trace = recording.finish();
    let json = trace.to_json();
    assert!(!json.contains("\n\n"), "a blank line ends a block of HTML");
    assert!(!json.contains("</"), "a script would end there");
    let Ok(Document::Trace(document)) = Document::read(&json) else {
        panic!("{:?}", Document::read(&json));
    };
    assert_eq!(document.meta.title, "a \"title\"</script>");
    assert_eq!(document.names["1"], "A\n\n<b>");
    assert_eq!(document.meta.marks, ["C:\\"]);
    assert!(document.meta.source.ends_with("tests/documents.rs"));
    let lines = json.lines().filter(|line| line.starts_with('['));
    assert_eq!(lines.count(), document.events.len(), "one event a line");

    let chrome: serde_json::Value = serde_json::from_str(&trace.to_chrome()).unwrap();
    let rows = chrome["traceEvents"].as_array().unwrap();
    let named = |name: &str| rows.iter().filter(|row| row["name"] == name).count();
    assert_eq!(named("A\n\n<b>"), 1, "the poll on its worker");
    assert_eq!(named("running"), 1, "the poll of its task");
    assert_eq!(named("C:\\"), 1, "the mark");
}

#[test]
fn a_sweep_sorts_and_joins_its_points() {
    let sweep = Sweep::new("N")
        .title("every N")
        .runtime("by hand")
        .calibration(20)
        .point(16, &[2e6, 3e6], &[5, 1])
        .point(1, &[0.5], &[])
        .point(16, &[4e6], &(0..1_000).collect::<Vec<_>>());
    let json = sweep.to_json();
    let Ok(Document::Sweep(document)) = Document::read(&json) else {
        panic!("{json}\n{:?}", Document::read(&json));
    };
    let at: Vec<_> = document.points.iter().map(|point| point.x["N"]).collect();
    assert_eq!(at, [1, 16]);
    assert!(document.points[0].wake_ns.is_none());
    assert_eq!(document.points[1].items_per_s, [2e6, 3e6, 4e6]);
    let waits = document.points[1].wake_ns.as_ref().unwrap();
    assert_eq!((waits.count, waits.samples.len()), (1_002, 200));
    assert!((495..505).contains(&waits.p50) && (895..905).contains(&waits.p90));
    assert_eq!(waits.samples.last(), Some(&999));
}

#[test]
fn what_is_wrong_with_a_document_is_told() {
    let recording = |events: &str| {
        format!(
            r#"{{"schema":"workshop.trace/1","meta":{{"title":"","runtime":"","workers":1,"unit":"ns",
            "clock":"Instant","host":{{"os":"","cpu":"","cores":1}},"recorded":"","source":"",
            "event_cost_ns":1,"dropped":0,"marks":[]}},"names":{{"1":"A"}},
            "cols":["t","k","w","task","arg"],"events":[{events}]}}"#
        )
    };
    assert!(
        Document::read(&recording(r#"[1,"poll+",0,1,0]"#)).is_ok(),
        "a poll may be open"
    );
    for (events, fault) in [
        ("", "no events"),
        (r#"[2,"park",0,0,0],[1,"unpark",0,0,0]"#, "out of order"),
        (r#"[1,"poll-",0,1,0]"#, "never began"),
        (r#"[1,"poll+",0,1,0],[2,"poll+",-1,1,0]"#, "twice at once"),
        (r#"[1,"poll+",1,1,0]"#, "no such worker"),
        (r#"[1,"wake",0,1,2]"#, "no such task"),
        (r#"[1,"mark",0,1,0]"#, "no such mark"),
        (r#"[1,"dance",0,1,0]"#, "unknown variant"),
    ] {
        let told = Document::read(&recording(events)).map(drop).unwrap_err();
        assert!(told.contains(fault), "{events}: {told}");
    }
    let counting = |event: &str| recording(event).replace("\"arg\"]", "\"arg\",\"count\"]");
    for (event, fault) in [
        (r#"[1,"steal",0,0,0,2]"#, ""),
        (r#"[1,"steal",0,0,1,2]"#, "no such worker"),
        (
            r#"[1,"take",0,0,0,1],[2,"overflow",0,0,0]"#,
            "a count is missing",
        ),
        (
            r#"[1,"take",0,0,0,1],[2,"pop",0,1,0,1]"#,
            "a count is missing",
        ),
    ] {
        let told = Document::read(&counting(event))
            .map(drop)
            .err()
            .unwrap_or_default();
        assert!(
            told.contains(fault) && told.is_empty() == fault.is_empty(),
            "{event}: {told}"
        );
    }
    for (event, fault) in [
        (r#"[1,"notify",0,0,1]"#, "no such worker"),
        (r#"[1,"push",0,1,3]"#, "no such queue"),
        (r#"[1,"take",0,0,0,1]"#, "the columns are"),
    ] {
        let told = Document::read(&recording(event)).map(drop).unwrap_err();
        assert!(told.contains(fault), "{event}: {told}");
    }
    let newer = recording("").replace("trace/1", "trace/2");
    assert!(Document::read(&newer).is_err());
}

#[test]
fn what_is_wrong_with_steps_is_told() {
    let steps = |rest: &str| {
        format!(
            r#"{{"schema":"workshop.steps/1","title":"","description":"","threads":[{{"name":"A"}}],
            "cells":[{{"name":"x","initial":0,"bits":["A"],"counts":["B"]}}],{rest}}}"#
        )
    };
    let line = r#"{"thread":0,"code":"x += 1","cases":[{"set":{"x":{"add":1}},"says":""}]}"#;
    let step = r#"{"thread":0,"text":"x = 1","changes":[{"cell":0,"value":1}]}"#;
    let end = r#""end":{"kind":"done","text":""}"#;
    for good in [
        format!(r#""lines":[{line}]"#),
        format!(r#""lines":[{}]"#, line.replace("\"x\"", "\"x.B\"")),
        format!(r#""lines":[{}]"#, line.replace("\"x\"", "\"x.A\"")),
        format!(r#""steps":[{step}],{end}"#),
    ] {
        assert!(
            matches!(Document::read(&steps(&good)), Ok(Document::Steps(_))),
            "{good}"
        );
    }
    for (rest, fault) in [
        (end.to_owned(), "neither steps nor lines"),
        (format!(r#""steps":[{step}]"#), "need an end"),
        (
            format!(r#""steps":[{}],{end}"#, step.replace(":0,", ":1,")),
            "unknown thread",
        ),
        (
            format!(
                r#""steps":[{}],{end}"#,
                step.replace(r#"cell":0"#, r#"cell":1"#)
            ),
            "unknown cell",
        ),
        (
            format!(
                r#""lines":[{line}],"claim":{{"orders":1,"failing":1}},"model":{{"file":"","test":""}}"#
            ),
            "doesn't say the same",
        ),
        (format!(r#""lines":[{line}],"show":[1]"#), "unknown thread"),
        (
            format!(r#""lines":[{}]"#, line.replace("\"x\"", "\"y\"")),
            "unknown cell",
        ),
        (
            format!(r#""lines":[{}]"#, line.replace("\"x\"", "\"x.C\"")),
            "unknown cell",
        ),
        (
            format!(
                r#""lines":[{}]"#,
                line.replace(r#""says""#, r#""to":"y","says""#)
            ),
            "unknown line",
        ),
        (
            format!(
                r#""lines":[{}]"#,
                line.replace(r#""set""#, r#""when":{"x":1},"set""#)
            ),
            "says not why",
        ),
        (
            format!(r#""lines":[{}]"#, line.replace("add", "sub")),
            "did not match",
        ),
    ] {
        let told = Document::read(&steps(&rest))
            .map(drop)
            .err()
            .unwrap_or_default();
        assert!(told.contains(fault), "{rest}: {told}");
    }
}
