//! The example `mcp`, as a process that talks to a process: what it prints of hostile and of partial
//! servers.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::process::{Server, bounded};

/// Runs `mcp` against a shell's script that speaks for a server, on both drivers.
fn mcp(script: &str, verb: &[&str]) -> Vec<(String, String, Option<i32>)> {
    let run = |mut command: Command| {
        command.args(["sh", "-c", script]).args(verb);
        let Output { status, stdout, stderr } = bounded(&mut command);
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        (text(stdout), text(stderr), status.code())
    };
    programs().map(run).into()
}

/// The example on both drivers.
fn programs() -> [Command; 2] {
    ["mcp", "mcp-async-std"].map(|name| {
        let built = Path::new(env!("CARGO_BIN_EXE_server-tokio")).with_file_name("examples");
        let program = built.join(name);
        assert!(program.exists(), "{name} is not built: `tests/run examples` builds it");
        Command::new(program)
    })
}

/// Reads a line, and says one.
fn says(line: &str) -> String {
    format!("read -r line; printf '%s\\n' '{line}'\n")
}

const GREETED: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{},"prompts":{}},"serverInfo":{"name":"s","version":"1"}}}"#;

fn greets() -> String {
    let unknown = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#;
    says(unknown) + &says(GREETED) + "read -r initialized\n"
}

#[test]
fn a_list_that_cannot_be_had_hides_no_other_and_its_error_cannot_act_on_a_terminal() {
    let tools = r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"\u001b]0;owned\u0007 \u009b2J \u202ebad\r\nmcp: all is well"}}"#;
    let resources = r#"{"jsonrpc":"2.0","id":4,"result":{"resources":[{"uri":"a:b","name":"n"}]}}"#;
    let templates =
        r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"no such method"}}"#;
    let prompts = r#"{"jsonrpc":"2.0","id":6,"result":{"prompts":[{"name":"p"}]}}"#;
    let script =
        greets() + &[tools, resources, templates, prompts].map(says).concat() + "read -r end";
    for (stdout, stderr, code) in mcp(&script, &["describe"]) {
        assert_eq!(code, Some(0), "{stdout}{stderr}");
        assert!(stdout.contains("a:b") && stdout.contains("\n  p"), "{stdout}");
        let said = r"warning: no list of tools: the server answered with error -32603: \u{1b}]0;owned\u{7} \u{9b}2J \u{202e}bad\r\nmcp: all is well";
        assert_eq!(stderr.trim_end(), said);
    }
}

#[test]
fn a_subscription_that_its_server_ends_is_taken_up_again_and_given_up_with_a_word() {
    let discovered = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private"}}"#;
    let listens = (2..=7).map(|id| {
        let meta = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
        let acknowledged = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{{meta},"notifications":{{"toolsListChanged":true}}}}}}"#
        );
        let end = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete",{meta}}}}}"#);
        says(&acknowledged) + &format!("printf '%s\\n' '{end}'\n")
    });
    let script = says(discovered) + &listens.collect::<String>() + "read -r end";
    for (stdout, stderr, code) in mcp(&script, &["listen"]) {
        assert_eq!(code, Some(3), "{stdout}{stderr}");
        assert_eq!(stdout.matches("listening\n").count(), 6, "{stdout}");
        assert_eq!(stdout.matches("missed\n").count(), 5, "{stdout}");
        let again = "mcp: the server ended the subscription; listening again\n";
        assert_eq!(stderr.matches(again).count(), 5, "{stderr}");
        assert!(stderr.ends_with("mcp: the server ended the subscription time and again\n"));
    }
}

#[test]
fn what_a_server_says_on_stderr_goes_to_the_clients_as_it_is() {
    let said = b"one\n\xfftwo\n";
    let script = "printf 'one\\n\\377two\\n' >&2; exec \"$0\" --stdio";
    for mut command in programs() {
        command.args(["sh", "-c", script, env!("CARGO_BIN_EXE_server-tokio"), "listen"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut heard = vec![0; said.len()];
        let mut client = Server::start(&mut command);
        client.stderr().read_exact(&mut heard).expect("it is told");
        assert_eq!(heard, said);
    }
}

#[test]
fn a_server_says_what_it_likes_though_nobody_reads_its_clients_stderr() {
    let script = "yes | head -c 10000000 >&2; exec \"$0\" --stdio";
    for mut command in programs() {
        command.args(["sh", "-c", script, env!("CARGO_BIN_EXE_server-tokio"), "ping"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Its stderr is read by nobody, ever.
        assert_eq!(Server::start(&mut command).wait().code(), Some(0));
    }
}
