//! Reads a page of the built book: its links, its anchors and its code.
//!
//! mdBook writes plain, well-formed HTML, so a scan for tags does.

use std::collections::BTreeSet;

/// A page.
#[derive(Debug, Default)]
pub struct Page {
    /// What `href` and `src` say.
    pub links: Vec<String>,
    /// The anchors.
    pub ids: BTreeSet<String>,
    /// The numbers of the exercises whose panels are on the page.
    pub panels: Vec<String>,
    /// The programs whose recordings the figures show.
    pub recorded: Vec<String>,
    /// The blocks of code, in order.
    pub blocks: Vec<Block>,
}

/// A block of code.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// What the fence said, as classes.
    pub classes: Vec<String>,
    /// The code, with the hidden lines.
    pub text: String,
    /// The code as it is seen.
    pub visible: String,
    /// Whether it comes right after the block before it.
    pub follows: bool,
}

impl Block {
    /// Whether the fence has this word.
    pub fn has(&self, class: &str) -> bool {
        self.classes.iter().any(|one| one == class)
    }

    /// The name after `snippet-`, if the reader can run the block.
    pub fn snippet(&self) -> Option<&str> {
        self.classes
            .iter()
            .find_map(|class| class.strip_prefix("snippet-"))
    }
}

const HIDDEN: &str = "<span class=\"boring\">";

impl Page {
    /// Reads a page.
    pub fn read(html: &str) -> Self {
        let mut page = Self::default();
        let mut end_of_block = None;
        let mut at = 0;
        while let Some(start) = find(html, at, "<") {
            if html[start..].starts_with("<!--") {
                at = find(html, start, "-->").map_or(html.len(), |end| end + 3);
                continue;
            }
            let Some(tag) = Tag::read(html, start) else {
                at = start + 1;
                continue;
            };
            at = tag.end;
            page.take(&tag);
            match tag.name {
                "script" | "style" => at = find(html, at, "</").unwrap_or(html.len()),
                "code" if html[..start].ends_with("<pre>") || tag.is_block() => {
                    let end = find(html, at, "</code>").unwrap_or(html.len());
                    let before = html[..start].trim_end_matches("<pre>");
                    let mut block = Block::read(&tag, &html[at..end]);
                    block.follows = end_of_block.is_some_and(|end| is_nothing(&before[end..]));
                    page.blocks.push(block);
                    at = end;
                    end_of_block = Some(end);
                }
                _ => {}
            }
        }
        page
    }

    fn take(&mut self, tag: &Tag<'_>) {
        for (name, value) in &tag.attributes {
            match *name {
                "href" | "src" => self.links.push(decode(value)),
                "id" => {
                    self.ids.insert(decode(value));
                }
                "data-exercise" => self.panels.push(decode(value)),
                "data-snippet" => self
                    .recorded
                    .extend(decode(value).split(' ').map(str::to_owned)),
                _ => {}
            }
        }
    }
}

/// Whether nothing but the ends of a block stands there.
fn is_nothing(between: &str) -> bool {
    between
        .replace("</code>", "")
        .replace("</pre>", "")
        .trim()
        .is_empty()
}

impl Block {
    fn read(tag: &Tag<'_>, inner: &str) -> Self {
        let classes = tag.attribute("class").unwrap_or_default();
        let mut visible = String::new();
        let mut rest = inner;
        while let Some((before, hidden)) = rest.split_once(HIDDEN) {
            visible += before;
            rest = hidden.split_once("</span>").map_or("", |(_, after)| after);
        }
        visible += rest;
        Self {
            classes: classes.split_whitespace().map(str::to_owned).collect(),
            text: decode(&without_tags(inner)),
            visible: decode(&without_tags(&visible)),
            follows: false,
        }
    }
}

fn without_tags(html: &str) -> String {
    let pieces = html.split('<').enumerate();
    let text = |(at, piece): (usize, &'_ str)| match (at, piece.split_once('>')) {
        (0, _) => piece.to_owned(),
        (_, Some((_tag, text))) => text.to_owned(),
        (_, None) => String::new(),
    };
    pieces.map(text).collect()
}

fn decode(html: &str) -> String {
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
    ];
    let decoded = entities
        .iter()
        .fold(html.to_owned(), |text, (entity, character)| {
            text.replace(entity, character)
        });
    decoded.replace("&amp;", "&")
}

fn find(html: &str, from: usize, what: &str) -> Option<usize> {
    html[from..].find(what).map(|at| from + at)
}

/// An opening tag.
struct Tag<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
    end: usize,
}

impl<'a> Tag<'a> {
    fn read(html: &'a str, start: usize) -> Option<Self> {
        let rest = &html[start + 1..];
        if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        let length = rest.find(|c: char| c.is_whitespace() || c == '>' || c == '/')?;
        let (name, mut rest) = rest.split_at(length);
        let mut attributes = Vec::new();
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
            if let Some(after) = rest.strip_prefix('>') {
                let end = html.len() - after.len();
                return Some(Self {
                    name,
                    attributes,
                    end,
                });
            }
            let length = rest.find(|c: char| c.is_whitespace() || c == '=' || c == '>')?;
            let (name, after) = rest.split_at(length);
            rest = after;
            let Some(value) = after.strip_prefix('=') else {
                attributes.push((name, ""));
                continue;
            };
            let quote = value
                .chars()
                .next()
                .filter(|quote| ['"', '\''].contains(quote));
            let (value, after) = match quote {
                Some(quote) => value[1..].split_once(quote)?,
                None => value.split_at(value.find(|c: char| c.is_whitespace() || c == '>')?),
            };
            attributes.push((name, value));
            rest = after;
        }
    }

    fn attribute(&self, name: &str) -> Option<&'a str> {
        let found = self.attributes.iter().find(|(own, _)| *own == name);
        found.map(|(_, value)| *value)
    }

    /// Whether it's the code of a fence, in any place.
    fn is_block(&self) -> bool {
        self.attribute("class")
            .is_some_and(|class| class.contains("language-"))
    }
}

#[cfg(test)]
mod tests {
    use super::Page;

    const PAGE: &str = r##"<!-- <a href="no"> --><h1 id="a-b">A</h1><a class=x href="c.html#d&amp;e">c</a>
<script src="s.js">if (a < b) { "<a href='no'>" }</script><img src='i.png'/>
<div class="exercise" data-exercise="3"></div>
<pre><code class="language-rust editable snippet-x"><span class="boring">use a;
</span>fn b() -&gt; &amp;str {}
<span class="boring">}
</span></code></pre>
<pre><code class="language-text recorded">out
</code></pre>
<p>Text with <code>inline</code>.</p>
<pre><code>plain
</code></pre>"##;

    #[test]
    fn links_anchors_and_panels_are_found() {
        let page = Page::read(PAGE);
        assert_eq!(page.links, ["c.html#d&e", "s.js", "i.png"]);
        assert_eq!(page.ids.into_iter().collect::<Vec<_>>(), ["a-b"]);
        assert_eq!(page.panels, ["3"]);
    }

    #[test]
    fn blocks_are_read_with_and_without_their_hidden_lines() {
        let page = Page::read(PAGE);
        assert_eq!(page.blocks.len(), 3);
        let [code, output, plain] = &page.blocks[..] else {
            panic!("there are three");
        };
        assert_eq!(code.text, "use a;\nfn b() -> &str {}\n}\n");
        assert_eq!(code.visible, "fn b() -> &str {}\n");
        assert_eq!(code.snippet(), Some("x"));
        assert!(code.has("editable") && !code.has("edit"));
        assert!(output.follows && output.has("recorded"));
        assert!(!plain.follows && plain.text == "plain\n");
    }
}
