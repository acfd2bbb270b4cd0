//! The token of a request.

use super::Refusal;

/// The token in a request's `Authorization` fields (RFC 6750, section 2.1; R2503-ATOK-01).
///
/// Takes all fields of that name, as [`Headers::get_all`](crate::frame::http1::Headers::get_all)
/// gives them. A token is read from nowhere else: not from the query, not from a body (T-81).
///
/// # Errors
/// [`Refusal::Missing`] where there is no field, none of the scheme `Bearer`, or nothing after
/// the scheme; [`Refusal::Malformed`] where there are several fields, or what follows is no
/// `token68`.
pub fn bearer<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> Result<&'a str, Refusal> {
    let mut fields = fields.into_iter();
    let field = fields.next().ok_or(Refusal::Missing)?.trim_ascii();
    if fields.next().is_some() {
        return Err(Refusal::Malformed);
    }
    let end = memchr::memchr(b' ', field).unwrap_or(field.len());
    let (scheme, rest) = field.split_at(end);
    if !scheme.eq_ignore_ascii_case(b"bearer") {
        return Err(Refusal::Missing);
    }
    let token = core::str::from_utf8(rest).map_err(|_| Refusal::Malformed)?;
    match token.trim_start_matches(' ') {
        "" => Err(Refusal::Missing),
        token if is_token68(token.as_bytes()) => Ok(token),
        _ => Err(Refusal::Malformed),
    }
}

/// `1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="` (RFC 9110, section 11.2).
pub(crate) fn is_token68(text: &[u8]) -> bool {
    let padding = text.iter().rev().take_while(|&&byte| byte == b'=').count();
    let body = text.get(..text.len() - padding).unwrap_or_default();
    !body.is_empty() && body.iter().all(|&byte| is_token68_char(byte))
}

pub(super) fn is_token68_char(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_one_bearer_token_or_is_told_what_is_wrong() {
        // R2503-ATOK-01, R2503-AUTH-08
        let cases: &[(&[&str], Result<&str, Refusal>)] = &[
            (&[], Err(Refusal::Missing)),
            (&[""], Err(Refusal::Missing)),
            (&["Bearer"], Err(Refusal::Missing)),
            (&["Bearer   "], Err(Refusal::Missing)),
            (&["Basic dXNlcjpwYXNz"], Err(Refusal::Missing)),
            (&["Bearerish abc"], Err(Refusal::Missing)),
            (&["\"Bearer\" abc"], Err(Refusal::Missing)),
            (&["Bearer abc"], Ok("abc")),
            (&["bEARER abc"], Ok("abc")),
            (&["Bearer  abc "], Ok("abc")),
            (&["Bearer a-b.c_d~e+f/g=="], Ok("a-b.c_d~e+f/g==")),
            (&["Bearer ="], Err(Refusal::Malformed)),
            (&["Bearer a=b"], Err(Refusal::Malformed)),
            (&["Bearer a b"], Err(Refusal::Malformed)),
            (&["Bearer a,b"], Err(Refusal::Malformed)),
            (&["Bearer a, Bearer b"], Err(Refusal::Malformed)),
            (&["Bearer \"abc\""], Err(Refusal::Malformed)),
            (&["Bearer ab\tc"], Err(Refusal::Malformed)),
            (&["Bearer\tabc"], Err(Refusal::Missing)),
            (&["Bearer t\u{f6}ken"], Err(Refusal::Malformed)),
            (&["Bearer a", "Bearer a"], Err(Refusal::Malformed)),
            (&["Basic x", "Bearer a"], Err(Refusal::Malformed)),
        ];
        for (fields, expected) in cases {
            assert_eq!(
                &bearer(fields.iter().map(|field| field.as_bytes())),
                expected,
                "{fields:?}"
            );
        }
        assert_eq!(bearer(Some(&b"Bearer \xff"[..])), Err(Refusal::Malformed));
        assert_eq!(bearer(None), Err(Refusal::Missing));
    }
}
