//! The law: what the scanner accepts, `serde_json` accepts, and the other way round but for the
//! documented points.

use proptest::prelude::*;

use super::*;

/// The deepest nesting that `serde_json` reads.
const DEPTH: usize = 127;

fn agree(src: &[u8]) -> Result<(), TestCaseError> {
    let theirs = serde_json::from_slice::<Value>(src);
    match scan(src, &ScanLimits::depth(DEPTH)) {
        Ok(message) => {
            let value = theirs.map_err(|e| TestCaseError::fail(format!("serde_json: {e}")))?;
            for member in message.envelope.iter() {
                let found = serde_json::from_slice(member.value.of(src)).ok();
                prop_assert_eq!(value.get(&*member.decoded_name(src)), found.as_ref());
            }
            if message.root == Kind::Array {
                let found: Vec<Value> = elements(src)
                    .map(|span| serde_json::from_slice(span.of(src)).expect("an element"))
                    .collect();
                prop_assert_eq!(value.as_array(), Some(&found));
            }
            let mut compacted = Vec::new();
            compact(src, &mut compacted);
            prop_assert_eq!(serde_json::from_slice::<Value>(&compacted).ok(), Some(value));
            let once = canonical_text(src);
            prop_assert_eq!(&canonical_text(&compacted), &once);
            prop_assert_eq!(&canonical_text(&once), &once);
        }
        Err(error) => match error.kind {
            ScanErrorKind::Duplicate => prop_assert!(theirs.is_ok()),
            // With `arbitrary_precision`, `serde_json` keeps any number.
            ScanErrorKind::Number if serde_json::from_str::<Value>("1e999").is_ok() => {}
            _ => prop_assert!(theirs.is_err(), "{}", error),
        },
    }
    Ok(())
}

fn canonical_text(src: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    canonical(src, &ScanLimits::default(), &mut out).expect("JSON");
    out
}

/// JSON text, white space and escapes included.
fn json_text() -> impl Strategy<Value = String> {
    let string = prop::collection::vec(
        prop_oneof![
            6 => "[a-z_]".prop_map(String::from),
            2 => any::<char>().prop_filter("plain", |c| !matches!(c, '"' | '\\' | ..' ')).prop_map(String::from),
            1 => prop::sample::select(&["\\n", "\\\"", "\\\\", "\\/", "\\u0061", "\\ud83d\\ude00", "\\u0000"][..]).prop_map(String::from),
        ],
        0..9,
    )
    .prop_map(|parts| format!("\"{}\"", parts.concat()));
    let name = prop_oneof![
            string.clone(),
            prop::sample::select(
                &[
                    "\"id\"",
                    "\"params\"",
                    "\"_meta\"",
                    "\"result\"",
                    "\"error\"",
                    "\"p\\u0061rams\""
                ][..]
            )
            .prop_map(String::from),
        ];
    let number = "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?";
    let word = prop::sample::select(&["true", "false", "null"][..]).prop_map(String::from);
    let space = "[ \n\r\t]?";
    prop_oneof![string, number, word].prop_recursive(6, 60, 8, move |value| {
        let padded = (space, value, space).prop_map(|(a, value, b)| a + &value + &b);
        let member = (space, name.clone(), space, padded.clone())
            .prop_map(|(a, name, b, value)| a + &name + &b + ":" + &value);
        prop_oneof![
            prop::collection::vec(padded, 1..6).prop_map(|all| format!("[{}]", all.join(","))),
            prop::collection::vec(member, 0..8).prop_map(|all| format!("{{{}}}", all.join(","))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn on_json(text in json_text()) {
        agree(text.as_bytes())?;
        let message = scan(text.as_bytes(), &ScanLimits::default());
        prop_assert!(message.is_ok() || matches!(
            refused(&text).kind,
            ScanErrorKind::Duplicate | ScanErrorKind::Number
        ));
    }

    #[test]
    fn on_almost_json(
        text in json_text(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..3u8, any::<u8>()), 1..4),
    ) {
        let mut src = text.into_bytes();
        for (at, edit, byte) in edits {
            let at = at.index(src.len() + 1);
            match edit {
                0 => src.insert(at, byte),
                1 if at < src.len() => src[at] = byte,
                _ => src.truncate(at),
            }
        }
        agree(&src)?;
    }

    #[test]
    fn on_tokens_in_any_order(tokens in prop::collection::vec(prop::sample::select(&[
        "{", "}", "[", "]", ",", ":", " ", "\n", "\"\"", "\"id\"", "\"params\"", "\"_meta\"", "\"\\ud800\"",
        "0", "-", "1e308", "1.8e308", "-1e309", "01", "1.", ".5", "true", "nul", "\"", "\\", "\t",
    ][..]), 0..14)) {
        agree(tokens.concat().as_bytes())?;
    }

    #[test]
    fn on_numbers_near_the_largest(
        digits in "(0|[1-9][0-9]{0,30})(\\.[0-9]{1,30})?",
        exponent in -340..340i32,
        lead in 0..320usize,
    ) {
        agree(format!("[{digits}e{exponent}]").as_bytes())?;
        agree(format!("[1{}]", digits.repeat(lead / 10)).as_bytes())?;
        agree(format!("[0.{}{}e{}]", "0".repeat(lead), digits.replace('.', ""), exponent + 300).as_bytes())?;
        agree(format!("[1.79769313486231{}e308]", digits.replace('.', "")).as_bytes())?;
        agree(format!("[{}{}]", digits.replace('.', "").replace('0', "7"), "9".repeat(lead)).as_bytes())?;
    }
}

/// What lies at the edge is decided by `serde_json` itself.
#[test]
fn the_largest_number_passes() {
    for (number, accepted) in [
        ("1.7976931348623157e308", true),
        ("-1.7976931348623157e308", true),
        ("1.7976931348623159e308", false),
        ("1e308", true),
        ("2e308", false),
        ("1e309", false),
        ("0.001e311", true),
        ("0e99999999999999999999", true),
        ("0.00E99999999999999999999", true),
        ("1e-99999999999999999999", true),
    ] {
        assert_eq!(scan(number.as_bytes(), &ScanLimits::default()).is_ok(), accepted, "{number}");
        agree(number.as_bytes()).unwrap();
    }
    agree("9".repeat(5000).as_bytes()).unwrap();
    assert_eq!(refused("9".repeat(5000)).kind, ScanErrorKind::Number);
}
