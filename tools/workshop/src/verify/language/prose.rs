//! The sentences of a text: no code, no headings, no tables and no lists of sources.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Stands for a piece of code: a word, but one of no pattern.
const CODE: &str = "CODE";

/// Headings whose sections list what there is to read elsewhere.
const SOURCES: [&str; 3] = ["Sources", "Further reading", "Read on"];

/// A sentence.
#[derive(Debug)]
pub struct Sentence {
    /// The file, and the line on which its paragraph begins.
    pub place: String,
    /// Whether it's part of a list, where a phrase may stand alone.
    pub is_item: bool,
    text: String,
    pub words: Vec<String>,
}

impl Sentence {
    /// `None` for what has no word.
    fn new(place: &str, is_item: bool, text: &str) -> Option<Self> {
        let is_between = |c: char| c.is_whitespace() || c == '/' || c == '—';
        let words = text
            .split(is_between)
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
            .filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(|word| word.replace('’', "'")).collect();
        (!words.is_empty()).then(|| Self {
            place: place.to_owned(),
            is_item,
            text: text.trim().to_owned(),
            words,
        })
    }

    /// How many words it has.
    pub fn length(&self) -> usize {
        self.words.len()
    }

    /// Enough of it to be found.
    pub fn beginning(&self) -> String {
        self.text.chars().take(90).collect()
    }

    /// Whether it is a question.
    pub fn asks(&self) -> bool {
        self.text.ends_with('?')
    }

    /// Whether something divides it.
    pub fn has_a_pause(&self) -> bool {
        self.text.contains([',', ':', ';'])
    }

    /// Whether its first word is one of these, in upper and lower case as given.
    pub fn opens_with(&self, first: &[&str]) -> bool {
        first.contains(&self.words[0].as_str())
    }

    /// How many of its words are among these.
    pub fn count(&self, of: &[&str]) -> usize {
        let is_one = |word: &&String| of.iter().any(|one| word.eq_ignore_ascii_case(one));
        self.words.iter().filter(is_one).count()
    }

    /// How often one of these phrases stands in it.
    pub fn phrases(&self, phrases: &[&str]) -> usize {
        let of_one = |phrase: &&str| {
            let phrase: Vec<&str> = phrase.split(' ').collect();
            let is_one = |words: &&[String]| {
                let mut pairs = words.iter().zip(&phrase);
                pairs.all(|(word, wanted)| word.eq_ignore_ascii_case(wanted))
            };
            self.words.windows(phrase.len()).filter(is_one).count()
        };
        phrases.iter().map(of_one).sum()
    }
}

/// A paragraph, an item of a list, or what else is read in one go.
pub struct Paragraph {
    /// Its line, counted from 1.
    pub line: usize,
    pub is_item: bool,
    pub text: String,
}

/// The prose of a page.
pub fn of_markdown(file: &str, text: &str) -> Vec<Sentence> {
    let paragraphs = paragraphs(text, false);
    let sentences = |one: &Paragraph| {
        let place = format!("{file}:{}", one.line);
        sentences(&place, one.is_item, &one.text)
    };
    paragraphs.iter().flat_map(sentences).collect()
}

/// The prose of a file's doc comments.
pub fn of_docs(file: &str, source: &str) -> Vec<Sentence> {
    let mut all = Vec::new();
    let mut docs = String::new();
    let mut first = 1;
    for (at, line) in source.lines().chain([""]).enumerate() {
        let line = line.trim_start();
        let doc = line.strip_prefix("//!").or(line.strip_prefix("///"));
        if let Some(doc) = doc {
            if docs.is_empty() {
                first = at;
            }
            docs += doc.strip_prefix(' ').unwrap_or(doc);
            docs.push('\n');
        } else if !docs.is_empty() {
            for one in paragraphs(&docs, false) {
                let place = format!("{file}:{}", first + one.line);
                all.extend(sentences(&place, one.is_item, &one.text));
            }
            docs.clear();
        }
    }
    all
}

/// What the checks of a file say to the reader.
pub fn of_lessons(file: &str, source: &str) -> Vec<Sentence> {
    let mut all = Vec::new();
    for field in ["promise: \"", "usual_cause: \""] {
        for (at, _) in source.match_indices(field) {
            let line = source[..at].matches('\n').count() + 1;
            let text = literal(&source[at + field.len()..]);
            all.extend(sentences(&format!("{file}:{line}"), false, &text));
        }
    }
    all
}

/// What a string literal means, from behind its opening quote.
fn literal(source: &str) -> String {
    let mut text = String::new();
    let mut rest = source.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' => break,
            '\\' => match rest.next() {
                Some('\n') => while rest.next_if(|c| c.is_whitespace()).is_some() {},
                Some('n') => text.push(' '),
                escaped => text.extend(escaped),
            },
            _ => text.push(c),
        }
    }
    // What stands between backticks is code, as in Markdown.
    let pieces = text.split('`').enumerate();
    let pieces = pieces.map(|(at, piece)| if at % 2 == 0 { piece } else { CODE });
    pieces.collect()
}

/// The paragraphs of a text in Markdown. The words of links are left out if `linked` is.
pub fn paragraphs(text: &str, without_links: bool) -> Vec<Paragraph> {
    let mut all: Vec<Paragraph> = Vec::new();
    let mut current: Option<Paragraph> = None;
    let mut heading: Option<String> = None;
    // How deep we are in what is no prose.
    let mut depth = 0;
    let mut lists = 0;
    let mut in_sources = false;
    let options = Options::ENABLE_TABLES | Options::ENABLE_DEFINITION_LIST;
    for (event, place) in Parser::new_ext(text, options).into_offset_iter() {
        let line = || text[..place.start].matches('\n').count() + 1;
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let title = heading.take().unwrap_or_default();
                in_sources = SOURCES.contains(&title.as_str());
            }
            Event::Start(Tag::List(_)) => lists += 1,
            Event::End(TagEnd::List(_)) => lists -= 1,
            Event::Start(Tag::CodeBlock(_) | Tag::Table(_)) => depth += 1,
            Event::End(TagEnd::CodeBlock | TagEnd::Table) => depth -= 1,
            Event::Start(Tag::Link { .. }) if without_links => depth += 1,
            Event::End(TagEnd::Link) if without_links => depth -= 1,
            Event::Start(Tag::Paragraph | Tag::Item | Tag::DefinitionListDefinition) => {
                all.extend(current.take());
                current = Some(Paragraph {
                    line: line(),
                    is_item: lists > 0,
                    text: String::new(),
                });
            }
            Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::DefinitionListDefinition) => {
                all.extend(current.take())
            }
            Event::Text(piece) => match (&mut heading, &mut current) {
                (Some(heading), _) => *heading += &piece,
                (None, Some(current)) if depth == 0 && !in_sources => current.text += &piece,
                _ => {}
            },
            Event::Code(_) => {
                if let Some(current) = &mut current
                    && depth == 0
                    && !in_sources
                {
                    current.text += CODE;
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(current) = &mut current {
                    current.text.push(' ');
                }
            }
            _ => {}
        }
    }
    all.extend(current);
    all
}

/// The pages that a text links to, in its order.
pub fn links(text: &str) -> Vec<String> {
    let links = Parser::new(text).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. }) => Some(dest_url.into_string()),
        _ => None,
    });
    links.collect()
}

/// A sentence ends at a full stop, a question mark or an exclamation mark with a
/// space and a capital letter, a quote or code behind it.
fn sentences(place: &str, is_item: bool, text: &str) -> Vec<Sentence> {
    let mut all = Vec::new();
    let mut begin = 0;
    let characters: Vec<(usize, char)> = text.char_indices().collect();
    for (index, &(at, c)) in characters.iter().enumerate() {
        if !['.', '?', '!'].contains(&c) {
            continue;
        }
        let mut behind = characters[index + 1..].iter().map(|(_, c)| *c);
        let closing = |c: &char| ['"', '”', ')', '*'].contains(c);
        let space = behind.find(|c| !closing(c));
        let next = behind.next();
        let opens = next.is_none_or(|c| c.is_uppercase() || ['"', '“', '(', '*'].contains(&c));
        if space.is_some_and(char::is_whitespace) && opens {
            all.extend(Sentence::new(place, is_item, &text[begin..=at]));
            begin = at + 1;
        }
    }
    all.extend(Sentence::new(place, is_item, &text[begin..]));
    all
}

#[cfg(test)]
mod tests {
    use super::{of_docs, of_lessons, of_markdown};

    fn texts(sentences: &[super::Sentence]) -> Vec<&str> {
        sentences.iter().map(|one| one.text.as_str()).collect()
    }

    #[test]
    fn a_page_gives_its_sentences_and_nothing_else() {
        let page = "# A heading\n\nOne wait, e.g. of `x.y`. Two\nwaits? Three.\n\n\
                    - an item\n\n```rust\nno prose.\n```\n\n| a | b |\n|---|---|\n| c | d |\n\n\
                    ## Sources\n\n- *A book*, by an author.\n";
        let sentences = of_markdown("page.md", page);
        let expected = ["One wait, e.g. of CODE.", "Two waits?", "Three.", "an item"];
        assert_eq!(texts(&sentences), expected);
        assert_eq!(sentences[0].place, "page.md:3");
        assert_eq!(sentences[3].place, "page.md:6");
    }

    #[test]
    fn docs_and_lessons_are_read_from_rust() {
        let source = "//! A contract.\n//!\n//! 1. **Once.** It's polled.\n\n/// Does it.\nfn f() {\n    \
                      let usual_cause: \"The `x` \\\n              waits. It hangs.\";\n}\n";
        let docs = of_docs("lib.rs", source);
        assert_eq!(
            texts(&docs),
            ["A contract.", "Once.", "It's polled.", "Does it."]
        );
        assert_eq!(docs[1].place, "lib.rs:3");
        let lessons = of_lessons("lib.rs", source);
        assert_eq!(texts(&lessons), ["The CODE waits.", "It hangs."]);
        assert_eq!(lessons[0].place, "lib.rs:7");
    }
}
