//! How long a chapter takes to read, below its title.

use mdbook_driver::book::{Book, Chapter};

/// How many words of prose take a minute.
const WORDS: usize = 200;

/// What a runnable program begins with; reading and running one takes a minute, too.
const PROGRAM: &str = "```rust,editable";

/// Writes it into each chapter. Exercises take as long as they take.
pub fn write_into(book: &mut Book) {
    book.for_each_chapter_mut(|chapter| {
        if is_read(chapter)
            && let Some(text) = with_minutes(&chapter.content)
        {
            chapter.content = text;
        }
    });
}

/// Whether it's a chapter of a part, and neither an exercise nor a bug to be found.
fn is_read(chapter: &Chapter) -> bool {
    let Some(path) = &chapter.path else {
        return false;
    };
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    path.components().count() > 1 && !name.ends_with("-exercise") && !name.ends_with("-bug")
}

fn with_minutes(text: &str) -> Option<String> {
    let title = text.lines().next().filter(|line| line.starts_with("# "))?;
    let rest = &text[title.len()..];
    let minutes = minutes(rest);
    Some(format!(
        "{title}\n\n<p class=\"minutes\">{minutes} minutes to read</p>\n{rest}"
    ))
}

/// The minutes for the prose and the programs of a chapter, up to its sources.
fn minutes(text: &str) -> usize {
    let mut is_code = false;
    let (mut words, mut programs) = (0, 0);
    for line in text.lines().take_while(|line| *line != "## Sources") {
        if line.starts_with("```") {
            programs += usize::from(line.starts_with(PROGRAM));
            is_code = !is_code;
        } else if !is_code && !line.starts_with('<') && !line.starts_with("{{") {
            words += line.split_whitespace().count();
        }
    }
    (words.div_ceil(WORDS) + programs).max(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_and_programs_take_time_and_sources_do_not() {
        let prose = "word ".repeat(401);
        let text = format!(
            "\n{prose}\n\n```rust,editable,snippet-x\nmany words of code\n```\n\n\
             ```sh\ncargo test\n```\n\n## Sources\n\n{prose}\n"
        );
        assert_eq!(minutes(&text), 3 + 1);
        assert_eq!(minutes("a few words\n"), 2);
    }

    #[test]
    fn they_stand_below_the_title_of_a_chapter() {
        let text = with_minutes("# A title\n\nText.\n").unwrap();
        assert_eq!(
            text,
            "# A title\n\n<p class=\"minutes\">2 minutes to read</p>\n\n\nText.\n"
        );
        assert_eq!(with_minutes("No title\n"), None);
    }

    #[test]
    fn only_chapters_of_parts_have_them() {
        let read = |path| is_read(&Chapter::new("x", String::new(), path, Vec::new()));
        assert!(read("io/reactor.md"));
        for path in [
            "introduction.md",
            "io/reactor-exercise.md",
            "io/reactor-bug.md",
        ] {
            assert!(!read(path), "{path}");
        }
    }
}
