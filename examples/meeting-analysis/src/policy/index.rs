//! The keyword index over a folder of policies: BM25 over title and body, in memory.
//!
//! It must never answer from anything but the documents it was opened with; to see changes, open
//! it again. Opening reads files; searching touches memory only and takes well under a millisecond.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{
    Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions, Value as _,
};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, Term};

use super::document::{DocumentError, PolicyDocument};
use super::query::{PolicyQuery, TERMS_MAX};
use super::snippet::{self, Weights};
use super::{Grade, Passage, PolicyEvidence};

/// Most documents of a folder.
pub const DOCUMENTS_MAX: usize = 1_000;
/// Largest document, in bytes.
const DOCUMENT_BYTES_MAX: u64 = 256 * 1024;
/// Most passages of one answer, whatever the query asks for.
const TOP_MAX: u32 = 20;
/// Memory that building may use, in bytes; the library's minimum is 15 MB.
const WRITER_BYTES: usize = 20_000_000;
/// A term in the title weighs this much more than one in the body.
const TITLE_BOOST: f32 = 2.0;
/// Lower case, English stems: "releases" finds "release".
const TOKENIZER: &str = "en_stem";

/// Why a folder cannot be searched.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// A file or the folder cannot be read.
    #[error("cannot read {path}")]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A file is not a policy document.
    #[error("{path} is not a policy document")]
    Document {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: DocumentError,
    },
    /// Two files share an id.
    #[error("{path} repeats the id {id} of another document")]
    RepeatedId {
        /// The second file.
        path: PathBuf,
        /// The id.
        id: String,
    },
    /// No document, or too many.
    #[error("{path} holds {count} documents; 1 to {DOCUMENTS_MAX} can be searched")]
    Count {
        /// The folder.
        path: PathBuf,
        /// How many.
        count: usize,
    },
    /// The index library failed.
    #[error("the policy index failed")]
    Index(#[from] tantivy::TantivyError),
}

#[derive(Clone, Copy, Debug)]
struct Fields {
    number: Field,
    title: Field,
    body: Field,
}

/// An index over a folder of policies. Cheap to share behind a reference; search is `&self`.
pub struct PolicyIndex {
    documents: Vec<PolicyDocument>,
    source_digest: String,
    index: Index,
    reader: IndexReader,
    fields: Fields,
}

impl std::fmt::Debug for PolicyIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PolicyIndex")
            .field("documents", &self.documents.len())
            .field("source_digest", &self.source_digest)
            .finish_non_exhaustive()
    }
}

impl PolicyIndex {
    /// Reads every `*.md` of `folder` except `README.md` and builds the index.
    ///
    /// # Errors
    /// [`PolicyError`] names the file. One bad file fails the whole: a search that leaves out a
    /// policy in silence would be worse than none.
    pub fn open(folder: &Path) -> Result<Self, PolicyError> {
        let documents = read_folder(folder)?;
        let source_digest = digest(&documents);
        let (schema, fields) = schema();
        let index = Index::create_in_ram(schema);
        // One thread: documents get the same places, so equal scores keep the same order.
        let mut writer: IndexWriter = index.writer_with_num_threads(1, WRITER_BYTES)?;
        for (number, document) in documents.iter().enumerate() {
            let mut entry = TantivyDocument::default();
            entry.add_text(fields.number, number.to_string());
            entry.add_text(fields.title, &document.title);
            entry.add_text(fields.body, &document.body);
            writer.add_document(entry)?;
        }
        writer.commit()?;
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?;
        Ok(Self {
            documents,
            source_digest,
            index,
            reader,
            fields,
        })
    }

    /// The documents that are searched, in the order of their file names.
    #[must_use]
    pub fn documents(&self) -> &[PolicyDocument] {
        &self.documents
    }

    /// BLAKE3 over ids and contents of all documents, lower-case hex.
    #[must_use]
    pub fn source_digest(&self) -> &str {
        &self.source_digest
    }

    /// The passages that fit best, stamped with the time passed in.
    ///
    /// # Errors
    /// [`PolicyError::Index`] if the library fails.
    pub fn search(
        &self,
        query: &PolicyQuery,
        retrieved_at_ms: u64,
    ) -> Result<PolicyEvidence, PolicyError> {
        let parsed = self.parsed(query)?;
        let top = usize::try_from(query.top.clamp(1, TOP_MAX)).expect("at most TOP_MAX");
        let searcher = self.reader.searcher();
        let hits = searcher.search(&parsed, &TopDocs::with_limit(top).order_by_score())?;
        let weights = self.weights(query, &searcher)?;
        let mut analyzer = self.index.tokenizer_for_field(self.fields.body)?;
        let mut passages = Vec::with_capacity(hits.len());
        for (score, address) in hits {
            let entry: TantivyDocument = searcher.doc(address)?;
            let number = entry
                .get_first(self.fields.number)
                .and_then(|value| value.as_str());
            let number = number.and_then(|number| number.parse::<usize>().ok());
            let document = &self.documents[number.expect("every entry was added with its number")];
            let snippet = snippet::best(&document.body, &weights, &mut analyzer);
            passages.push(passage(document, score, snippet));
        }
        Ok(PolicyEvidence {
            passages,
            retrieved_at_ms,
            source_digest: self.source_digest.clone(),
            grade: Grade::Live,
        })
    }

    /// Any of the terms, in title or body. Built by hand: minutes are no query language.
    fn parsed(&self, query: &PolicyQuery) -> Result<BooleanQuery, PolicyError> {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for token in self.tokens(query)? {
            for (field, boost) in [(self.fields.title, TITLE_BOOST), (self.fields.body, 1.0)] {
                let term = Term::from_field_text(field, &token);
                let term = TermQuery::new(term, IndexRecordOption::WithFreqs);
                clauses.push((
                    Occur::Should,
                    Box::new(BoostQuery::new(Box::new(term), boost)),
                ));
            }
        }
        Ok(BooleanQuery::new(clauses))
    }

    /// The terms as the index holds them: lower case, stemmed, each once.
    fn tokens(&self, query: &PolicyQuery) -> Result<BTreeSet<String>, PolicyError> {
        let mut analyzer = self.index.tokenizer_for_field(self.fields.body)?;
        let mut out = BTreeSet::new();
        for term in query.terms.iter().take(TERMS_MAX) {
            let mut tokens = analyzer.token_stream(term);
            while tokens.advance() {
                out.insert(tokens.token().text.clone());
            }
        }
        Ok(out)
    }

    /// How much each term counts in a snippet: the fewer documents hold it, the more.
    fn weights(&self, query: &PolicyQuery, searcher: &Searcher) -> Result<Weights, PolicyError> {
        const SCALE: u64 = 10_000;
        let weigh = |token: String| {
            let count = searcher.doc_freq(&Term::from_field_text(self.fields.body, &token))?;
            Ok((token, SCALE / (1 + count)))
        };
        self.tokens(query)?.into_iter().map(weigh).collect()
    }
}

fn passage(document: &PolicyDocument, score: f32, snippet: String) -> Passage {
    Passage {
        doc_id: document.id.clone(),
        title: document.title.clone(),
        version: document.version.clone(),
        score: f64::from(score),
        snippet,
        allowed_use: document.allowed_use,
    }
}

fn schema() -> (Schema, Fields) {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqs);
    let text = TextOptions::default().set_indexing_options(indexing);
    let mut builder = Schema::builder();
    let number = builder.add_text_field("number", STRING | STORED);
    let title = builder.add_text_field("title", text.clone());
    let body = builder.add_text_field("body", text);
    (
        builder.build(),
        Fields {
            number,
            title,
            body,
        },
    )
}

fn read_folder(folder: &Path) -> Result<Vec<PolicyDocument>, PolicyError> {
    let read = |source| PolicyError::Read {
        path: folder.to_owned(),
        source,
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        let markdown = path.extension().is_some_and(|extension| extension == "md");
        let readme = path.file_name().is_some_and(|name| name == "README.md");
        if markdown && !readme {
            paths.push(path);
        }
    }
    paths.sort();
    if !(1..=DOCUMENTS_MAX).contains(&paths.len()) {
        return Err(PolicyError::Count {
            path: folder.to_owned(),
            count: paths.len(),
        });
    }
    let mut ids = BTreeSet::new();
    let mut documents = Vec::with_capacity(paths.len());
    for path in paths {
        let document = read_document(&path)?;
        if !ids.insert(document.id.clone()) {
            return Err(PolicyError::RepeatedId {
                path,
                id: document.id,
            });
        }
        documents.push(document);
    }
    Ok(documents)
}

fn read_document(path: &Path) -> Result<PolicyDocument, PolicyError> {
    let read = |source| PolicyError::Read {
        path: path.to_owned(),
        source,
    };
    let length = std::fs::metadata(path).map_err(read)?.len();
    if DOCUMENT_BYTES_MAX < length {
        let text = format!("{length} bytes; a document may have {DOCUMENT_BYTES_MAX}");
        return Err(read(std::io::Error::new(
            std::io::ErrorKind::FileTooLarge,
            text,
        )));
    }
    let text = std::fs::read_to_string(path).map_err(read)?;
    PolicyDocument::parse(&text).map_err(|source| PolicyError::Document {
        path: path.to_owned(),
        source,
    })
}

/// Over ids and contents in the order of ids, each with its length, so that nothing can move from
/// one document to the next unseen.
fn digest(documents: &[PolicyDocument]) -> String {
    let mut sorted: Vec<&PolicyDocument> = documents.iter().collect();
    sorted.sort_by(|a, b| a.id.cmp(&b.id));
    let mut hasher = blake3::Hasher::new();
    for document in sorted {
        let parts = [
            &document.id,
            &document.title,
            &document.version,
            &document.effective,
            &document.owner,
            document.allowed_use.as_str(),
            &document.body,
        ];
        for part in parts {
            hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}
