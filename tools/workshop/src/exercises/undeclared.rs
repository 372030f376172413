//! Whether the reader's file still declares the checks: without `mod tests;`
//! nothing is judged, and a model that isn't compiled can't fail.

use std::fs;

use super::catalogue::Exercise;

/// Says which of the checks aren't declared, with the lines that do it.
pub fn in_exercise(exercise: &Exercise) -> Option<String> {
    let read = |file| fs::read_to_string(file).unwrap_or_default();
    let is_there = |module: &str| match module {
        "tests" => !exercise.tests().is_empty(),
        _ => !exercise.models().is_empty(),
    };
    let pristine = read(exercise.pristine());
    let source = read(exercise.stub());
    let missing = missing(&pristine, &source, is_there);
    let (module, lines) = missing.first()?;
    Some(format!(
        "lib.rs has no `mod {module};`, so none of the {module} runs. Put it back near the \
         top:\n\n{lines}"
    ))
}

/// The modules of checks that the stub declares and the source doesn't, each
/// with the stub's lines.
fn missing(
    pristine: &str,
    source: &str,
    is_there: impl Fn(&str) -> bool,
) -> Vec<(&'static str, String)> {
    let declares = |text: &str, module: &str| {
        let wanted = format!("mod {module};");
        text.lines().position(|line| line.trim() == wanted)
    };
    let modules = ["tests", "models"].into_iter();
    let missing = modules.filter(|module| is_there(module) && declares(source, module).is_none());
    let with_lines = missing.filter_map(|module| {
        let at = declares(pristine, module)?;
        let lines: Vec<_> = pristine
            .lines()
            .take(at + 1)
            .skip(at.saturating_sub(1))
            .collect();
        Some((module, lines.join("\n")))
    });
    with_lines.collect()
}

#[cfg(test)]
mod tests {
    use super::missing;

    const STUB: &str = "//! Exercise.\n\
                        #[cfg(all(test, feature = \"loom\"))]\nmod models;\n\
                        #[cfg(all(test, not(feature = \"loom\")))]\nmod tests;\n\nfn f() {}\n";

    #[test]
    fn what_the_stub_declares_is_asked_for_with_its_condition() {
        assert_eq!(missing(STUB, STUB, |_| true), []);
        let source = "// mod tests;\nmod models;\nfn f() {}\n";
        let expected = "#[cfg(all(test, not(feature = \"loom\")))]\nmod tests;";
        assert_eq!(
            missing(STUB, source, |_| true),
            [("tests", expected.to_owned())]
        );
    }

    #[test]
    fn an_exercise_without_models_need_not_declare_them() {
        assert_eq!(
            missing(STUB, "mod tests;\n", |module| module == "tests"),
            []
        );
    }
}
