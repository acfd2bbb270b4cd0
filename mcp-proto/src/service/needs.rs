//! What handlers need of their registry.

use core::any::{TypeId, type_name};

/// What a handler needs, as its arguments say it. Checked when the registry is built.
#[derive(Debug, Default)]
pub struct Needs {
    pub(crate) states: Vec<(TypeId, &'static str)>,
    pub(crate) provided: Vec<(TypeId, &'static str)>,
    pub(crate) http_only: Option<&'static str>,
    pub(crate) principal: bool,
    pub(crate) exchange: bool,
    pub(crate) parts: bool,
    pub(crate) arguments: Option<Arguments>,
    pub(crate) raw_arguments: bool,
    pub(crate) completing: bool,
}

/// How a handler's arguments are shaped, and by which type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments {
    pub(crate) schema: fn() -> schemars::Schema,
    pub(crate) type_name: &'static str,
}

impl Needs {
    /// The registry must have a state of type `S`.
    pub fn state<S: 'static>(&mut self) {
        self.states.push((TypeId::of::<S>(), type_name::<S>()));
    }

    /// The registry must provide a `T`.
    pub fn provided<T: 'static>(&mut self) {
        self.provided.push((TypeId::of::<T>(), type_name::<T>()));
    }

    /// There must be an HTTP request: stdio refuses to start. `what` names the argument.
    pub fn http_only(&mut self, what: &'static str) {
        self.http_only = Some(what);
        self.parts = true;
    }

    /// Somebody must say who calls: servers without a guard refuse to start.
    pub fn principal(&mut self) {
        self.principal = true;
    }

    /// The HTTP request is looked at, where there is one.
    pub fn http(&mut self) {
        self.parts = true;
    }

    /// The handler may log, so the server declares that it does; and it may look at the HTTP
    /// request.
    pub fn exchange(&mut self) {
        self.exchange = true;
        self.parts = true;
    }
}
