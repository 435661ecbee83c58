//! Reads Rust sources word by word, as far as a lint for paths and words needs it.

/// A word or a punctuation character, and its line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// A path as written, with what `crate`, `super` and `self` mean put in their place.
#[derive(Debug)]
pub(crate) struct WrittenPath {
    pub(crate) parts: Vec<String>,
    pub(crate) is_ours: bool,
    pub(crate) line: usize,
}

/// Words and punctuation of a source, without comments, texts and lifetimes.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let (mut at, mut line, mut found) = (0, 1, Vec::new());
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    while let Some(&c) = chars.get(at) {
        let start = at;
        let rest = &chars[at..];
        match c {
            '/' if rest.get(1) == Some(&'/') => at += rest.iter().take_while(|c| **c != '\n').count(),
            '/' if rest.get(1) == Some(&'*') => at += block_comment(rest),
            '"' => at += quoted_text(rest),
            '\'' => at += character_or_lifetime(rest),
            _ if is_word(c) => {
                let word: String = rest.iter().take_while(|c| is_word(**c)).collect();
                let length = word.chars().count();
                let after = &rest[length..];
                at += match (word.as_str(), after.first()) {
                    ("r" | "br" | "cr", Some('"' | '#')) if raw_text(after) > 0 => length + raw_text(after),
                    ("b" | "c", Some('"')) => length + quoted_text(after),
                    ("b", Some('\'')) => length + character_or_lifetime(after),
                    _ => {
                        found.push(Token { text: word, line });
                        length
                    }
                };
            }
            _ => {
                if !c.is_whitespace() {
                    found.push(Token { text: c.to_string(), line });
                }
                at += 1;
            }
        }
        line += chars[start..at].iter().filter(|c| **c == '\n').count();
    }
    found
}

fn block_comment(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    loop {
        match rest.get(at..at + 2) {
            Some(['/', '*']) => (depth, at) = (depth + 1, at + 2),
            Some(['*', '/']) => (depth, at) = (depth - 1, at + 2),
            Some(_) => at += 1,
            None => return rest.len(),
        }
        if depth == 0 {
            return at;
        }
    }
}

fn quoted_text(rest: &[char]) -> usize {
    let mut at = 1;
    while let Some(c) = rest.get(at) {
        at += match c {
            '\\' => 2,
            '"' => return at + 1,
            _ => 1,
        };
    }
    rest.len()
}

/// Length of `#"…"#` with any number of `#`; 0 where it is something else, such as a raw identifier.
fn raw_text(rest: &[char]) -> usize {
    let hashes = rest.iter().take_while(|c| **c == '#').count();
    if rest.get(hashes) != Some(&'"') {
        return 0;
    }
    let end: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let body = &rest[hashes + 1..];
    body.windows(end.len()).position(|part| part == end).map_or(rest.len(), |at| hashes + 1 + at + end.len())
}

fn character_or_lifetime(rest: &[char]) -> usize {
    match rest {
        [_, '\\', _, after @ ..] => 4 + after.iter().take_while(|c| **c != '\'').count(),
        [_, _, '\'', ..] => 3,
        _ => 1 + rest.iter().skip(1).take_while(|c| c.is_alphanumeric() || **c == '_').count(),
    }
}

fn text_at(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| token.text.as_str())
}

/// Takes out items that are compiled for tests only; also names the files that are.
pub(crate) fn without_tests(tokens: Vec<Token>) -> (Vec<Token>, Vec<String>) {
    let (mut kept, mut files, mut at) = (Vec::new(), Vec::new(), 0);
    while at < tokens.len() {
        let starts_attribute = text_at(&tokens, at) == "#" && text_at(&tokens, at + 1) == "[";
        let end = if starts_attribute { closing(&tokens, at + 1) + 1 } else { at + 1 };
        if !(starts_attribute && is_test_only(&tokens[at..end])) {
            kept.extend_from_slice(&tokens[at..end]);
            at = end;
            continue;
        }
        at = end;
        while text_at(&tokens, at) == "#" {
            at = closing(&tokens, at + 1) + 1;
        }
        let start = at;
        while at < tokens.len() && ![";", "{", ","].contains(&text_at(&tokens, at)) {
            at = if ["(", "["].contains(&text_at(&tokens, at)) { closing(&tokens, at) + 1 } else { at + 1 };
        }
        if text_at(&tokens, at) == "{" {
            at = closing(&tokens, at);
        } else if let Some(index) = (start..at).find(|index| text_at(&tokens, *index) == "mod") {
            files.push(text_at(&tokens, index + 1).to_owned());
        }
        at += 1;
    }
    (kept, files)
}

/// `cfg(test)` or `cfg(all(test, …))`.
fn is_test_only(attribute: &[Token]) -> bool {
    let words: Vec<&str> = attribute.iter().map(|token| token.text.as_str()).collect();
    matches!(words[..], ["#", "[", "cfg", "(", "test", ..] | ["#", "[", "cfg", "(", "all", "(", "test", ..])
}

/// Position of the bracket that closes the one at `at`.
fn closing(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0;
    for index in at..tokens.len() {
        match text_at(tokens, index) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index;
        }
    }
    tokens.len()
}

/// Every path of two parts or more, and what stands alone after `use`.
pub(crate) fn paths(tokens: &[Token], file_module: &[String]) -> Vec<WrittenPath> {
    let mut found = Vec::new();
    let mut inline: Vec<(String, usize)> = Vec::new();
    for at in 0..tokens.len() {
        inline.retain(|(_, end)| at < *end);
        if text_at(tokens, at) == "mod" && text_at(tokens, at + 2) == "{" {
            inline.push((text_at(tokens, at + 1).to_owned(), closing(tokens, at + 2)));
        }
        let before = at.checked_sub(1).map_or("", |before| text_at(tokens, before));
        let is_start =
            is_name(text_at(tokens, at)) && before != ":" && (before == "use" || follows(tokens, at));
        // `x: a::b` is a path after a single colon
        let after_type_colon = before == ":"
            && at.checked_sub(2).is_none_or(|index| text_at(tokens, index) != ":")
            && follows(tokens, at);
        if !(is_start || after_type_colon && is_name(text_at(tokens, at))) || before == "mod" {
            continue;
        }
        let mut module = file_module.to_vec();
        module.extend(inline.iter().map(|(name, _)| name.clone()));
        let mut written = Vec::new();
        tree(tokens, at, &mut Vec::new(), &mut written);
        found.extend(written.into_iter().filter_map(|(parts, line)| resolve(parts, line, &module)));
    }
    found
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn follows(tokens: &[Token], at: usize) -> bool {
    text_at(tokens, at + 1) == ":" && text_at(tokens, at + 2) == ":"
}

/// Reads `a::b`, `a::{b, c::d}` and so on from `at`; gives the position after it.
fn tree(
    tokens: &[Token],
    at: usize,
    prefix: &mut Vec<String>,
    found: &mut Vec<(Vec<String>, usize)>,
) -> usize {
    let (mut at, length) = (at, prefix.len());
    let line = tokens[at].line;
    while is_name(text_at(tokens, at)) {
        prefix.push(text_at(tokens, at).to_owned());
        at += 1;
        if !(text_at(tokens, at) == ":" && text_at(tokens, at + 1) == ":") {
            break;
        }
        at += 2;
    }
    if text_at(tokens, at) == "{" && text_at(tokens, at - 1) == ":" {
        let end = closing(tokens, at);
        at += 1;
        while at < end {
            at = if is_name(text_at(tokens, at)) { tree(tokens, at, prefix, found) } else { at + 1 };
        }
        at = end + 1;
    } else {
        found.push((prefix.clone(), line));
        while text_at(tokens, at) == "as" {
            at += 2;
        }
    }
    prefix.truncate(length);
    at.max(1)
}

/// Puts a path's place for `crate`, `self` and `super`, and for our own crate's name in the program.
fn resolve(parts: Vec<String>, line: usize, module: &[String]) -> Option<WrittenPath> {
    let mut place = match parts.first()?.as_str() {
        "crate" | "mzarena" => Vec::new(),
        "self" | "super" => module.to_vec(),
        _ => return Some(WrittenPath { parts, is_ours: false, line }),
    };
    for part in parts {
        match part.as_str() {
            "crate" | "self" | "mzarena" => {}
            "super" => {
                place.pop();
            }
            _ => place.push(part),
        }
    }
    Some(WrittenPath { parts: place, is_ours: true, line })
}
