//! One policy document: front matter and body.
//!
//! A document that lacks a field is refused, never guessed at: evidence without a version or an
//! allowed use is no evidence.

use super::AllowedUse;

/// Why a file is not a policy document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The file does not start with `---` or its front matter has no end.
    #[error("the file must start with front matter between two lines `---`")]
    NoFrontMatter,
    /// A line of the front matter is no `field: value`.
    #[error("front matter line {line} is not `field: value`")]
    BadLine {
        /// Line number in the file, from 1.
        line: usize,
    },
    /// A required field is missing or empty.
    #[error("front matter lacks `{field}`")]
    Missing {
        /// The field's name.
        field: &'static str,
    },
    /// A field that nobody reads: most often a misspelt one.
    #[error("front matter has an unknown or repeated field `{field}`")]
    Unexpected {
        /// The field's name.
        field: String,
    },
    /// `allowed_use` is not one of the words for it.
    #[error("allowed_use is `{found}`; use `quote`, `cite` or `internal`")]
    AllowedUse {
        /// The word found.
        found: String,
    },
    /// No text below the front matter.
    #[error("the document has no body")]
    NoBody,
}

/// A policy document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyDocument {
    /// Stable id, for example `POL-07`.
    pub id: String,
    /// Title.
    pub title: String,
    /// Version, for example `2.1`.
    pub version: String,
    /// First day it applies, `YYYY-MM-DD`.
    pub effective: String,
    /// Who answers for it.
    pub owner: String,
    /// What it may be used for.
    pub allowed_use: AllowedUse,
    /// Text below the front matter.
    pub body: String,
}

const FIELDS: [&str; 6] = [
    "id",
    "title",
    "version",
    "effective",
    "owner",
    "allowed_use",
];

impl PolicyDocument {
    /// Reads a document.
    ///
    /// # Errors
    /// [`DocumentError`] says what is missing and where.
    pub fn parse(text: &str) -> Result<Self, DocumentError> {
        let text = text
            .strip_prefix('\u{feff}')
            .unwrap_or(text)
            .replace("\r\n", "\n");
        let rest = text
            .strip_prefix("---\n")
            .ok_or(DocumentError::NoFrontMatter)?;
        let (front, body) = rest
            .split_once("\n---\n")
            .ok_or(DocumentError::NoFrontMatter)?;
        let mut values: [Option<String>; FIELDS.len()] = Default::default();
        for (at, line) in front
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            let bad = DocumentError::BadLine { line: at + 2 };
            let (field, value) = line.split_once(':').ok_or(bad)?;
            let slot = FIELDS.iter().position(|known| *known == field.trim());
            match slot.filter(|slot| values[*slot].is_none()) {
                Some(slot) => values[slot] = Some(value.trim().trim_matches('"').to_owned()),
                None => {
                    return Err(DocumentError::Unexpected {
                        field: field.trim().to_owned(),
                    });
                }
            }
        }
        let mut field = |slot: usize| {
            let value = values[slot].take().filter(|value| !value.is_empty());
            value.ok_or(DocumentError::Missing {
                field: FIELDS[slot],
            })
        };
        let document = Self {
            id: field(0)?,
            title: field(1)?,
            version: field(2)?,
            effective: field(3)?,
            owner: field(4)?,
            allowed_use: allowed_use(&field(5)?)?,
            body: body.trim().to_owned(),
        };
        if document.body.is_empty() {
            return Err(DocumentError::NoBody);
        }
        Ok(document)
    }
}

fn allowed_use(word: &str) -> Result<AllowedUse, DocumentError> {
    let all = [AllowedUse::Quote, AllowedUse::Cite, AllowedUse::Internal];
    let found = all.into_iter().find(|allowed| allowed.as_str() == word);
    found.ok_or_else(|| DocumentError::AllowedUse {
        found: word.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "---\nid: POL-01\ntitle: Minutes\nversion: 1.2\neffective: 2025-01-01\n\
                        owner: Secretary\nallowed_use: cite\n---\n\n# Minutes\n\nText.\n";

    #[test]
    fn a_complete_document_is_read() {
        let document = PolicyDocument::parse(&GOOD.replace('\n', "\r\n")).expect("complete");
        assert_eq!(
            (document.id.as_str(), document.version.as_str()),
            ("POL-01", "1.2")
        );
        assert_eq!(document.allowed_use, AllowedUse::Cite);
        assert_eq!(document.body, "# Minutes\n\nText.");
    }

    #[test]
    fn what_is_missing_or_odd_is_named() {
        let table = [
            (GOOD.replacen("---\n", "", 1), DocumentError::NoFrontMatter),
            (
                GOOD.replace("version: 1.2\n", ""),
                DocumentError::Missing { field: "version" },
            ),
            (
                GOOD.replace("Secretary", ""),
                DocumentError::Missing { field: "owner" },
            ),
            (
                GOOD.replace("title: ", "title "),
                DocumentError::BadLine { line: 3 },
            ),
            (
                GOOD.replace("owner", "ower"),
                DocumentError::Unexpected {
                    field: "ower".into(),
                },
            ),
            (
                GOOD.replace("use: cite", "use: x"),
                DocumentError::AllowedUse { found: "x".into() },
            ),
            (
                GOOD.replace("# Minutes\n\nText.\n", ""),
                DocumentError::NoBody,
            ),
        ];
        for (text, error) in table {
            assert_eq!(PolicyDocument::parse(&text), Err(error), "{text}");
        }
    }
}
