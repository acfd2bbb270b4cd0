//! Which revision a message is of.

use super::headers::Mirrored;
use super::{Adapter, AdapterSet, Mirrors, Preamble, Revision, Stated};
use crate::model::{Failure, FailureKind, Operation};

/// What carries the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Streamable HTTP. It carries every revision.
    Http,
    /// Lines over a pipe. They carry every revision.
    Stdio,
    /// HTTP+SSE. It carries revisions with a handshake only.
    HttpSse,
}

/// What an earlier message settled.
#[derive(Clone, Copy, Debug)]
pub enum Established<'a> {
    /// Nothing.
    None,
    /// There is a session, but its record has not been read yet.
    Pending,
    /// The revision of the session, or of the process on stdio. The set must have it too.
    Adapter(&'a Adapter),
}

/// What is known about a message besides its text.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// What carries it.
    pub transport: Transport,
    /// The version that the URL demands.
    pub pin: Option<&'a str>,
    /// The headers that take part.
    pub mirrors: Mirrors<'a>,
    /// What an earlier message settled.
    pub established: Established<'a>,
    /// Where there is a handshake there must be a session.
    pub require_session: bool,
}

impl Context<'_> {
    /// A message about which nothing more is known.
    pub fn new(transport: Transport) -> Self {
        Self {
            transport,
            pin: None,
            mirrors: Mirrors::default(),
            established: Established::None,
            require_session: false,
        }
    }
}

/// Who handles a message.
#[derive(Clone, Debug)]
pub enum Selection<'a> {
    /// This revision.
    Adapter(&'a Adapter),
    /// Ask again once the session's record has been read: only it can tell.
    AwaitSession,
    /// No one: this revision spells the refusal. It is not sent where the message was a
    /// notification or a response, except as the body of an HTTP reply.
    Refused {
        /// Who spells it.
        adapter: &'a Adapter,
        /// Why.
        failure: Failure,
    },
}

impl<'a> Selection<'a> {
    fn refused(adapter: &'a Adapter, failure: Failure) -> Self {
        Self::Refused { adapter, failure }
    }

    fn malformed(adapter: &'a Adapter, why: &'static str) -> Self {
        Self::refused(adapter, Failure::new(FailureKind::Malformed, why))
    }
}

impl AdapterSet {
    /// Which revision `preamble` is of, decided by the first of these that applies:
    ///
    /// 1. a text that is no message has no preamble: the [`fallback`](Self::fallback) refuses it
    /// 2. the URL's pin
    /// 3. no revision without handshake is served here, and only those have the method: it is unknown
    /// 4. the version in `_meta`, which is that of a revision without handshake (R26-VER-04)
    /// 5. a handshake begins: the newest revision that has one negotiates
    /// 6. only revisions without handshake have the method, yet `_meta` is missing: refused
    /// 7. the session's revision (or the process's); another version in the header is refused
    /// 8. the version in the header
    /// 9. nothing: over HTTP the revision that is [`assumed`](Adapter::assumed); else only a ping
    ///
    /// Where a request is of a revision without handshake and several things are wrong, the first
    /// of missing headers, missing metadata, differing headers, unsupported version is told
    /// (R26-HDR-04). Messages that must not be answered need not repeat anything in headers.
    pub fn select<'a>(&'a self, preamble: &Preamble, context: &Context<'_>) -> Selection<'a> {
        if let Some(pin) = context.pin {
            return match self.by_version(pin) {
                Some(adapter) if !adapter.has_handshake => self.modern(adapter, preamble, context),
                Some(adapter) if opens(adapter, preamble) => Selection::Adapter(adapter),
                Some(adapter) => self.pinned(adapter, context),
                None => Selection::refused(self.fallback(), self.unsupported(pin)),
            };
        }
        let (Some(handshake), modern) = (self.newest_handshake(), self.newest_modern()) else {
            return self.modern(self.fallback(), preamble, context);
        };
        let is_served = modern.is_some() && context.transport != Transport::HttpSse;
        if !is_served && preamble.id().is_some() && self.is_only_modern(preamble) {
            let why = "this method is of revisions without handshake, which are not served here";
            return Selection::refused(handshake, Failure::new(FailureKind::UnknownMethod, why));
        }
        match (&preamble.metadata.version, modern) {
            (Stated::Absent, _) => {}
            (_, Some(modern)) => return self.modern(modern, preamble, context),
            // A client of a later revision, which can fall back to a handshake (R26-VER-01).
            (Stated::Version(version), None) => {
                return Selection::refused(handshake, self.unsupported(version));
            }
            (Stated::Invalid, None) => {}
        }
        if opens(handshake, preamble) {
            return Selection::Adapter(handshake);
        }
        if let Some(adapter) = modern.filter(|_| self.is_only_modern(preamble)) {
            return self.modern(adapter, preamble, context);
        }
        match self.evidence(context) {
            Evidence::For(adapter) if !adapter.has_handshake => {
                self.modern(adapter, preamble, context)
            }
            Evidence::For(adapter) => in_session(adapter, context),
            Evidence::Settled(selection) => selection,
            Evidence::None if context.transport == Transport::Http => self.assume(context),
            Evidence::None => self.unannounced(handshake, preamble),
        }
    }

    /// Which revision a batch is of: steps 2 and 7 to 9 of [`select`](Self::select), since no
    /// single message may decide for the others. It is refused where that revision has no batches.
    pub fn select_batch<'a>(&'a self, context: &Context<'_>) -> Selection<'a> {
        let pinned = context.pin.map(|pin| self.by_version(pin).ok_or(pin));
        let selection = match (pinned, self.evidence(context)) {
            (Some(Err(pin)), _) => Selection::refused(self.fallback(), self.unsupported(pin)),
            (Some(Ok(adapter)), _) => self.pinned(adapter, context),
            (None, Evidence::For(adapter)) => in_session(adapter, context),
            (None, Evidence::Settled(selection)) => selection,
            (None, Evidence::None) if context.transport == Transport::Http => self.assume(context),
            (None, Evidence::None) => {
                let adapter = self.newest_handshake().unwrap_or(self.fallback());
                Selection::malformed(adapter, "a batch cannot come first")
            }
        };
        match selection {
            Selection::Adapter(adapter) if !adapter.allows_batch => {
                Selection::malformed(adapter, "this protocol version has no batches")
            }
            other => other,
        }
    }

    /// The revisions that a request without a message may be of: the one that its URL or its header
    /// names, if there is such a one here, else any.
    pub fn concerned<'a>(
        &'a self,
        pin: Option<&str>,
        mirrors: &Mirrors<'_>,
    ) -> impl Iterator<Item = &'a Adapter> + use<'a> {
        let named = pin.or_else(|| mirrors.stated_version().ok().flatten());
        let only = named.and_then(|version| self.by_version(version));
        self.iter().filter(move |adapter| only.is_none_or(|only| only == *adapter))
    }

    /// Step 2, once a handshake is over.
    fn pinned<'a>(&'a self, adapter: &'a Adapter, context: &Context<'_>) -> Selection<'a> {
        match self.evidence(context) {
            Evidence::For(other) if other != adapter => {
                Selection::refused(adapter, other_version("the URL"))
            }
            Evidence::For(_) | Evidence::None => in_session(adapter, context),
            Evidence::Settled(selection) => selection,
        }
    }

    /// Steps 4 and 6. `adapter` is whose rules hold where the message states no version of its
    /// own; it is the pinned one where there is a pin.
    fn modern<'a>(
        &'a self,
        adapter: &'a Adapter,
        preamble: &Preamble,
        context: &Context<'_>,
    ) -> Selection<'a> {
        let stated = preamble.metadata.version.known();
        if context.transport == Transport::HttpSse {
            let data = self.supported(
                |adapter| adapter.has_handshake,
                |data| {
                    data.string("requested", stated.unwrap_or_default());
                },
            );
            let why = "this transport begins with a handshake";
            let failure = Failure::new(FailureKind::UnsupportedVersion, why).with_data(data);
            return Selection::refused(self.newest_handshake().unwrap_or(adapter), failure);
        }
        let known = stated
            .and_then(|version| self.by_version(version))
            .filter(|known| !known.has_handshake && (context.pin.is_none() || *known == adapter));
        let rules = known.unwrap_or(adapter);
        let mirrors = (context.transport == Transport::Http && rules.mirrors_headers)
            .then(|| (context.mirrors, Mirrored::of(rules, preamble)));
        let checks = || {
            if preamble.id().is_some() {
                mirrors.as_ref().map_or(Ok(()), |(headers, body)| headers.require(body))?;
                preamble.metadata.require(&preamble.message)?;
            }
            mirrors.as_ref().map_or(Ok(()), |(headers, body)| headers.agree(body))?;
            match (stated, known) {
                (Some(version), None) => Err(self.unsupported(version)),
                _ => Ok(()),
            }
        };
        match checks() {
            Ok(()) => Selection::Adapter(rules),
            // Who knows nothing of this era learns what there is (R26-VER-07).
            Err(failure) if stated.is_none() => {
                let data = self.supported(|_| true, |_| {});
                Selection::refused(rules, failure.with_data(data))
            }
            Err(failure) => Selection::refused(rules, failure),
        }
    }

    /// Steps 7 and 8.
    fn evidence<'a>(&'a self, context: &Context<'_>) -> Evidence<'a> {
        let header = match context.transport {
            Transport::Http => context.mirrors.stated_version(),
            Transport::Stdio | Transport::HttpSse => Ok(None),
        };
        let refused = |adapter, failure| Evidence::Settled(Selection::refused(adapter, failure));
        let in_set = |version| match self.by_version(version) {
            Some(adapter) => Evidence::For(adapter),
            None => refused(self.fallback(), self.unsupported(version)),
        };
        match (context.established, header) {
            (Established::Pending, _) => Evidence::Settled(Selection::AwaitSession),
            (Established::None, Ok(None)) => Evidence::None,
            (Established::None, Ok(Some(version))) => in_set(version),
            (Established::None, Err(failure)) => refused(self.fallback(), failure),
            (Established::Adapter(settled), header) => match (in_set(settled.version), header) {
                (Evidence::For(adapter), Ok(Some(version))) if version != adapter.version => {
                    refused(adapter, other_version("the session"))
                }
                (Evidence::For(adapter), Err(failure)) => refused(adapter, failure),
                (evidence, _) => evidence,
            },
        }
    }

    /// Step 9 over HTTP (R2506-HDR-02, R26-HDR-02).
    fn assume<'a>(&'a self, context: &Context<'_>) -> Selection<'a> {
        match self.iter().find(|adapter| adapter.assumed) {
            Some(adapter) => in_session(adapter, context),
            None => {
                let why = "the header MCP-Protocol-Version is missing";
                let failure = Failure::new(FailureKind::HeaderMismatch, why);
                Selection::refused(self.fallback(), failure)
            }
        }
    }

    /// Step 9 elsewhere (C20, T-15). What needs no answer needs no revision either; a client
    /// without handshake cancels by a notification that names no version.
    fn unannounced<'a>(&'a self, handshake: &'a Adapter, preamble: &Preamble) -> Selection<'a> {
        if preamble.id().is_none() {
            return Selection::Adapter(self.newest_modern().unwrap_or(handshake));
        }
        match preamble.method().and_then(|method| handshake.operation_for(method)) {
            Some(Operation::Ping) => Selection::Adapter(handshake),
            _ => {
                let why = "send `initialize` first, or state the protocol version in `_meta`";
                Selection::malformed(handshake, why)
            }
        }
    }

    /// Only revisions without handshake have the method, whether or not they are served.
    fn is_only_modern(&self, preamble: &Preamble) -> bool {
        let Some(method) = preamble.method() else { return false };
        let has = |adapter: &Adapter| adapter.operation_for(method).is_some();
        let mut published = Revision::ALL.iter().map(|it| it.adapter());
        !self.iter().any(|it| it.has_handshake && has(it))
            && (self.iter().any(has) || published.any(|it| !it.has_handshake && has(it)))
    }
}

/// What a session or a header says.
enum Evidence<'a> {
    /// It is of this revision.
    For(&'a Adapter),
    /// There is nothing left to decide.
    Settled(Selection<'a>),
    /// Nothing.
    None,
}

/// The revision has a handshake; where that opens a session, there must be one.
fn in_session<'a>(adapter: &'a Adapter, context: &Context<'_>) -> Selection<'a> {
    let session = matches!(context.established, Established::Adapter(_));
    if context.transport == Transport::Http && context.require_session && !session {
        return Selection::malformed(adapter, "a session is needed: send `initialize` first");
    }
    Selection::Adapter(adapter)
}

/// The message is a request that begins a handshake.
fn opens(adapter: &Adapter, preamble: &Preamble) -> bool {
    preamble.id().is_some()
        && preamble.method().and_then(|method| adapter.operation_for(method))
            == Some(Operation::Describe)
}

fn other_version(than: &str) -> Failure {
    let why = format!("MCP-Protocol-Version names another version than {than}");
    Failure::new(FailureKind::HeaderMismatch, why)
}
