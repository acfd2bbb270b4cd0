//! The core in a loop of one's own: blocking sockets of the standard library, a thread for each
//! connection, no runtime and no futures. It serves every revision over HTTP:
//!
//! ```text
//! cargo run -p mcp-proto --example std_net
//! curl http://127.0.0.1:8080/mcp -H 'Content-Type: application/json' -H 'Accept: application/json' \
//!   -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":40}}}'
//! ```
#![allow(clippy::disallowed_methods, clippy::disallowed_types)] // a driver: clocks are its business

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{self, Duration};

use mcp_proto::effect::{Effect, EffectError, Reply};
use mcp_proto::model::{
    Call, Catalog, Failure, FailureKind, Implementation, Json, Outcome, Tool, ToolResult,
};
use mcp_proto::server::{Closing, Connection, Endpoint, Event, Machine, Output};
use mcp_proto::store::{Record, SessionOp};
use mcp_proto::time::Instant;
use serde::Deserialize;
use serde_json::json;

fn main() -> io::Result<()> {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
        "required": ["a", "b"]
    });
    let mut catalog = Catalog::new(Implementation::new("std_net", env!("CARGO_PKG_VERSION")));
    let mut add = Tool::new("add", Json::from(schema));
    add.description = Some("Add two integers.".into());
    catalog.insert_tool(add);
    let endpoint = Endpoint::builder(Arc::new(catalog)).path("/mcp").allow_delete(true).build();

    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".into());
    let listener = TcpListener::bind(address)?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    let world = Arc::new(World { epoch: time::Instant::now(), sessions: Mutex::default() });
    for stream in listener.incoming() {
        let (stream, endpoint, world) = (stream?, endpoint.clone(), Arc::clone(&world));
        thread::spawn(move || serve(stream, endpoint, &world));
    }
    Ok(())
}

/// Drives one connection to its end.
fn serve(mut stream: TcpStream, endpoint: Endpoint, world: &World) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut connection = Connection::new(endpoint, world.now());
    let (mut incoming, mut outgoing) = ([0; 8192], Vec::new());
    loop {
        match read_until(&mut stream, connection.poll_timeout(), world, &mut incoming)? {
            None => connection.handle_timeout(world.now()),
            Some([]) => connection.handle_eof(world.now()),
            Some(mut input) => {
                while !input.is_empty() {
                    let taken = connection.handle_input(world.now(), input);
                    input = &input[taken..];
                    answer(&mut connection, world);
                }
            }
        }
        answer(&mut connection, world);
        connection.transmit(&mut outgoing);
        stream.write_all(&outgoing)?;
        outgoing.clear();
        match connection.closing() {
            Closing::Open => {}
            Closing::Linger(_) => stream.shutdown(Shutdown::Write)?,
            Closing::AfterFlush | Closing::Closed => return Ok(()),
        }
    }
}

/// Does all that the machine asks for: calls of the application, and effects.
fn answer(connection: &mut Connection, world: &World) {
    while let Some(output) = connection.poll_output() {
        match output {
            Output::Event(Event::Call(id, call)) => connection.respond(id, application(&call)),
            Output::Effect(id, effect) => {
                connection.handle_reply(world.now(), id, world.answer(effect));
            }
            // Nothing takes its time here, so there is nothing to stop.
            _ => {}
        }
    }
}

/// The application: one tool.
fn application(call: &Call) -> Outcome {
    #[derive(Deserialize)]
    struct Add {
        a: i64,
        b: i64,
    }
    if call.target() != Some("add") {
        return Failure::new(FailureKind::UnknownTarget, "there is only `add`").into();
    }
    match call.decode_arguments::<Add>() {
        Ok(Add { a, b }) => {
            let sum = json!({ "total": i128::from(a) + i128::from(b) });
            ToolResult::structured(sum.into()).into()
        }
        Err(error) => Failure::new(FailureKind::InvalidArguments, error.to_string()).into(),
    }
}

/// Reads what there is; `None` once `deadline` has come.
fn read_until<'a>(
    stream: &mut TcpStream,
    deadline: Option<Instant>,
    world: &World,
    into: &'a mut [u8],
) -> io::Result<Option<&'a [u8]>> {
    let wait = deadline.map(|deadline| deadline.saturating_since(world.now()));
    // A timeout of zero would be none at all.
    stream.set_read_timeout(wait.map(|wait| wait.max(Duration::from_millis(1))))?;
    match stream.read(into) {
        Ok(read) => Ok(Some(&into[..read])),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// What the machines ask of the world: time, randomness, and a place for sessions. A server that
/// lives for long would also let sessions expire.
struct World {
    epoch: time::Instant,
    sessions: Mutex<HashMap<String, Record>>,
}

impl World {
    fn now(&self) -> Instant {
        Instant::from_micros(u64::try_from(self.epoch.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    fn answer(&self, effect: Effect) -> Result<Reply, EffectError> {
        match effect {
            Effect::Random => random().map(Reply::Random).map_err(unavailable),
            Effect::Session(op) => self.session(op),
            _ => Err(EffectError::Unavailable("this example has no such thing".into())),
        }
    }

    fn session(&self, op: SessionOp) -> Result<Reply, EffectError> {
        let mut sessions = self.sessions.lock().expect("nothing panics under this lock");
        Ok(match op {
            SessionOp::Create { id, data, .. } => {
                let free = !sessions.contains_key(&id);
                if free {
                    sessions.insert(id, Record { data, version: 1 });
                }
                Reply::Created(free)
            }
            SessionOp::Get { id, .. } => Reply::Record(sessions.get(&id).cloned()),
            SessionOp::Save { id, data, expected_version, .. } => {
                let record = sessions.get_mut(&id).filter(|it| it.version == expected_version);
                Reply::Saved(record.is_some_and(|record| {
                    *record = Record { data, version: expected_version + 1 };
                    true
                }))
            }
            SessionOp::Delete { id } => {
                sessions.remove(&id);
                Reply::Deleted
            }
            _ => return Err(EffectError::Unavailable("this example has no such thing".into())),
        })
    }
}

fn random() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn unavailable(error: io::Error) -> EffectError {
    EffectError::Unavailable(error.to_string())
}
