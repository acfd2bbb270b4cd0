//! Names that were meant: for who misspells one.

/// A longer name than this is not looked for, nor among more names than that.
const LONGEST: usize = 64;
const MOST: usize = 1_000;

/// The name that is nearest to `name` among `known`: two letters differ at most, and no more than a
/// third of them.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters: Vec<char> = name.chars().take(LONGEST + 1).collect();
    if letters.len() > LONGEST {
        return None;
    }
    let most = (letters.len() / 3).clamp(1, 2);
    let near = known
        .take(MOST)
        .filter(|other| other.len().abs_diff(name.len()) <= 4 * most && other.len() <= 4 * LONGEST);
    near.map(|other| (distance(&letters, other), other))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, other)| other)
}

/// How many letters have to be put in, taken out or changed to make one of the other; case does not
/// count, nor does `-` for `_`.
fn distance(one: &[char], other: &str) -> usize {
    let plain = |letter: char| match letter {
        '-' | ' ' => '_',
        letter => letter.to_ascii_lowercase(),
    };
    let mut row: Vec<usize> = (0..=one.len()).collect();
    for (index, letter) in other.chars().enumerate() {
        let mut corner = core::mem::replace(&mut row[0], index + 1);
        for (at, own) in one.iter().enumerate() {
            let changed = corner + usize::from(plain(*own) != plain(letter));
            corner = row[at + 1];
            row[at + 1] = changed.min(row[at] + 1).min(corner + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_that_differs_by_a_slip() {
        let known = ["get_weather", "get_wether_map", "list_files", "add", "sub"];
        for (name, meant) in [
            ("get_wether", Some("get_weather")),
            ("getweather", Some("get_weather")),
            ("Get-Weather", Some("get_weather")),
            ("list_file", Some("list_files")),
            ("ad", Some("add")),
            ("subb", Some("sub")),
            ("delete_everything", None),
            ("xyz", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, known.iter().copied()), meant, "{name}");
        }
        assert_eq!(nearest(&"a".repeat(1_000_000), known.iter().copied()), None);
    }
}
