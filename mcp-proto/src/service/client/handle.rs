//! The handle itself.

use core::future::Future;
use core::marker::PhantomData;
use core::task::{Poll, Waker};
use std::sync::Arc;

use serde::Serialize;

use super::calls::{Pages, Pending};
use super::inner::Shared;
use super::replies::{self, ToolReply};
use super::{ClientBuilder, Listening};
use crate::client::{ClientError, ErrorKind, Learned, Server};
use crate::model::{
    Completing, Completion, Description, Filter, Implementation, Json, LogLevel, Operation, Prompt,
    PromptResult, Reply, Request, Resource, ResourceResult, ResourceTemplate, Tool,
};

/// A client of one server. Clones are handles to the same one; the last one that is dropped ends
/// it.
///
/// What it calls and how is the same whatever revision the server speaks, and whatever carries the
/// messages. `D` is the driver that it was made with, if it was.
pub struct Client<D = ()> {
    handle: Arc<Handle>,
    driver: PhantomData<fn() -> D>,
}

impl<D> Clone for Client<D> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone(), driver: PhantomData }
    }
}

/// Ends the client with the last handle.
pub(super) struct Handle {
    shared: Arc<Shared>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.command(|machine, now| machine.close(now));
    }
}

impl Client<()> {
    /// A client of that name and version, to be connected to a server.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(Implementation::new(name, version))
    }

    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { handle: Arc::new(Handle { shared }), driver: PhantomData }
    }

    /// The same client, made with a driver.
    pub(super) fn on<D>(self) -> Client<D> {
        Client { handle: self.handle, driver: PhantomData }
    }
}

impl<D> Client<D> {
    fn shared(&self) -> &Arc<Shared> {
        &self.handle.shared
    }

    // ---- the server ----

    /// Waits until the server is known.
    ///
    /// # Errors
    /// Why it is not. The next call tries again.
    pub fn ready(&self) -> impl Future<Output = Result<Arc<Server>, ClientError>> + Send + 'static {
        let shared = self.shared().clone();
        core::future::poll_fn(move |cx| {
            let mut state = shared.lock();
            if let Some(server) = &state.server {
                return Poll::Ready(server.clone());
            }
            if state.is_over {
                return Poll::Ready(Err(ClientError::never(ErrorKind::Closed)));
            }
            await_it(&mut state.awaiting_server, cx.waker());
            Poll::Pending
        })
    }

    /// The server, once it is known: its revision, its name, what it can do, how to use it.
    pub fn server(&self) -> Option<Arc<Server>> {
        self.shared().lock().carried.machine().server().cloned()
    }

    /// The version of the protocol that is spoken, once that is known.
    pub fn revision(&self) -> Option<&'static str> {
        self.server().map(|server| server.adapter.version)
    }

    /// What was learned, for the next client of this server (R26-VER-06).
    pub fn learned(&self) -> Option<Learned> {
        self.shared().lock().carried.machine().learned()
    }

    // ---- tools ----

    /// All tools.
    pub fn list_tools(&self) -> Pending<Vec<Tool>> {
        self.list(Operation::ListTools, |reply| Ok(replies::tools(reply)?.entries))
    }

    /// Tools, page after page.
    pub fn tool_pages(&self) -> Pages<Tool> {
        Pages::new(self.shared(), Operation::ListTools, replies::tools)
    }

    /// Calls a tool with arguments that serialize to an object; `&()` for none.
    pub fn call_tool<T: Serialize + ?Sized>(
        &self,
        name: &str,
        arguments: &T,
    ) -> Pending<ToolReply> {
        let request =
            object(arguments).map(|arguments| Request::call_tool(name.to_owned(), arguments));
        Pending::new(self.shared(), request, ToolReply::of)
    }

    // ---- resources ----

    /// All resources.
    pub fn list_resources(&self) -> Pending<Vec<Resource>> {
        self.list(Operation::ListResources, |reply| Ok(replies::resources(reply)?.entries))
    }

    /// Resources, page after page.
    pub fn resource_pages(&self) -> Pages<Resource> {
        Pages::new(self.shared(), Operation::ListResources, replies::resources)
    }

    /// All resource templates.
    pub fn list_resource_templates(&self) -> Pending<Vec<ResourceTemplate>> {
        let read: super::calls::Read<_> = |reply| Ok(replies::templates(reply)?.entries);
        self.list(Operation::ListResourceTemplates, read)
    }

    /// Resource templates, page after page.
    pub fn resource_template_pages(&self) -> Pages<ResourceTemplate> {
        Pages::new(self.shared(), Operation::ListResourceTemplates, replies::templates)
    }

    /// Reads the resource at `uri`, which is sent as it is.
    pub fn read_resource(&self, uri: &str) -> Pending<ResourceResult> {
        let request = Request::read_resource(uri.to_owned());
        Pending::new(self.shared(), Ok(request), replies::resource)
    }

    // ---- prompts ----

    /// All prompts.
    pub fn list_prompts(&self) -> Pending<Vec<Prompt>> {
        self.list(Operation::ListPrompts, |reply| Ok(replies::prompts(reply)?.entries))
    }

    /// Prompts, page after page.
    pub fn prompt_pages(&self) -> Pages<Prompt> {
        Pages::new(self.shared(), Operation::ListPrompts, replies::prompts)
    }

    /// Gets a prompt with arguments that serialize to an object; `&()` for none. Numbers and
    /// booleans are sent as their text, and null is left out (R24-PRMT-03).
    pub fn get_prompt<T: Serialize + ?Sized>(
        &self,
        name: &str,
        arguments: &T,
    ) -> Pending<PromptResult> {
        let request =
            object(arguments).map(|arguments| Request::get_prompt(name.to_owned(), arguments));
        Pending::new(self.shared(), request, replies::prompt)
    }

    // ---- the rest ----

    /// Completes an argument.
    pub fn complete(&self, completing: Completing) -> Pending<Completion> {
        Pending::new(self.shared(), Ok(Request::complete(completing)), replies::completion)
    }

    /// Asks for log messages of this severity and above, in the revision's way.
    pub fn set_log_level(&self, level: LogLevel) -> Pending<()> {
        Pending::new(self.shared(), Ok(Request::set_log_level(level)), replies::done)
    }

    /// Asks for a sign of life.
    pub fn ping(&self) -> Pending<()> {
        Pending::new(self.shared(), Ok(Request::ping()), replies::done)
    }

    /// Has the server describe itself, anew where the revision can be asked.
    pub fn describe(&self) -> Pending<Description> {
        Pending::new(self.shared(), Ok(Request::describe()), replies::description)
    }

    /// Calls a method of an extension; `params` serialize to an object, `&()` for none.
    pub fn request<T: Serialize + ?Sized>(&self, method: &str, params: &T) -> Pending<Json> {
        let request = object(params).map(|params| Request::extension(method.to_owned(), params));
        Pending::new(self.shared(), request, replies::raw)
    }

    /// Makes any call, and gives its whole reply.
    pub fn call(&self, request: Request) -> Pending<Reply> {
        Pending::new(self.shared(), Ok(request), Ok)
    }

    /// Is told of changes, in the revision's way, until the stream is dropped.
    pub fn listen(&self, filter: Filter) -> Listening {
        Listening::new(self.shared(), filter)
    }

    /// Forgets what the [cache](ClientBuilder::cache) holds that may not be shared between
    /// credentials: they are others from here on (R26-CACHE-08).
    pub fn forget_private(&self) {
        self.shared().command(|machine, _| machine.forget_private());
    }

    /// Ends the client, whoever else has a handle, and waits until everything is said.
    pub fn close(&self) -> impl Future<Output = ()> + Send + 'static {
        let shared = self.shared().clone();
        shared.command(|machine, now| machine.close(now));
        core::future::poll_fn(move |cx| {
            let mut state = shared.lock();
            if state.is_over {
                return Poll::Ready(());
            }
            await_it(&mut state.awaiting_end, cx.waker());
            Poll::Pending
        })
    }

    fn list<T>(&self, operation: Operation, read: super::calls::Read<Vec<T>>) -> Pending<Vec<T>> {
        Pending::new(self.shared(), Ok(Request::list(operation)), read)
    }
}

fn await_it(wakers: &mut Vec<Waker>, waker: &Waker) {
    if !wakers.iter().any(|known| known.will_wake(waker)) {
        wakers.push(waker.clone());
    }
}

/// The arguments as an object; none where they serialize to null, as `()` does.
fn object<T: Serialize + ?Sized>(value: &T) -> Result<Option<Json>, ClientError> {
    use crate::frame::json::Kind;
    let json = Json::of(value).map_err(|_| misuse())?;
    match json.kind() {
        Kind::Object => Ok(Some(json)),
        Kind::Null => Ok(None),
        _ => Err(misuse()),
    }
}

fn misuse() -> ClientError {
    ClientError::never(ErrorKind::Misuse("arguments serialize to an object"))
}
