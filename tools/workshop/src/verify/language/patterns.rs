//! Patterns by which an editor told this book, before it was edited, from two that
//! read well: the Tokio tutorial and *Crafting Interpreters*. They are a
//! thermometer, not the goal.

use std::ops::RangeInclusive;

use super::Finding;
use super::prose::Sentence;

/// How many places of a pattern a finding names.
const PLACES: usize = 10;

/// Something that is counted.
pub struct Pattern {
    pub name: &'static str,
    /// How many for each 1,000 words are left to an author.
    pub aim: RangeInclusive<f64>,
    /// Whether it belongs to the rhythm of a page, so that a hint or a contract
    /// need not keep it.
    pub is_rhythm: bool,
    /// For each 1,000 sentences instead.
    of_sentences: bool,
    count: fn(&Sentence) -> usize,
}

impl Pattern {
    /// How many there are in 1,000 words, or sentences.
    pub fn rate(&self, sentences: &[Sentence]) -> f64 {
        let all = match self.of_sentences {
            true => sentences.iter().filter(|one| !one.is_item).count(),
            false => sentences.iter().map(Sentence::length).sum(),
        };
        let count: usize = sentences.iter().map(self.count).sum();
        1000.0 * count as f64 / all.max(1) as f64
    }

    /// What is wrong with a text of this name; nothing if the aim is kept.
    pub fn findings(&self, name: &str, sentences: &[Sentence]) -> Vec<Finding> {
        let rate = self.rate(sentences);
        if self.aim.contains(&rate) {
            return Vec::new();
        }
        let found = sentences.iter().filter(|one| (self.count)(one) > 0);
        let places: Vec<String> = found
            .take(PLACES)
            .map(|one| format!("\n          {}: {}", one.place, one.beginning()))
            .collect();
        let (least, most) = (self.aim.start(), self.aim.end());
        vec![Finding::new(
            name,
            format!("{rate:.2} in 1,000: {}{}", self.name, places.concat()),
            format!("between {least} and {most}"),
        )]
    }
}

const fn wording(name: &'static str, most: f64, count: fn(&Sentence) -> usize) -> Pattern {
    Pattern {
        name,
        aim: 0.0..=most,
        is_rhythm: false,
        of_sentences: false,
        count,
    }
}

/// What is counted.
pub const PATTERNS: [Pattern; 11] = [
    Pattern {
        name: "contractions",
        aim: 3.0..=10.0,
        is_rhythm: true,
        of_sentences: false,
        count: contractions,
    },
    Pattern {
        name: "sentences of five words or fewer, of 1,000 sentences",
        aim: 0.0..=80.0,
        is_rhythm: true,
        of_sentences: true,
        count: |sentence| usize::from(sentence.length() <= 5 && !sentence.is_item),
    },
    wording("somebody, nobody, anybody, everybody", 0.4, |sentence| {
        sentence.count(&["somebody", "nobody", "anybody", "everybody"])
    }),
    wording("whoever, whichever, whatever, wherever", 0.3, |sentence| {
        sentence.count(&["whoever", "whichever", "whatever", "wherever", "whomever"])
    }),
    wording("“Who does X …” as a subject", 0.0, |sentence| {
        usize::from(sentence.opens_with(&["Who"]) && !sentence.asks())
    }),
    wording(
        "a sentence that opens with And, But, So, Or, Yet",
        2.5,
        |sentence| usize::from(sentence.opens_with(&["And", "But", "So", "Or", "Yet"])),
    ),
    wording("“one” for a person", 0.1, |sentence| {
        let verbs = [
            "one can",
            "one could",
            "one does",
            "one must",
            "one should",
            "one would",
            "one may",
            "one sees",
            "one knows",
            "one wants",
        ];
        sentence.phrases(&verbs)
    }),
    wording("“that one”, “the other one”", 0.2, that_one),
    wording(
        "mend, anew, once more, dear, rouse, for ever, to bed, lie down",
        0.0,
        |sentence| {
            let words = [
                "mend", "mends", "mended", "mending", "anew", "dear", "rouse", "rouses", "roused",
                "rousing",
            ];
            let phrases = ["once more", "for ever", "to bed", "lies down", "lie down"];
            sentence.count(&words) + sentence.phrases(&phrases)
        },
    ),
    wording("“is none”, “is no worker”", 0.3, none_and_no),
    wording("an infinitive as the subject", 0.1, |sentence| {
        let begins = sentence.opens_with(&["To"]) && !sentence.asks();
        usize::from(begins && !sentence.has_a_pause())
    }),
];

fn contractions(sentence: &Sentence) -> usize {
    let ends = ["n't", "'re", "'ll", "'ve", "'d", "i'm"];
    let before_s = [
        "it", "that", "what", "there", "here", "let", "who", "he", "she",
    ];
    let is_one = |word: &&String| {
        let word = word.to_ascii_lowercase();
        let of = word.strip_suffix("'s");
        ends.iter().any(|end| word.ends_with(end)) || of.is_some_and(|of| before_s.contains(&of))
    };
    sentence.words.iter().filter(is_one).count()
}

/// In "that one poll", the words stand before a noun, and say how many.
fn that_one(sentence: &Sentence) -> usize {
    let verbs = [
        "is", "was", "has", "had", "isn't", "does", "can", "may", "will", "would", "and", "or",
        "but", "too",
    ];
    let words = sentence.words.iter().map(|word| word.to_lowercase());
    let words: Vec<String> = words.chain(["and".to_owned()]).collect();
    let is_that = |words: &&[String]| {
        words[0] == "that" && words[1] == "one" && verbs.contains(&words[2].as_str())
    };
    words.windows(3).filter(is_that).count() + sentence.phrases(&["the other one"])
}

/// "There is no …" is plain English.
fn none_and_no(sentence: &Sentence) -> usize {
    let is_one = |words: &&[String]| {
        let [before, is, no] = words else {
            return false;
        };
        !before.eq_ignore_ascii_case("there")
            && ["is", "are", "was", "were"].contains(&is.as_str())
            && ["no", "none"].contains(&no.as_str())
    };
    sentence.words.windows(3).filter(is_one).count()
}

#[cfg(test)]
mod tests {
    use super::super::prose::of_markdown;
    use super::PATTERNS;

    /// How often each pattern occurs.
    fn counts(text: &str) -> Vec<(&'static str, usize)> {
        let sentences = of_markdown("x.md", text);
        let count = |pattern: &super::Pattern| sentences.iter().map(pattern.count).sum();
        let counts = PATTERNS.iter().map(|one| (one.name, count(one)));
        counts.filter(|(_, count)| *count > 0).collect()
    }

    #[test]
    fn each_pattern_is_found() {
        let bad = [
            (
                "It isn't there, and that's how it'll stay.",
                "contractions",
                3,
            ),
            (
                "It waits.",
                "sentences of five words or fewer, of 1,000 sentences",
                1,
            ),
            (
                "A task is polled by nobody at all here.",
                "somebody, nobody, anybody, everybody",
                1,
            ),
            (
                "The thread wakes whoever waits for the lock.",
                "whoever, whichever, whatever, wherever",
                1,
            ),
            (
                "Who sets the bit acquires what came before.",
                "“Who does X …” as a subject",
                1,
            ),
            (
                "But the worker parks and never looks again.",
                "a sentence that opens with And, But, So, Or, Yet",
                1,
            ),
            (
                "From here on one can see the second thread.",
                "“one” for a person",
                1,
            ),
            (
                "The first is polled before that one is.",
                "“that one”, “the other one”",
                1,
            ),
            (
                "The queue is then mended by the owner, for ever.",
                "mend, anew, once more, dear, rouse, for ever, to bed, lie down",
                2,
            ),
            (
                "The thread that calls it is no worker.",
                "“is none”, “is no worker”",
                1,
            ),
            (
                "To wake a thread takes longer than the job.",
                "an infinitive as the subject",
                1,
            ),
        ];
        for (text, name, count) in bad {
            assert_eq!(counts(text), [(name, count)], "{text}");
        }
    }

    #[test]
    fn plain_english_is_left_alone() {
        let good = [
            "Who wakes the thread that waits here?",
            "There is no worker that could run the task.",
            "To wake the thread, the timer calls `unpark`.",
            "Each of them takes one, because one could wait.",
        ];
        for text in &good[..3] {
            assert_eq!(counts(text), [], "{text}");
        }
    }
}
