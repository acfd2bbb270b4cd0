//! Proxies: which requests go through one, and which one.

use core::fmt;
use core::net::IpAddr;
use core::str::FromStr;
use std::ffi::OsString;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::HeaderValue;
use percent_encoding::percent_decode_str;

use super::Origin;
use crate::client::Url;

#[cfg(test)]
mod tests;

/// An HTTP proxy, as read from a URL such as `http://user:password@proxy.example:3128`. Its name
/// and password are for the proxy alone, and are not shown.
///
/// Requests to `https://` pass through it in a tunnel, in which it sees nothing; those to `http://`
/// it passes on.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    pub(super) origin: Origin,
    pub(super) authorization: Option<HeaderValue>,
}

/// The text is no URL of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidProxy {
    /// Its scheme is another one than `http` and `https`.
    Scheme,
    /// It names no host, or an invalid port.
    Authority,
}

impl fmt::Display for InvalidProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheme => "a proxy's URL begins with http:// or https://; SOCKS is not spoken",
            Self::Authority => "the proxy's URL names no host, or an invalid port",
        })
    }
}

impl core::error::Error for InvalidProxy {}

impl FromStr for Proxy {
    type Err = InvalidProxy;

    /// Without a scheme it is `http`. What follows the port means nothing.
    fn from_str(text: &str) -> Result<Self, InvalidProxy> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return Err(InvalidProxy::Scheme);
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let url = Url::parse(&format!("{scheme}://{host}"));
        let url = url.map_err(|_| InvalidProxy::Authority)?;
        let origin = Origin::new(url.is_secure(), url.host(), url.port());
        Ok(Self { origin, authorization: user.map(basic) })
    }
}

/// RFC 7617.
fn basic(user: &str) -> HeaderValue {
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    let mut pair: Vec<u8> = percent_decode_str(name).collect();
    pair.push(b':');
    pair.extend(percent_decode_str(password));
    let value = format!("Basic {}", BASE64_STANDARD.encode(pair));
    // Base64 has nothing that a value could not have.
    let mut value = HeaderValue::try_from(value).unwrap_or(HeaderValue::from_static("Basic"));
    value.set_sensitive(true);
    value
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.origin.secure { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.origin.authority())
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a pool was told about proxies.
#[derive(Clone, Debug, Default)]
pub(super) enum Told {
    #[default]
    Environment,
    Never,
    Always(Proxy),
}

/// Which proxy a request goes through.
pub(super) enum Proxies {
    Always(Arc<Proxy>),
    Some {
        http: Option<Result<Arc<Proxy>, String>>,
        https: Option<Result<Arc<Proxy>, String>>,
        except: Vec<Exception>,
    },
}

impl Proxies {
    pub(super) fn new(told: Told, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        match told {
            Told::Always(proxy) => Self::Always(Arc::new(proxy)),
            Told::Never => Self::Some { http: None, https: None, except: Vec::new() },
            Told::Environment => Self::of_environment(variable),
        }
    }

    /// The variables are `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, in lower or upper
    /// case. A CGI program gets a request's header `Proxy` as `HTTP_PROXY`, so that one counts
    /// nothing there.
    fn of_environment(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let either = |name: &str| {
            let values = [name.to_owned(), name.to_ascii_uppercase()].map(|name| variable(&name));
            values.into_iter().flatten().find(|value| !value.is_empty())
        };
        let proxy = |name: &str| {
            let value = either(name)?;
            let proxy = value.to_str().ok_or(InvalidProxy::Authority).and_then(str::parse);
            let wrong = |error| format!("the environment's variable `{name}`: {error}");
            Some(proxy.map(Arc::new).map_err(wrong))
        };
        let is_cgi = variable("REQUEST_METHOD").is_some();
        let http = if is_cgi { None } else { proxy("http_proxy") };
        let except = either("no_proxy").unwrap_or_default();
        Self::Some {
            http: http.or_else(|| proxy("all_proxy")),
            https: proxy("https_proxy").or_else(|| proxy("all_proxy")),
            except: exceptions(&except.to_string_lossy()),
        }
    }

    /// The proxy for requests to `origin`, if they go through one. This machine is no proxy's
    /// concern, unless that was said expressly.
    pub(super) fn of(&self, origin: &Origin) -> Result<Option<Arc<Proxy>>, String> {
        match self {
            Self::Always(proxy) => Ok(Some(proxy.clone())),
            Self::Some { except, .. }
                if origin.is_loopback() || except.iter().any(|it| it.covers(origin)) =>
            {
                Ok(None)
            }
            Self::Some { http, https, .. } => {
                if origin.secure { https } else { http }.clone().transpose()
            }
        }
    }
}

/// Hosts that are reached without a proxy.
pub(super) struct Exception {
    hosts: Hosts,
    port: Option<u16>,
}

enum Hosts {
    All,
    /// A name, and all names below it.
    Named(String),
    /// Addresses that begin with the same bits.
    Net(IpAddr, u8),
}

/// Reads names, addresses and networks, with or without ports: `example.com, .internal:8080,
/// 10.0.0.0/8, [::1], *`. What is none of them is left out.
fn exceptions(text: &str) -> Vec<Exception> {
    let entries = text.split([',', ' ']).map(str::trim).filter(|entry| !entry.is_empty());
    entries.filter_map(exception).collect()
}

fn exception(entry: &str) -> Option<Exception> {
    let (host, port) = match entry.rsplit_once(':') {
        // Not the last colon of an address.
        Some((host, port)) if entry.parse::<IpAddr>().is_err() && !port.contains([']', '/']) => {
            (host, Some(port.parse().ok()?))
        }
        _ => (entry, None),
    };
    let host = host.trim_start_matches('[').replace(']', "");
    let (address, bits) = match host.split_once('/') {
        Some((address, bits)) => (address, Some(bits.parse().ok()?)),
        None => (&*host, None),
    };
    let hosts = match address.parse::<IpAddr>() {
        Ok(address) => Hosts::Net(address, bits.unwrap_or(u8::MAX)),
        Err(_) if bits.is_some() => return None,
        Err(_) if host == "*" => Hosts::All,
        Err(_) => {
            let name = host.trim_start_matches('*').trim_matches('.');
            Hosts::Named(name.to_ascii_lowercase())
        }
    };
    Some(Exception { hosts, port })
}

impl Exception {
    fn covers(&self, origin: &Origin) -> bool {
        if self.port.is_some_and(|port| port != origin.port) {
            return false;
        }
        let host = origin.host.trim_end_matches('.').to_ascii_lowercase();
        match &self.hosts {
            Hosts::All => true,
            Hosts::Named(name) => {
                let above = host.strip_suffix(&**name);
                above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
            }
            Hosts::Net(net, bits) => match (net, host.parse()) {
                (IpAddr::V4(net), Ok(IpAddr::V4(host))) => {
                    let differ = net.to_bits() ^ host.to_bits();
                    differ.leading_zeros() >= u32::from(*bits).min(32)
                }
                (IpAddr::V6(net), Ok(IpAddr::V6(host))) => {
                    let differ = net.to_bits() ^ host.to_bits();
                    differ.leading_zeros() >= u32::from(*bits).min(128)
                }
                _ => false,
            },
        }
    }
}
