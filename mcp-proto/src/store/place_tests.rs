use super::*;

fn known(first: Place, last: Place, kept: &[Place]) -> Found {
    let messages = kept.iter().map(|place| (*place, Bytes::from_static(b"{}"))).collect();
    Found { extent: Extent::Known { first, last }, messages }
}

fn absent(ceiling: Place) -> Found {
    Found { extent: Extent::Absent { ceiling }, messages: Vec::new() }
}

/// The places read, where to read on, and whether some were lost.
fn outcome(after: Place, found: Found) -> Option<(Vec<String>, String, bool)> {
    match read(after, found)? {
        Read::Messages { messages, next, lost } => {
            let places = messages.iter().map(|(cursor, _)| cursor.to_string()).collect();
            Some((places, next.to_string(), lost))
        }
        Read::UnknownCursor => Some((Vec::new(), "unknown".into(), false)),
    }
}

fn got(places: &[&str], next: &str, lost: bool) -> Option<(Vec<String>, String, bool)> {
    Some((places.iter().map(|place| (*place).to_owned()).collect(), next.to_owned(), lost))
}

#[test]
fn a_reader_gets_what_came_after_its_cursor() {
    assert_eq!(outcome(11, known(10, 13, &[12, 13])), got(&["12", "13"], "13", false));
    assert_eq!(outcome(13, known(10, 13, &[])), None);
    assert_eq!(outcome(0, known(10, 11, &[10, 11])), got(&["10", "11"], "11", false));
    assert_eq!(outcome(0, absent(99)), None);
}

#[test]
fn a_page_that_ends_early_loses_nothing() {
    assert_eq!(outcome(10, known(10, 13, &[11])), got(&["11"], "11", false));
}

#[test]
fn trimmed_deleted_and_forgotten_messages_are_lost() {
    assert_eq!(outcome(10, known(10, 14, &[13, 14])), got(&["13", "14"], "14", true));
    assert_eq!(outcome(0, known(10, 14, &[13, 14])), got(&["13", "14"], "14", true));
    assert_eq!(outcome(12, known(10, 13, &[])), got(&[], "13", true), "deleted after 12");
    assert_eq!(outcome(5, known(10, 11, &[10, 11])), got(&["10", "11"], "11", true));
    assert_eq!(outcome(12, absent(99)), got(&[], "0", true));
}

#[test]
fn cursors_that_were_never_given_are_refused() {
    assert_eq!(outcome(14, known(10, 13, &[])), got(&[], "unknown", false));
    assert_eq!(outcome(100, absent(99)), got(&[], "unknown", false));
    for text in ["", "00", "+1", "-1", "1 ", "x", "01", "9223372036854775808"] {
        assert_eq!(Cursor::new(text).as_ref().and_then(place), None, "{text:?}");
    }
    assert_eq!(place(&Cursor::from(7)), Some(7));
    assert_eq!(place(&Cursor::from(0)), Some(0));
}

#[test]
fn bells_are_the_same_everywhere() {
    assert_eq!(Bell::of("").to_string(), "cbf29ce484222325");
    assert_eq!(Bell::of("a").to_string(), "af63dc4c8601ec8c"); // from FNV's published vectors
    assert_eq!(Bell::parse("af63dc4c8601ec8c"), Some(Bell::of("a")));
    assert_eq!(Bell::parse("news"), None);
}
