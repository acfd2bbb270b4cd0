//! TLS by rustls.

use core::fmt;
use std::sync::{Arc, OnceLock};

use futures_rustls::TlsConnector;
use futures_rustls::pki_types::ServerName;
use futures_rustls::rustls::crypto::{CryptoProvider, ring};
use futures_rustls::rustls::{self, ClientConfig, ConfigBuilder, WantsVerifier};
use rustls_platform_verifier::BuilderVerifierExt;

use super::line::Line;

/// How a client knows its servers over TLS, and how they know it.
///
/// ```
/// # fn main() {
/// use mcp_proto::service::client::{PoolBuilder, Tls, rustls};
/// # fn own() -> rustls::RootCertStore { rustls::RootCertStore::empty() }
///
/// // Authorities of one's own, and a certificate for the client where one is wanted.
/// let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
/// let config = rustls::ClientConfig::builder_with_provider(provider)
///     .with_safe_default_protocol_versions().unwrap()
///     .with_root_certificates(own())
///     .with_no_client_auth();
/// let pool = PoolBuilder::new().tls(Tls::new(config));
/// # }
/// ```
#[derive(Clone)]
pub struct Tls(Arc<Known>);

struct Known {
    config: Box<dyn Fn() -> Result<ClientConfig, rustls::Error> + Send + Sync>,
    /// Made when it is first needed: to read the platform's authorities takes a moment.
    made: OnceLock<Result<TlsConnector, String>>,
}

impl Tls {
    /// Servers that the platform's authorities vouch for: the default.
    pub fn platform() -> Self {
        Self::made_by(|| Ok(builder()?.with_platform_verifier()?.with_no_client_auth()))
    }

    /// Servers that the authorities of Mozilla's programme vouch for, as this library was built
    /// with them: for places where the platform has none, such as an empty container.
    #[cfg(feature = "webpki-roots")]
    pub fn webpki_roots() -> Self {
        Self::made_by(|| {
            let roots =
                rustls::RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
            Ok(builder()?.with_root_certificates(roots).with_no_client_auth())
        })
    }

    /// A configuration of one's own: private authorities, certificates for the client. It speaks
    /// HTTP/1.1, whatever application protocols the configuration names.
    pub fn new(config: impl Into<Arc<ClientConfig>>) -> Self {
        let config = Arc::unwrap_or_clone(config.into());
        Self::made_by(move || Ok(config.clone()))
    }

    fn made_by(
        config: impl Fn() -> Result<ClientConfig, rustls::Error> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Known { config: Box::new(config), made: OnceLock::new() }))
    }

    fn connector(&self) -> Result<&TlsConnector, String> {
        let make = || {
            let config = (self.0.config)();
            let mut config = config.map_err(|error| format!("TLS cannot be set up: {error}"))?;
            config.alpn_protocols = vec![b"http/1.1".to_vec()];
            Ok(TlsConnector::from(Arc::new(config)))
        };
        self.0.made.get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// Whether there can be TLS at all.
    pub(super) fn check(&self) -> Result<(), String> {
        self.connector().map(drop)
    }

    /// TLS over a line to `host`, which must show that it is that.
    pub(super) async fn over(&self, line: Line, host: &str) -> Result<Line, String> {
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| format!("`{host}` is no name that TLS could check"))?;
        let stream = self.connector()?.connect(name, line).await;
        stream.map(Line::new).map_err(|error| format!("no TLS with {host}: {error}"))
    }
}

impl Default for Tls {
    fn default() -> Self {
        Self::platform()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

fn builder() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, rustls::Error> {
    let provider: CryptoProvider = ring::default_provider();
    ClientConfig::builder_with_provider(Arc::new(provider)).with_safe_default_protocol_versions()
}
