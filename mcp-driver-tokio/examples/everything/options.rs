//! The command line, and what the example says when it starts.

/// What to serve on.
pub(crate) enum Options {
    /// This process's stdin and stdout.
    Stdio,
    /// HTTP at an address.
    Listen(String),
}

const USAGE: &str = "usage: everything [--listen ADDRESS:PORT | --stdio]";

impl Options {
    /// Reads the command line; ends the process where it says something else.
    pub(crate) fn read() -> Self {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match words[..] {
            [] => Self::Listen("127.0.0.1:8080".into()),
            ["--stdio"] => Self::Stdio,
            ["--listen", address] => Self::Listen(address.into()),
            _ => {
                eprintln!("{USAGE}");
                std::process::exit(2)
            }
        }
    }
}

/// What to try once the server at `url` runs.
pub(crate) fn banner(url: &str) -> String {
    let program = std::env::current_exe().unwrap_or_default();
    let program = program.display();
    format!(
        r#"Call a tool:

  curl {url} -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
    -d '{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"add","arguments":{{"a":2,"b":40}}}}}}'

In a desktop host's configuration, this starts it on stdio:

  {{ "mcpServers": {{ "everything": {{ "command": "{program}", "args": ["--stdio"] }} }} }}
"#
    )
}
