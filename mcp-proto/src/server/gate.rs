//! Which hosts and origins a server answers to.

use core::fmt;

use super::HttpRequest;

/// The Host and Origin gate, which every request passes first (C44).
///
/// A page whose name was rebound to this machine reaches it with that name in `Host`, and its
/// `GET` carries no `Origin`; so both are checked. By default only loopback names are answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    hosts: Hosts,
    origins: Vec<OriginPattern>,
    any_origin: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hosts {
    Any,
    Loopback,
    /// Lower-case names, without ports; loopback names are answered too.
    Named(Vec<String>),
}

/// An allowed origin: a scheme, labels of a host of which `*` stands for any one, and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OriginPattern {
    scheme: String,
    labels: Vec<String>,
    port: Option<String>,
}

/// Why the gate refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// There are several `Host` fields, and the target names none.
    Hosts,
    Host,
    Origin,
}

/// The text is no origin; see [`Gate::allow_origin`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidOrigin(String);

impl fmt::Display for InvalidOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no origin; write `scheme://host` or `scheme://host:port`, with `*` for a \
             whole label or for the port",
            self.0
        )
    }
}

impl core::error::Error for InvalidOrigin {}

impl Default for Gate {
    /// Loopback names only, and no origin but those of the host that was asked.
    fn default() -> Self {
        Self { hosts: Hosts::Loopback, origins: Vec::new(), any_origin: false }
    }
}

impl Gate {
    /// Answers to any `Host`. For servers behind a proxy that checks it.
    #[must_use]
    pub fn any_host(mut self) -> Self {
        self.hosts = Hosts::Any;
        self
    }

    /// Answers to `host` (a name or address without a port) besides loopback names.
    #[must_use]
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        let host = host.into().to_ascii_lowercase();
        match &mut self.hosts {
            Hosts::Named(names) => names.push(host),
            Hosts::Loopback => self.hosts = Hosts::Named(vec![host]),
            Hosts::Any => {}
        }
        self
    }

    /// Lets pages of `origin` in: `https://app.example.com`, `https://*.example.com` (each `*`
    /// stands for one label), `http://localhost:*` (any port).
    ///
    /// # Errors
    /// Where the text is no origin. The caller erred.
    pub fn allow_origin(mut self, origin: &str) -> Result<Self, InvalidOrigin> {
        let pattern = OriginPattern::parse(origin).ok_or_else(|| InvalidOrigin(origin.into()))?;
        self.origins.push(pattern);
        Ok(self)
    }

    /// Leaves the check of `Origin` to a proxy in front. Any page may then call this server,
    /// unless the proxy stops it.
    #[must_use]
    pub fn trust_proxy_origin_validation(mut self) -> Self {
        self.any_origin = true;
        self
    }

    /// Says what is refused and how to allow it, for a start-up message.
    pub fn describe(&self) -> &'static str {
        match self.hosts {
            Hosts::Any => "requests for any host are answered",
            Hosts::Loopback => {
                "requests for hosts other than localhost are refused; \
                 `.gate(Gate::default().allow_host(\"its.name\"))` answers more, and `.any_host()` \
                 all, where a proxy in front checks them"
            }
            Hosts::Named(_) => "requests for hosts that are not listed are refused",
        }
    }

    /// Checks what a request is addressed to, and the page that it comes from.
    pub(crate) fn check<H: HttpRequest>(&self, request: &H) -> Result<(), Refused> {
        let authority = request.authority();
        if authority.is_none() && request.get_all("host").nth(1).is_some() {
            return Err(Refused::Hosts);
        }
        let host = authority.and_then(split_host);
        let host_allowed = match (&self.hosts, &host) {
            (Hosts::Any, _) => true,
            (_, None) => false,
            (Hosts::Loopback, Some((name, _))) => is_loopback(name),
            (Hosts::Named(names), Some((name, _))) => {
                is_loopback(name) || names.iter().any(|own| own.eq_ignore_ascii_case(name))
            }
        };
        if !host_allowed {
            return Err(Refused::Host);
        }
        let mut origins = request.get_all("origin");
        let Some(origin) = origins.next() else { return Ok(()) };
        if origins.next().is_some() {
            return Err(Refused::Origin);
        }
        // A host that nobody listed must not vouch for an origin of the same (rebound) name.
        let same = self.hosts != Hosts::Any
            && host.is_some_and(|(name, port)| {
                Origin::parse(origin).is_some_and(|origin| origin.is(name, port))
            });
        let allowed = self.any_origin || same || self.lists(origin);
        if allowed { Ok(()) } else { Err(Refused::Origin) }
    }

    /// Whether `origin` is one that was listed; only those get CORS headers.
    pub(crate) fn lists(&self, origin: &[u8]) -> bool {
        Origin::parse(origin)
            .is_some_and(|origin| self.origins.iter().any(|pattern| pattern.matches(&origin)))
    }
}

/// An origin's parts, as they are written.
struct Origin<'a> {
    scheme: &'a str,
    host: &'a str,
    port: Option<&'a str>,
}

impl<'a> Origin<'a> {
    fn parse(text: &'a [u8]) -> Option<Self> {
        let (scheme, authority) = core::str::from_utf8(text).ok()?.split_once("://")?;
        let (host, port) = split_host(authority)?;
        Some(Self { scheme, host, port })
    }

    fn is(&self, host: &str, port: Option<&str>) -> bool {
        let default = match self.scheme {
            "http" => Some("80"),
            "https" => Some("443"),
            _ => return false,
        };
        self.host.eq_ignore_ascii_case(host) && self.port.or(default) == port.or(default)
    }
}

impl OriginPattern {
    fn parse(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let (host, port) = match authority.strip_suffix(":*") {
            Some(host) => (host, Some("*")),
            None => {
                let (_, port) = split_host(&authority.replace('*', "x"))
                    .map(|(host, port)| (host, port.map(str::len)))?;
                match port {
                    Some(length) => {
                        let at = authority.len().checked_sub(length + 1)?;
                        (authority.get(..at)?, authority.get(at + 1..))
                    }
                    None => (authority, None),
                }
            }
        };
        let valid = !scheme.is_empty() && !host.is_empty() && !host.contains(['/', '@', '?', '#']);
        valid.then(|| Self {
            scheme: scheme.to_ascii_lowercase(),
            labels: host.to_ascii_lowercase().split('.').map(str::to_owned).collect(),
            port: port.map(str::to_owned),
        })
    }

    fn matches(&self, origin: &Origin<'_>) -> bool {
        let port = match self.port.as_deref() {
            Some("*") => true,
            port => port == origin.port,
        };
        let mut labels = origin.host.split('.');
        port && self.scheme == origin.scheme
            && self.labels.iter().all(|own| {
                labels.next().is_some_and(|it| own == "*" || own.eq_ignore_ascii_case(it))
            })
            && labels.next().is_none()
    }
}

/// Splits `host[:port]` strictly; an IPv6 address keeps its brackets.
fn split_host(text: &str) -> Option<(&str, Option<&str>)> {
    let (host, port) = if text.starts_with('[') {
        let end = text.find(']')? + 1;
        let (host, rest) = text.split_at_checked(end)?;
        (host, rest.strip_prefix(':').or_else(|| rest.is_empty().then_some("")))
    } else {
        match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, Some("")),
        }
    };
    let port = port?;
    let named = host.bytes().all(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'[' | b']' | b':')
    });
    let numeric = port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit());
    (named && numeric && !host.is_empty()).then_some((host, (!port.is_empty()).then_some(port)))
}

fn is_loopback(host: &str) -> bool {
    let v4 = || host.parse::<core::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback());
    host.eq_ignore_ascii_case("localhost") || host == "[::1]" || v4()
}

#[cfg(test)]
mod tests;
