//! The jar itself: what RFC 6265 wants, for one origin, within bounds.

use core::fmt;
use core::time::Duration;

use super::date;

/// Cookies of one origin, in the order in which they were made.
#[derive(Default)]
pub(super) struct Jar {
    cookies: Vec<Cookie>,
}

/// Where a request goes.
pub(super) struct Site<'a> {
    pub(super) is_secure: bool,
    pub(super) host: &'a str,
    pub(super) path: &'a str,
}

struct Cookie {
    name: String,
    value: String,
    path: String,
    is_secure: bool,
    /// The time of day at which it ends; with the jar where there is none.
    ends: Option<Duration>,
}

/// Cookies that are kept, and that are read of one response.
pub(super) const MOST: usize = 50;

/// Bytes of one cookie's name and value.
const MOST_BYTES: usize = 4 * 1024;

/// Bytes of all: they travel in one field of a request's head.
const MOST_IN_ALL: usize = 8 * 1024;

impl Jar {
    /// Takes what a `Set-Cookie` field says.
    pub(super) fn set(&mut self, site: &Site<'_>, field: &[u8], now: Duration) {
        let Some(cookie) = Cookie::read(site, field, now) else { return };
        let is_same = |old: &Cookie| old.name == cookie.name && old.path == cookie.path;
        // A cookie that is set again keeps its place.
        let place = self.cookies.iter().position(is_same);
        let is_over = cookie.is_over(now);
        match place {
            Some(place) if is_over => drop(self.cookies.remove(place)),
            Some(place) => {
                if let Some(old) = self.cookies.get_mut(place) {
                    *old = cookie;
                }
            }
            None if is_over => {}
            None => self.cookies.push(cookie),
        }
        self.cookies.retain(|cookie| !cookie.is_over(now));
        while self.cookies.len() > MOST || self.bytes() > MOST_IN_ALL {
            self.cookies.remove(0);
        }
    }

    /// The value of a request's `Cookie` field; `None` for none. Those of longer paths come first
    /// (section 5.4).
    pub(super) fn cookies(&mut self, site: &Site<'_>, now: Duration) -> Option<String> {
        self.cookies.retain(|cookie| !cookie.is_over(now));
        let mut sent: Vec<_> = self.cookies.iter().filter(|it| it.goes_to(site)).collect();
        sent.sort_by_key(|cookie| core::cmp::Reverse(cookie.path.len()));
        let pair = |cookie: &&Cookie| format!("{}={}", cookie.name, cookie.value);
        (!sent.is_empty()).then(|| sent.iter().map(pair).collect::<Vec<_>>().join("; "))
    }

    fn bytes(&self) -> usize {
        self.cookies.iter().map(Cookie::bytes).sum()
    }
}

impl Cookie {
    /// What the field says, where it is a cookie of this site (section 5.2 and 5.3).
    fn read(site: &Site<'_>, field: &[u8], now: Duration) -> Option<Self> {
        let field = core::str::from_utf8(field).ok()?;
        let is_printable = |text: &str| text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        let mut parts = field.split(';').map(str::trim);
        let (name, value) = parts.next()?.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        if name.is_empty() || !is_printable(name) || !is_printable(value) {
            return None;
        }
        let mut cookie = Self {
            name: name.to_owned(),
            value: value.to_owned(),
            path: default_path(site.path).to_owned(),
            is_secure: false,
            ends: None,
        };
        if cookie.bytes() > MOST_BYTES {
            return None;
        }
        let (mut age, mut has_domain, mut is_at_root) = (None, false, false);
        for part in parts {
            let (attribute, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value.trim();
            match attribute.trim().to_ascii_lowercase().as_str() {
                "secure" => cookie.is_secure = true,
                "path" if value.starts_with('/') && value.len() <= 1_024 => {
                    is_at_root = value == "/";
                    value.clone_into(&mut cookie.path);
                }
                "path" => default_path(site.path).clone_into(&mut cookie.path),
                "domain" if !value.is_empty() => {
                    has_domain = true;
                    if !is_within(site.host, value.strip_prefix('.').unwrap_or(value)) {
                        return None;
                    }
                }
                "expires" => cookie.ends = date::parse(value).or(cookie.ends),
                "max-age" => age = seconds(value).or(age),
                _ => {}
            }
        }
        // `Max-Age` counts for more.
        if let Some(age) = age {
            cookie.ends = Some(match age.is_zero() {
                true => Duration::ZERO,
                false => now.saturating_add(age),
            });
        }
        // Who is not secure cannot say what is, and some names promise more.
        let promises = |prefix: &str| {
            cookie.name.get(..prefix.len()).is_some_and(|it| it.eq_ignore_ascii_case(prefix))
        };
        let is_kept = (site.is_secure || !cookie.is_secure)
            && (cookie.is_secure || !promises("__Secure-"))
            && (cookie.is_secure && is_at_root && !has_domain || !promises("__Host-"));
        is_kept.then_some(cookie)
    }

    fn bytes(&self) -> usize {
        self.name.len() + self.value.len()
    }

    fn is_over(&self, now: Duration) -> bool {
        self.ends.is_some_and(|ends| ends <= now)
    }

    fn goes_to(&self, site: &Site<'_>) -> bool {
        let within = site.path.strip_prefix(self.path.as_str()).is_some_and(|rest| {
            rest.is_empty() || self.path.ends_with('/') || rest.starts_with('/')
        });
        within && (site.is_secure || !self.is_secure)
    }
}

/// The directory of a path (section 5.1.4).
fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(end) => path.get(..end).unwrap_or("/"),
    }
}

/// Whether a host is that domain, or within it; an address is within none.
fn is_within(host: &str, domain: &str) -> bool {
    let domain = domain.to_ascii_lowercase();
    let is_address = host.starts_with('[') || host.parse::<core::net::Ipv4Addr>().is_ok();
    host == domain
        || (!is_address && host.strip_suffix(&domain).is_some_and(|front| front.ends_with('.')))
}

/// An age in seconds: none lasts longer than a number can say, and a negative one is over at once.
fn seconds(text: &str) -> Option<Duration> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds = if is_negative { 0 } else { digits.parse().unwrap_or(u64::MAX) };
    Some(Duration::from_secs(seconds))
}

/// Without the values: they are secrets.
impl fmt::Debug for Jar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.cookies.iter().map(|cookie| &cookie.name)).finish()
    }
}
