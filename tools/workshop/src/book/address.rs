//! The address at which a book is published. Other sites show a preview of a page
//! only if its picture and its own address are given in full.

use std::fs;
use std::io;
use std::path::Path;

use crate::problem::Problem;
use crate::workshop::files_under;

/// The picture of a preview, in the book's folder. `npm run pictures` makes it.
const PICTURE: &str = "images/preview.png";
const PICTURE_TEXT: &str = "Two timelines: a heartbeat waits 21 ms behind four tasks that block, and beats on time when they're blocking jobs";
const PICTURE_SIZE: [u32; 2] = [1200, 630];

/// Pages that are no reader's way into the book.
const NOT_SHARED: [&str; 3] = ["404.html", "print.html", "toc.html"];

/// The address of a book's folder, which ends with a slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// # Errors
    ///
    /// When it isn't the address of a web page.
    pub fn new(text: &str) -> Result<Self, Problem> {
        let is_web = text.starts_with("https://") || text.starts_with("http://");
        if !is_web || text.contains(['"', '<', '>', '&', '?', '#', ' ']) {
            let problem = Problem::new(format!("`{text}` is not the address of a web page"));
            return Err(problem.help("write it as in `--site-url https://example.org/book/`"));
        }
        Ok(Self(format!("{}/", text.trim_end_matches('/'))))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells each page of the book in `folder` its own address.
    pub fn write_into(&self, folder: &Path) -> io::Result<()> {
        for file in files_under(folder) {
            let page = file.strip_prefix(folder).unwrap_or(&file);
            let page = page.to_string_lossy().replace('\\', "/");
            if !page.ends_with(".html") || NOT_SHARED.contains(&page.as_str()) {
                continue;
            }
            let html = fs::read_to_string(&file)?;
            let picture = folder.join(PICTURE).is_file();
            let whole = html.replacen(
                "</head>",
                &format!("{}</head>", self.tags(&page, picture)),
                1,
            );
            fs::write(&file, whole)?;
        }
        Ok(())
    }

    fn tags(&self, page: &str, has_picture: bool) -> String {
        let Self(address) = self;
        // The folder itself is the address of its index.
        let page = page.strip_suffix("index.html").unwrap_or(page);
        let mut tags = format!(
            "<link rel=\"canonical\" href=\"{address}{page}\">\n\
             <meta property=\"og:url\" content=\"{address}{page}\">\n"
        );
        if has_picture {
            let [width, height] = PICTURE_SIZE;
            tags += &format!(
                "<meta property=\"og:image\" content=\"{address}{PICTURE}\">\n\
                 <meta property=\"og:image:width\" content=\"{width}\">\n\
                 <meta property=\"og:image:height\" content=\"{height}\">\n\
                 <meta property=\"og:image:alt\" content=\"{PICTURE_TEXT}\">\n\
                 <meta name=\"twitter:card\" content=\"summary_large_image\">\n"
            );
        }
        tags
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{Address, PICTURE, PICTURE_SIZE};

    #[test]
    fn an_address_is_a_folder_on_the_web() {
        for written in ["https://x.example/book", "https://x.example/book/"] {
            assert_eq!(
                Address::new(written).unwrap().as_str(),
                "https://x.example/book/"
            );
        }
        for no_address in [
            "",
            "/book/",
            "ftp://x.example/",
            "https://x.example/\"><script>",
        ] {
            assert!(Address::new(no_address).is_err(), "{no_address}");
        }
    }

    #[test]
    fn each_page_names_itself_and_a_picture_that_exists() {
        let folder = tempfile::tempdir().unwrap();
        let page = |name: &str| folder.path().join(name);
        fs::create_dir(page("part")).unwrap();
        for name in ["index.html", "part/one.html", "404.html"] {
            fs::write(page(name), "<head>\n</head><body></head></body>").unwrap();
        }
        let address = Address::new("https://x.example/book").unwrap();
        address.write_into(folder.path()).unwrap();
        let read = |name| fs::read_to_string(page(name)).unwrap();
        let one = read("part/one.html");
        assert!(
            one.contains("og:url\" content=\"https://x.example/book/part/one.html\""),
            "{one}"
        );
        assert_eq!(one.matches("og:url").count(), 1, "{one}");
        assert!(!one.contains("og:image"), "{one}");
        assert!(read("index.html").contains("href=\"https://x.example/book/\""));
        assert!(!read("404.html").contains("og:url"));

        fs::create_dir(page("images")).unwrap();
        fs::write(page(PICTURE), "").unwrap();
        address.write_into(folder.path()).unwrap();
        let picture = format!("og:image\" content=\"https://x.example/book/{PICTURE}\"");
        assert!(read("part/one.html").contains(&picture));
    }

    #[test]
    fn the_books_picture_has_the_size_that_is_told() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../src")
            .join(PICTURE);
        let bytes = fs::read(file).unwrap();
        assert!(bytes.starts_with(b"\x89PNG"));
        // A PNG's header begins with its width and height.
        let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!([number(16), number(20)], PICTURE_SIZE);
    }
}
