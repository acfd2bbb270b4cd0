//! A server behind a pair of byte streams.

use mcp_proto::client::{Event, Machine, Output, Stdio};
use mcp_proto::model::Request;
use mcp_proto::revision::Revision;
use mcp_proto::time::Instant;

use super::{LATE, LONGEST, config};

/// Lines that are said once the call is under way, again and again.
#[test]
fn no_server_gets_more_than_its_share_over_byte_streams() {
    type Line = fn(u32) -> String;
    let rows: &[(&str, Line, &str)] = &[
        ("silence", |_| String::new(), LATE),
        ("a line without end", |_| "x".repeat(4_096), LATE),
        ("nonsense", |_| "nonsense\n".into(), LATE),
        (
            "replies to nothing",
            |n| format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{}}}}\n", n + 100),
            LATE,
        ),
        (
            "questions without end",
            |n| format!("{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"roots/list\"}}\n"),
            LATE,
        ),
        (
            "progress without end",
            |_| {
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":2,\"progress\":1}}\n".into()
            },
            LATE,
        ),
        (
            "logs without end",
            |_| {
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n".repeat(100)
            },
            LATE,
        ),
        ("a batch without end", |_| format!("[{}{{}}]\n", "{},".repeat(1_000)), LATE),
    ];
    for (name, line, ends) in rows {
        let mut client = Stdio::new(config([Revision::V2025_11_25]), Instant::ZERO);
        let version = "2025-11-25";
        let greeting = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"protocolVersion\":\"{version}\",\"capabilities\":{{}}}}}}\n"
        );
        client.handle_input(Instant::ZERO, greeting.as_bytes());
        let call = client.call(Instant::ZERO, Request::call_tool("t", None).with_progress());
        let (mut end, mut written) = (None, 0);
        for tenth in 0..10 * (LONGEST as u32 + 1) {
            let now = Instant::from_millis(u64::from(tenth) * 100);
            client.handle_timeout(now);
            client.handle_input(now, line(tenth).as_bytes());
            let mut queued = 0;
            while let Some(output) = client.poll_output() {
                queued += 1;
                if let Output::Event(Event::Ended(id, result)) = output {
                    assert!(id == call && end.is_none(), "{name}");
                    end = Some((result.unwrap_err().to_string(), tenth / 10));
                }
            }
            assert!(queued <= 4_200, "{name}: {queued} events at once");
            let mut out = Vec::new();
            client.transmit(&mut out);
            written += out.len();
        }
        let (error, seconds) = end.unwrap_or_else(|| panic!("{name}: it never ended"));
        println!("{name:44} {written:>10} {seconds:>8}  {error}");
        assert!(error.starts_with(ends), "{name}: {error}");
        assert!(u64::from(seconds) <= LONGEST && written < 128 << 10, "{name}: {written} bytes");
    }
    println!("hostile servers over byte streams: {}", rows.len());
}
