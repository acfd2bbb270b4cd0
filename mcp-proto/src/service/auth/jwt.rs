//! JSON Web Tokens, signed by keys that are known beforehand (RFC 7519, RFC 9068).

use core::fmt;

use jsonwebtoken::crypto::{CryptoProvider, rust_crypto};
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::{TokenVerifier, Verification, VerifyError};
use crate::auth::Principal;
use crate::model::Json;

/// A verifier of JWT access tokens that fetches nothing: one issuer, one audience, and the public
/// keys that it is given. To follow an issuer that rotates its keys, make another one of its new
/// key set.
///
/// A key verifies one algorithm, whatever a token's header asks for; there is no way to `none` or
/// to shared secrets. `iss`, `aud` and `exp` must be there, and `sub` or a client (`client_id`,
/// `azp`). Scopes are those of `scope` or `scp`. The header's `typ` is `JWT`, `at+jwt` or absent, so
/// that no other kind of token of the same issuer passes for an access token (RFC 8725, section
/// 3.11); [`at_jwt_only`](Self::at_jwt_only) takes nothing but `at+jwt`. A token that is bound to a
/// key of its client (`cnf`; RFC 7800) is refused: nothing here proves that the caller has that
/// key. When the token is good is left to
/// [`Authorization::admit`](crate::auth::Authorization::admit), which knows the time.
///
/// ```no_run
/// use mcp_proto::service::JwtVerifier;
///
/// let keys = std::fs::read_to_string("jwks.json")?;
/// let verifier = JwtVerifier::new("https://login.example.com", "https://mcp.example.com/mcp")
///     .jwks(&keys)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct JwtVerifier {
    issuer: String,
    audience: String,
    keys: Vec<Key>,
    at_jwt_only: bool,
}

const APPLICATION: &str = "application/";

#[derive(Clone)]
struct Key {
    id: Option<String>,
    algorithm: Algorithm,
    key: DecodingKey,
}

/// An asymmetric signature algorithm (RFC 7518, section 3.1; RFC 8037).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JwtAlgorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    Rs384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    Rs512,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// RSASSA-PSS with SHA-384.
    Ps384,
    /// RSASSA-PSS with SHA-512.
    Ps512,
    /// ECDSA with P-256 and SHA-256.
    Es256,
    /// ECDSA with P-384 and SHA-384.
    Es384,
    /// EdDSA with Ed25519.
    EdDsa,
}

impl JwtVerifier {
    /// A verifier without keys, which knows nobody yet.
    ///
    /// `issuer` is compared as it stands (T-79). `audience` is the
    /// [resource](crate::auth::Authorization::resource), or what the issuer puts in its place; it
    /// is taken with and without a slash at the end (C101).
    pub fn new(issuer: impl Into<String>, audience: impl Into<String>) -> Self {
        if CryptoProvider::try_get_default().is_none() {
            // The build has two providers and the process has chosen none. Where another thread
            // is faster, its choice is as good.
            let _ = rust_crypto::DEFAULT_PROVIDER.install_default();
        }
        let (issuer, audience) = (issuer.into(), audience.into());
        Self { issuer, audience, keys: Vec::new(), at_jwt_only: false }
    }

    /// Takes only tokens whose `typ` is `at+jwt`, as issuers after RFC 9068 write it. Without this
    /// an ID token whose audience is this server passes, too, where its issuer signs such.
    #[must_use]
    pub fn at_jwt_only(mut self) -> Self {
        self.at_jwt_only = true;
        self
    }

    /// Adds the keys of a JWK set (RFC 7517). Keys that are not for signatures, or of a kind that
    /// is not known here, are passed over, and so are shared secrets. A key without `alg` is for
    /// the usual one of its kind: RS256, ES256, ES384 or EdDSA.
    ///
    /// # Errors
    /// Where the text is no key set, or holds no key that could verify anything.
    pub fn jwks(mut self, json: &str) -> Result<Self, InvalidKey> {
        #[derive(Deserialize)]
        struct Set<'a> {
            #[serde(borrow)]
            keys: Vec<&'a RawValue>,
        }
        let set: Set<'_> = serde_json::from_str(json).map_err(|_| InvalidKey::NotASet)?;
        let before = self.keys.len();
        self.keys.extend(set.keys.into_iter().filter_map(|key| Key::of_jwk(key.get())));
        if self.keys.len() == before { Err(InvalidKey::NoneUsable) } else { Ok(self) }
    }

    /// Adds a public key in PEM, for tokens that name this key (`kid`), or any where it is
    /// `None`.
    ///
    /// # Errors
    /// Where the text is no public key of that algorithm.
    pub fn pem(
        mut self,
        algorithm: JwtAlgorithm,
        id: Option<&str>,
        pem: &str,
    ) -> Result<Self, InvalidKey> {
        let algorithm = algorithm.into();
        let key = match algorithm {
            Algorithm::ES256 | Algorithm::ES384 => DecodingKey::from_ec_pem(pem.as_bytes()),
            Algorithm::EdDSA => DecodingKey::from_ed_pem(pem.as_bytes()),
            _ => DecodingKey::from_rsa_pem(pem.as_bytes()),
        };
        let key = key.map_err(|_| InvalidKey::NotPem)?;
        self.keys.push(Key { id: id.map(str::to_owned), algorithm, key });
        Ok(self)
    }

    fn principal(&self, token: &str) -> Option<Principal> {
        let header = decode_header(token).ok().filter(|it| self.takes(it.typ.as_deref()))?;
        let named = |key: &&Key| match (&key.id, &header.kid) {
            (Some(own), Some(named)) => own == named,
            _ => true,
        };
        let claims = self.keys.iter().filter(named).find_map(|key| self.claims(token, key))?;
        let Claims { sub, client_id, azp, iss, nbf, exp, scope, scp, cnf } =
            serde_json::from_str(claims.get()).ok()?;
        if cnf.is_some() {
            return None;
        }
        let some = |text: Option<String>| text.filter(|text| !text.is_empty());
        let principal = match (some(sub), some(client_id).or(some(azp))) {
            (Some(subject), Some(client)) => Principal::subject(subject).through_client(client),
            (Some(subject), None) => Principal::subject(subject),
            (None, Some(client)) => Principal::client(client),
            (None, None) => return None,
        };
        let principal = principal
            .issued_by(iss)
            .expires_at(exp as u64)
            .with_scopes(scope.into_iter().chain(scp).flat_map(Scopes::into_names))
            .with_claims(Json::parse(claims.get().to_owned()).ok()?);
        Some(match nbf {
            Some(from) => principal.not_before(from as u64),
            None => principal,
        })
    }

    /// Whether access tokens have that `typ`: a media type, whose `application/` may be left out
    /// (RFC 7515, section 4.1.9).
    fn takes(&self, typ: Option<&str>) -> bool {
        let Some(typ) = typ else { return !self.at_jwt_only };
        let short = match typ.split_at_checked(APPLICATION.len()) {
            Some((prefix, rest)) if prefix.eq_ignore_ascii_case(APPLICATION) => rest,
            _ => typ,
        };
        short.eq_ignore_ascii_case("at+jwt")
            || (!self.at_jwt_only && short.eq_ignore_ascii_case("JWT"))
    }

    /// The claims of a token that this key signed, by its own algorithm, for this audience.
    fn claims(&self, token: &str, key: &Key) -> Option<Box<RawValue>> {
        let audience = self.audience.strip_suffix('/').unwrap_or(&self.audience);
        let mut expected = Validation::new(key.algorithm);
        // `exp` is required by `Claims`, which can read fractions, and judged at admission.
        expected.set_required_spec_claims(&["iss", "aud"]);
        expected.set_issuer(&[&self.issuer]);
        expected.set_audience(&[audience, &format!("{audience}/")]);
        expected.validate_exp = false;
        decode(token, &key.key, &expected).ok().map(|token| token.claims)
    }
}

impl TokenVerifier for JwtVerifier {
    fn verify(&self, token: &str) -> Verification {
        Verification::Done(self.principal(token).ok_or(VerifyError::Invalid))
    }
}

impl fmt::Debug for JwtVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JwtVerifier")
            .field("issuer", &self.issuer)
            .field("audience", &self.audience)
            .field("keys", &self.keys.iter().map(|key| &key.id).collect::<Vec<_>>())
            .finish()
    }
}

impl Key {
    fn of_jwk(json: &str) -> Option<Self> {
        let jwk: Jwk = serde_json::from_str(json).ok()?;
        if !matches!(jwk.common.public_key_use, None | Some(PublicKeyUse::Signature)) {
            return None;
        }
        let usual = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => Algorithm::RS256,
            AlgorithmParameters::EllipticCurve(key) => match key.curve {
                EllipticCurve::P256 => Algorithm::ES256,
                EllipticCurve::P384 => Algorithm::ES384,
                _ => return None,
            },
            AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
                Algorithm::EdDSA
            }
            _ => return None,
        };
        let algorithm = match jwk.common.key_algorithm {
            Some(stated) => stated.to_string().parse().ok()?,
            None => usual,
        };
        let possible = match usual {
            Algorithm::RS256 => algorithm.family() == usual.family(),
            _ => algorithm == usual,
        };
        let key = DecodingKey::from_jwk(&jwk).ok().filter(|_| possible)?;
        Some(Self { id: jwk.common.key_id, algorithm, key })
    }
}

/// What is read of a token's claims. Times are seconds since the Unix epoch and may have
/// fractions.
#[derive(Deserialize)]
struct Claims {
    sub: Option<String>,
    client_id: Option<String>,
    azp: Option<String>,
    iss: String,
    nbf: Option<f64>,
    exp: f64,
    scope: Option<Scopes>,
    scp: Option<Scopes>,
    cnf: Option<IgnoredAny>,
}

/// Scopes as issuers write them: one text (RFC 8693, section 4.2), or a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum Scopes {
    Text(String),
    List(Vec<String>),
}

impl Scopes {
    fn into_names(self) -> Vec<String> {
        match self {
            Self::Text(text) => text.split_ascii_whitespace().map(str::to_owned).collect(),
            Self::List(names) => names,
        }
    }
}

impl From<JwtAlgorithm> for Algorithm {
    fn from(algorithm: JwtAlgorithm) -> Self {
        match algorithm {
            JwtAlgorithm::Rs256 => Self::RS256,
            JwtAlgorithm::Rs384 => Self::RS384,
            JwtAlgorithm::Rs512 => Self::RS512,
            JwtAlgorithm::Ps256 => Self::PS256,
            JwtAlgorithm::Ps384 => Self::PS384,
            JwtAlgorithm::Ps512 => Self::PS512,
            JwtAlgorithm::Es256 => Self::ES256,
            JwtAlgorithm::Es384 => Self::ES384,
            JwtAlgorithm::EdDsa => Self::EdDSA,
        }
    }
}

/// Why keys are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidKey {
    /// The text is no JWK set: an object with the array `keys`.
    NotASet,
    /// The set has no public key that can verify a signature.
    NoneUsable,
    /// The text is no public key of that algorithm in PEM.
    NotPem,
}

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotASet => "the text is no JWK set: an object with the array `keys`",
            Self::NoneUsable => "the JWK set has no RSA, P-256, P-384 or Ed25519 signature key",
            Self::NotPem => "the text is no PEM public key of that algorithm",
        })
    }
}

impl core::error::Error for InvalidKey {}

#[cfg(test)]
mod tests;
