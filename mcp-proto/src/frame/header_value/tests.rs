use super::*;
use proptest::prelude::*;

#[test]
fn a_text_that_looks_encoded_is_encoded_and_decoded_once() {
    // T-44: a plain value that looks encoded is encoded, so a reader may always decode.
    let twice = encode("=?base64?YQ==?=").into_owned();
    assert_eq!(decode(twice.as_bytes()).unwrap(), "=?base64?YQ==?=");
}

#[test]
fn white_space_around_a_value_is_not_part_of_it_but_nbsp_is() {
    assert_eq!(plain(b"\t tools/call  "), Ok("tools/call"));
    assert_eq!(plain(b"\xA0tools/call"), Err(InvalidHeaderValue::Character));
    assert_eq!(plain("\u{A0}tools/call".as_bytes()), Err(InvalidHeaderValue::Character));
    assert_eq!(decode(b"a\0b"), Err(InvalidHeaderValue::Character));
    assert_eq!(decode(b"a\tb").unwrap(), "a\tb");
}

#[test]
fn integers_compare_by_number() {
    // R26-HDR-26, T-46
    let same = ["42", "42.0", "42.000", "4.2e1", "420e-1", "42E0", "0.42e+2"];
    for spelling in same {
        assert!(Scalar::Integer(42).agrees_with(spelling), "{spelling}");
        assert_eq!(Scalar::from_json(spelling.as_bytes()), Some(Scalar::Integer(42)), "{spelling}");
    }
    for other in ["", "-", "42.", "042", "+42", "0x2a", "42.5", "43", "-42", "4 2", "1e99999999999"]
    {
        assert!(!Scalar::Integer(42).agrees_with(other), "{other}");
    }
    let largest = (1 << 53) - 1;
    assert_eq!(Scalar::from_json(b"9007199254740991"), Some(Scalar::Integer(largest)));
    assert_eq!(Scalar::from_json(b"9007199254740992"), None);
    assert_eq!(Scalar::from_json("1".repeat(5_000).as_bytes()), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn decoding_undoes_encoding(text in prop_oneof![
        any::<String>(), "[ -~]{0,12}", "=\\?base64\\?[A-Za-z=]{0,8}\\?=", "[ \t\r\n]{0,3}a[ \t]{0,3}",
    ]) {
        let value = encode(&text);
        prop_assert!(value.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        let around = format!(" \t{value}\t ");
        prop_assert_eq!(decode(around.as_bytes()).unwrap(), text);
    }

    #[test]
    fn decoding_takes_any_bytes(bytes in any::<Vec<u8>>()) {
        let _ = decode(&bytes);
    }

    #[test]
    fn an_integer_agrees_with_its_own_header(number in -(1_i64 << 53) + 1..1 << 53) {
        let scalar = Scalar::Integer(number);
        let header = scalar.to_header();
        prop_assert!(scalar.agrees_with(&header));
        prop_assert_eq!(Scalar::from_json(header.as_bytes()), Some(scalar.clone()));
    }
}
