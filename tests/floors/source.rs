//! Reads Rust source as far as the plan of the house needs it: what a file names, and how long its functions are.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// A file: its path in the workspace, its path in the folder that was read, and its code without comments and texts.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) code: String,
    pub(crate) lines: usize,
    inner: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Reads a file of the workspace.
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Reads every Rust file under a folder of the workspace, sorted; none where the folder is not there.
pub(crate) fn sources(folder: &str) -> Vec<Source> {
    let mut files = Vec::new();
    walk(&root().join(folder), &mut files);
    files.sort();
    let source = |file: &PathBuf| {
        let path = file.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(file).unwrap();
        let inner = path.strip_prefix(folder).unwrap().trim_start_matches('/').trim_end_matches(".rs").to_owned();
        Source { code: code_of(&text), lines: text.lines().count(), inner, path }
    };
    files.iter().map(source).collect()
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
        match entry.extension() {
            _ if entry.is_dir() && !entry.ends_with("target") => walk(&entry, files),
            Some(extension) if extension == "rs" => files.push(entry),
            _ => {}
        }
    }
}

impl Source {
    /// Gives the parts of its path in the folder.
    pub(crate) fn parts(&self) -> Vec<&str> {
        self.inner.split('/').collect()
    }

    /// Names the room that it belongs to: the first part of its path.
    pub(crate) fn room(&self) -> &str {
        self.parts()[0]
    }

    /// Tells whether it is the file that makes the room, and not one inside.
    pub(crate) fn is_room(&self) -> bool {
        self.parts().len() == 1
    }

    /// Gives every `x` of `crate::x`, also of `use crate::{x, y::z}`.
    pub(crate) fn rooms_named(&self) -> BTreeSet<String> {
        let after = self.code.match_indices("crate::").map(|(at, word)| &self.code[at + word.len()..]);
        after.flat_map(heads).collect()
    }

    /// Gives the name of each function with a body, and how many lines of code the body has.
    pub(crate) fn functions(&self) -> Vec<(String, usize)> {
        let starts = self.code.match_indices("fn ").filter(|(at, _)| !self.code[..*at].ends_with(is_word));
        starts.filter_map(|(at, word)| self.function(&self.code[at + word.len()..])).collect()
    }

    fn function<'s>(&self, rest: &'s str) -> Option<(String, usize)> {
        let name: &'s str = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
        let open = rest.find(['{', ';']).filter(|at| rest[*at..].starts_with('{'))?;
        let body = &rest[open + 1..open + 1 + closing(&rest[open + 1..])];
        let lines = body.lines().filter(|line| !line.trim().is_empty()).count();
        if name.is_empty() { None } else { Some((name.to_owned(), lines)) }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Gives the place of the brace that closes what was opened before `text`.
fn closing(text: &str) -> usize {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Gives the first part of a path, or of each path in braces.
fn heads(path: &str) -> Vec<String> {
    let head = |path: &str| path.trim_start().chars().take_while(|c| is_word(*c)).collect::<String>();
    let Some(listed) = path.strip_prefix('{') else { return vec![head(path)] };
    let (mut heads, mut depth, mut from) = (Vec::new(), 0, 0);
    let listed = &listed[..closing(listed)];
    for (at, c) in listed.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if c == ',' && depth == 0 {
            heads.push(head(&listed[from..at]));
            from = at + 1;
        }
    }
    heads.push(head(&listed[from..]));
    heads.retain(|head| !head.is_empty());
    heads
}

/// Gives the code alone: comments, texts and characters are left out, lines stay.
fn code_of(text: &str) -> String {
    let (mut code, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(c) = rest.chars().next() {
        let skipped = skipped(rest, code.ends_with(is_word));
        let taken = if skipped == 0 { c.len_utf8() } else { skipped };
        if skipped == 0 {
            code.push(c);
        } else {
            code.extend(rest[..taken].chars().filter(|c| *c == '\n'));
        }
        rest = &rest[taken..];
    }
    code
}

/// Gives how many bytes of comment, text or character begin here; 0 where code goes on.
fn skipped(rest: &str, in_word: bool) -> usize {
    let until = |from: usize, end: &str| rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len());
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return until(2, "*/");
    }
    let raw = rest.strip_prefix('b').unwrap_or(rest);
    if let Some(fenced) = raw.strip_prefix('r').filter(|_| !in_word) {
        let fence = fenced.chars().take_while(|c| *c == '#').count();
        if fenced[fence..].starts_with('"') {
            return until(rest.len() - fenced.len() + fence + 1, &format!("\"{}", "#".repeat(fence)));
        }
    }
    if rest.starts_with('"') {
        return quoted(rest, '"');
    }
    // A quote begins a character or a lifetime: a character ends with another.
    let mut chars = rest.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('\''), Some('\\'), _) => quoted(rest, '\''),
        (Some('\''), Some(c), Some('\'')) => c.len_utf8() + 2,
        _ => 0,
    }
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if c == quote && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    rest.len()
}

#[test]
fn source_is_read_as_it_should_be() {
    let text = "use crate::{a, b::{c, d},\n e};\nfn f<'x>(x: &'x str) -> char {\n    // }\n    let t = \"}\\\"\";\n\n    crate::g::h(r#\"}\"#, '}', '\\'')\n}\ntrait T { fn g(); }\n";
    let source = Source { path: String::new(), inner: "room/file".into(), lines: text.lines().count(), code: code_of(text) };
    assert_eq!(source.rooms_named().into_iter().collect::<Vec<_>>(), ["a", "b", "e", "g"]);
    assert_eq!(source.functions(), [("f".to_owned(), 2)]);
    assert_eq!((source.room(), source.is_room(), source.code.lines().count()), ("room", false, source.lines));
}
