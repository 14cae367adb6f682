//! A volume that loses power: what a process did to a folder, and what may be left of it.
//!
//! Kept is what was synced: the bytes and length of a file with a sync of it, names with a sync of
//! their folder. Of everything after that the disk may have kept any part: each page of a file as
//! it was after any of its writes, torn between sectors, with the old length or a later one; the
//! names of each folder up to any of its changes. It must never keep less than was synced, nor what
//! nobody wrote.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::dice::Dice;
use super::image::{Image, Item};
use super::journal::{Entry, Journal};
use super::pages::{Change, File};

/// The number of a file or folder.
type Node = usize;

/// A folder of which all is known.
pub struct Volume<'a> {
    journal: &'a Journal,
    nodes: Vec<Kind<'a>>,
    by_ino: HashMap<u64, Node>,
    names: Vec<(usize, Naming)>,
    base: Tree,
    live: Tree,
}

/// Names in folders.
type Tree = BTreeMap<Node, BTreeMap<String, Node>>;

const ROOT: Node = 0;

enum Kind<'a> {
    Folder { synced: usize },
    File(File<'a>),
}

/// A change of names.
#[derive(Clone, Debug)]
enum Naming {
    Linked(Node, String, Node),
    Unlinked(Node, String),
    Renamed((Node, String), (Node, String)),
}

impl Naming {
    fn folders(&self) -> [Node; 2] {
        match self {
            Self::Linked(folder, ..) | Self::Unlinked(folder, _) => [*folder; 2],
            Self::Renamed((from, _), (to, _)) => [*from, *to],
        }
    }

    fn apply(&self, tree: &mut Tree) {
        match self {
            Self::Linked(folder, name, node) => {
                tree.entry(*folder).or_default().insert(name.clone(), *node);
            }
            Self::Unlinked(folder, name) => {
                tree.entry(*folder).or_default().remove(name);
            }
            Self::Renamed((from, name), (to, new)) => {
                if let Some(node) = tree.entry(*from).or_default().remove(name) {
                    tree.entry(*to).or_default().insert(new.clone(), node);
                }
            }
        }
    }
}

impl<'a> Volume<'a> {
    /// The volume with `base` on it, after the first `cut` entries of a journal. What is in `base`
    /// is durable.
    #[must_use]
    pub fn after(base: &Image, journal: &'a Journal, cut: usize) -> Self {
        let mut volume = Self {
            journal,
            nodes: vec![Kind::Folder { synced: 0 }],
            by_ino: HashMap::new(),
            names: Vec::new(),
            base: Tree::from([(ROOT, BTreeMap::new())]),
            live: Tree::new(),
        };
        for (name, item) in &base.0 {
            let node = volume.nodes.len();
            volume.nodes.push(match item {
                Item::Folder => Kind::Folder { synced: 0 },
                Item::File(content) => Kind::File(File::of(Arc::clone(content))),
            });
            let (folder, name) = place(&volume.base, name).expect("folders come first");
            Naming::Linked(folder, name, node).apply(&mut volume.base);
        }
        volume.live = volume.base.clone();
        for (index, entry) in journal.entries()[..cut].iter().enumerate() {
            volume.learn(index, entry);
        }
        volume
    }

    fn learn(&mut self, index: usize, entry: &Entry) {
        match entry {
            Entry::Opened {
                ino,
                cut,
                folder,
                name,
            } => self.opened(index, *ino, name, (*cut, *folder)),
            Entry::Written { ino, at, bytes } => {
                let bytes = self.journal.bytes(bytes);
                self.changed(index, *ino, Change::Written(*at, bytes));
            }
            Entry::Zeroed { ino, at, count } => {
                self.changed(index, *ino, Change::Zeroed(*at, *count));
            }
            Entry::Cut { ino, bytes } => self.changed(index, *ino, Change::Cut(*bytes)),
            Entry::Synced { ino, before } => match self.node(*ino) {
                Kind::Folder { synced } => *synced = (*synced).max(*before),
                Kind::File(file) => file.synced = file.synced.max(*before),
            },
            Entry::Renamed(from, to) => {
                let naming = Naming::Renamed(self.place(from), self.place(to));
                self.named(index, naming);
            }
            Entry::Unlinked(name) | Entry::NoFolder(name) => {
                let (folder, name) = self.place(name);
                self.named(index, Naming::Unlinked(folder, name));
            }
            Entry::Folder(name) => {
                // The root itself is the volume's own.
                if !name.is_empty() {
                    self.add(index, name, Kind::Folder { synced: 0 });
                }
            }
            Entry::Told(_) => {}
        }
    }

    fn opened(&mut self, index: usize, ino: u64, name: &str, (cut, folder): (bool, bool)) {
        if name.is_empty() {
            self.by_ino.insert(ino, ROOT);
            return;
        }
        let (above, last) = self.place(name);
        let found = self.live.get(&above).and_then(|names| names.get(&last));
        let node = match found.copied() {
            Some(node) => node,
            None if folder => panic!("folder {name} was never made"),
            None => self.add(index, name, Kind::File(File::of(Arc::default()))),
        };
        self.by_ino.insert(ino, node);
        if cut {
            self.changed(index, ino, Change::Cut(0));
        }
    }

    fn add(&mut self, index: usize, name: &str, kind: Kind<'a>) -> Node {
        let (folder, name) = self.place(name);
        let node = self.nodes.len();
        self.nodes.push(kind);
        self.named(index, Naming::Linked(folder, name, node));
        node
    }

    fn named(&mut self, index: usize, naming: Naming) {
        naming.apply(&mut self.live);
        self.names.push((index, naming));
    }

    fn changed(&mut self, index: usize, ino: u64, change: Change<'a>) {
        match self.node(ino) {
            Kind::File(file) => file.changes.push((index, change)),
            Kind::Folder { .. } => panic!("a folder was written to"),
        }
    }

    fn node(&mut self, ino: u64) -> &mut Kind<'a> {
        let node = self
            .by_ino
            .get(&ino)
            .expect("a file is opened before it is used");
        &mut self.nodes[*node]
    }

    fn place(&self, name: &str) -> (Node, String) {
        place(&self.live, name).unwrap_or_else(|| panic!("{name}: its folder was never made"))
    }

    /// All of it, as a process sees it that goes on.
    #[must_use]
    pub fn now(&self) -> Image {
        self.image(&self.live, |file| file.after(file.changes.len()))
    }

    /// What may be left when the power is lost now.
    #[must_use]
    pub fn lost_power(&self, dice: &Dice) -> Image {
        let names = self.names_left(dice);
        let mut tree = self.base.clone();
        for ((_, naming), is_left) in self.names.iter().zip(names) {
            if is_left {
                naming.apply(&mut tree);
            }
        }
        // Some losses take everything, some next to nothing.
        let kept = *dice.one(&[0, 10, 50, 90, 100]);
        let torn = *dice.one(&[0, 0, 30]);
        self.image(&tree, |file| file.left(dice, kept, torn))
    }

    /// Which changes of names are left: those of each folder up to some point after its last sync.
    /// A rename from one folder to another is in both or in none.
    fn names_left(&self, dice: &Dice) -> Vec<bool> {
        let last = self.names.last().map_or(0, |(index, _)| index + 1);
        let all = *dice.one(&[0, 50, 100]);
        let mut ends: HashMap<Node, usize> = HashMap::new();
        for (node, kind) in self.nodes.iter().enumerate() {
            if let Kind::Folder { synced } = kind {
                let later = last.saturating_sub(*synced) as u64;
                let kept = if dice.percent(all) {
                    later
                } else {
                    dice.below(later + 1)
                };
                ends.insert(
                    node,
                    synced + usize::try_from(kept).expect("a count of entries"),
                );
            }
        }
        loop {
            let mut moved = false;
            for (index, naming) in &self.names {
                let folders = naming.folders();
                if folders.iter().any(|folder| *index < ends[folder]) {
                    for folder in folders {
                        let end = ends.get_mut(&folder).expect("every folder has one");
                        moved |= *end <= *index;
                        *end = (*end).max(index + 1);
                    }
                }
            }
            if !moved {
                break;
            }
        }
        let is_left = |(index, naming): &(usize, Naming)| *index < ends[&naming.folders()[0]];
        self.names.iter().map(is_left).collect()
    }

    fn image(&self, tree: &Tree, mut content: impl FnMut(&File<'a>) -> Vec<u8>) -> Image {
        let mut image = Image::default();
        let mut folders = vec![(ROOT, String::new())];
        while let Some((folder, above)) = folders.pop() {
            for (name, node) in tree.get(&folder).into_iter().flatten() {
                let name = format!("{above}{name}");
                let item = match &self.nodes[*node] {
                    Kind::Folder { .. } => {
                        folders.push((*node, format!("{name}/")));
                        Item::Folder
                    }
                    Kind::File(file) if file.changes.is_empty() => {
                        Item::File(Arc::clone(&file.base))
                    }
                    Kind::File(file) => Item::File(Arc::new(content(file))),
                };
                image.0.insert(name, item);
            }
        }
        image
    }
}

/// The folder of a name, and the name in it.
fn place(tree: &Tree, name: &str) -> Option<(Node, String)> {
    let (above, last) = name.rsplit_once('/').unwrap_or(("", name));
    let mut folder = ROOT;
    for part in above.split('/').filter(|part| !part.is_empty()) {
        folder = *tree.get(&folder)?.get(part)?;
    }
    Some((folder, last.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(ino: u64, folder: bool, name: &str) -> Entry {
        Entry::Opened {
            ino,
            cut: false,
            folder,
            name: name.to_owned(),
        }
    }

    fn written(ino: u64, bytes: std::ops::Range<usize>) -> Entry {
        Entry::Written { ino, at: 0, bytes }
    }

    /// A file is written beside, synced or not, and put in the place of another.
    fn put(synced: bool) -> Vec<Entry> {
        let sync = |ino, before| Entry::Synced { ino, before };
        let mut entries = vec![
            opened(1, true, ""),
            opened(2, false, "new"),
            written(2, 0..3),
        ];
        if synced {
            entries.push(sync(2, entries.len()));
        }
        entries.push(Entry::Renamed("new".to_owned(), "old".to_owned()));
        entries.push(sync(1, entries.len()));
        entries
    }

    fn base() -> Image {
        let old = Item::File(Arc::new(b"abc".to_vec()));
        Image(BTreeMap::from([("old".to_owned(), old)]))
    }

    /// What is under the name `old` after losses of power.
    fn left(entries: Vec<Entry>) -> Vec<Option<Vec<u8>>> {
        let cut = entries.len();
        let journal = Journal::of(entries, b"xyz".to_vec());
        let base = base();
        let lost = (0..200).map(|seed| {
            let volume = Volume::after(&base, &journal, cut);
            match volume.lost_power(&Dice::of(seed, "volume")).0.get("old") {
                Some(Item::File(content)) => Some(content.to_vec()),
                Some(Item::Folder) | None => None,
            }
        });
        let mut all: Vec<_> = lost.collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn a_synced_file_with_a_synced_name_is_there_and_without_a_sync_any_part_of_it_may_be() {
        assert_eq!(left(put(true)), [Some(b"xyz".to_vec())]);
        let parts = [&b""[..], &[0; 3], b"xyz"].map(|part| Some(part.to_vec()));
        assert_eq!(left(put(false)), parts);
    }

    #[test]
    fn a_name_whose_folder_was_not_synced_is_the_old_one_or_the_new_one() {
        let mut entries = put(true);
        entries.pop();
        assert_eq!(
            left(entries),
            [Some(b"abc".to_vec()), Some(b"xyz".to_vec())]
        );
    }

    #[test]
    fn a_file_in_a_folder_whose_name_was_not_synced_may_be_gone_with_it() {
        let entries = vec![
            Entry::Folder("deep".to_owned()),
            opened(3, true, "deep"),
            opened(4, false, "deep/file"),
            Entry::Synced { ino: 4, before: 3 },
            Entry::Synced { ino: 3, before: 4 },
        ];
        let journal = Journal::of(entries, Vec::new());
        let base = Image::default();
        let volume = Volume::after(&base, &journal, 5);
        let seeds = 0..100;
        let has = |seed| {
            let left = volume.lost_power(&Dice::of(seed, "deep"));
            assert_eq!(
                left.0.contains_key("deep"),
                left.0.contains_key("deep/file")
            );
            left.0.contains_key("deep")
        };
        let there = seeds.filter(|seed| has(*seed)).count();
        assert!((1..100).contains(&there), "{there}");
    }
}
