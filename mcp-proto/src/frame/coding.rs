//! Content codings: what a client takes, and what is sent (RFC 9110, section 12.5.3).

/// How a body is coded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Coding {
    /// As it is.
    #[default]
    Identity,
    /// Compressed; see [`Gzip`](super::gzip::Gzip) for what that costs.
    #[cfg(feature = "gzip")]
    Gzip,
}

impl Coding {
    /// The best coding of those that a request's `Accept-Encoding` fields take. A request without
    /// one gets its body as it is: whoever wants it compressed says so.
    pub fn accepted<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> Self {
        #[cfg(feature = "gzip")]
        if prefers_gzip(fields) {
            return Self::Gzip;
        }
        #[cfg(not(feature = "gzip"))]
        let _ = fields;
        Self::Identity
    }

    /// The header fields that go with it.
    pub fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Identity => &[],
            #[cfg(feature = "gzip")]
            Self::Gzip => &[("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")],
        }
    }
}

/// Whether `gzip` is taken, and not less gladly than no coding at all.
#[cfg(any(feature = "gzip", test))]
fn prefers_gzip<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let (mut gzip, mut identity, mut any) = (None, None, None);
    for element in fields.into_iter().flat_map(|field| field.split(|&byte| byte == b',')) {
        let mut parts = element.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
        let name = parts.next().unwrap_or_default();
        let is = |own: &[u8]| name.eq_ignore_ascii_case(own);
        let place = if is(b"gzip") || is(b"x-gzip") {
            &mut gzip
        } else if is(b"identity") {
            &mut identity
        } else if is(b"*") {
            &mut any
        } else {
            continue;
        };
        *place = Some(quality(parts));
    }
    let gzip = gzip.or(any).unwrap_or(0);
    gzip > 0 && gzip >= identity.unwrap_or(0)
}

/// The weight among a list element's parameters, in thousandths (RFC 9110, section 12.4.2): 1,000
/// where there is none, or none that can be read.
pub(crate) fn quality<'a>(parameters: impl IntoIterator<Item = &'a [u8]>) -> u16 {
    let mut weights = parameters.into_iter().filter_map(|parameter| {
        let (name, value) = parameter.split_at_checked(2)?;
        name.eq_ignore_ascii_case(b"q=").then_some(value)
    });
    weights.next().and_then(thousandths).unwrap_or(1_000)
}

/// `0`, `1`, and either with up to three decimals.
fn thousandths(weight: &[u8]) -> Option<u16> {
    let (whole, decimals) = match weight {
        [whole] => (whole, &[][..]),
        [whole, b'.', decimals @ ..] if decimals.len() <= 3 => (whole, decimals),
        _ => return None,
    };
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u16::from(byte - b'0'));
    let mut sum = digit(whole)? * 1_000;
    for (decimal, unit) in decimals.iter().zip([100, 10, 1]) {
        sum += digit(decimal)? * unit;
    }
    (sum <= 1_000).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_those_who_like_it_no_less_than_plain_text() {
        for (fields, preferred) in [
            (&[][..], false),
            (&[""], false),
            (&["gzip"], true),
            (&["GZIP"], true),
            (&["x-gzip"], true),
            (&["gzip, deflate, br"], true),
            (&["br, deflate"], false),
            (&["deflate", "gzip;q=0.5"], true),
            (&["gzip;q=0"], false),
            (&["gzip; Q=0.000"], false),
            (&["gzip;q=0.001"], true),
            (&["*"], true),
            (&["*;q=0"], false),
            (&["gzip;q=0, *"], false),
            (&["*;q=0, gzip"], true),
            (&["identity"], false),
            (&["identity, gzip"], true),
            (&["identity, gzip;q=0.9"], false),
            (&["identity;q=0.5, *;q=0.6"], true),
            (&["identity;q=0"], false),
            (&["gzipped"], false),
            (&["gzip;level=9"], true),
        ] {
            let fields = fields.iter().map(|field| field.as_bytes());
            assert_eq!(prefers_gzip(fields.clone()), preferred, "{:?}", fields.collect::<Vec<_>>());
        }
    }

    #[test]
    fn weights_are_thousandths_and_unreadable_ones_do_not_count() {
        for (parameter, weight) in [
            ("q=1", 1_000),
            ("q=1.000", 1_000),
            ("q=0", 0),
            ("q=0.", 0),
            ("Q=0.5", 500),
            ("q=0.05", 50),
            ("q=0.123", 123),
            ("q=1.001", 1_000),
            ("q=0.1234", 1_000),
            ("q=2", 1_000),
            ("q=-1", 1_000),
            ("q=", 1_000),
            ("q", 1_000),
            ("charset=utf-8", 1_000),
        ] {
            assert_eq!(quality([parameter.as_bytes()]), weight, "{parameter}");
        }
    }
}
