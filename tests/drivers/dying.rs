//! Servers that end, or never began, and what their client is told of it.

use mcp_driver_tokio::client::{Client, ClientError, ErrorKind, Process, Ran, Stderr};
use mcp_proto::revision::Revision;

use crate::client::{Runs, run};

crate::for_both_clients! {
    a_server_that_dies_at_once_is_told_of_with_its_end_and_its_last_words
    a_server_that_dies_in_a_call_is_told_of_with_its_end_and_its_last_words
    a_server_that_closes_its_output_and_lives_on_is_told_of
    a_program_that_cannot_be_started_is_named
    what_goes_elsewhere_is_not_told
}

fn connects<D: Runs>(
    command: &[&str],
    change: impl FnOnce(Process) -> Process,
) -> Result<Client<D>, ClientError> {
    run::<D, _>(Client::<D>::stdio(command).process(change).connect())
}

fn why<D: Runs>(script: &str) -> String {
    let error = connects::<D>(&["sh", "-c", script], |it| it.stderr(Stderr::drain(|_| ())));
    let error = error.err().expect("it ended");
    assert!(matches!(error.kind, ErrorKind::Connection(_)) && error.ran == Ran::Never);
    error.to_string()
}

fn a_server_that_dies_at_once_is_told_of_with_its_end_and_its_last_words<D: Runs>() {
    let many = (93..=100).map(|line| format!("line {line}")).collect::<Vec<_>>().join(" | ");
    for (script, expected) in [
        ("exit 0", "ended with exit code 0".to_owned()),
        ("exit 3", "ended with exit code 3".to_owned()),
        (
            "echo no configuration >&2; echo give --config >&2; exit 64",
            "ended with exit code 64; on stderr: no configuration | give --config".to_owned(),
        ),
        (
            r"printf '\033]0;owned\007 bad\r\n' >&2; exit 1",
            r"ended with exit code 1; on stderr: \u{1b}]0;owned\u{7} bad".to_owned(),
        ),
        (
            "for n in $(seq 100); do echo line $n >&2; done; exit 2",
            format!("ended with exit code 2; on stderr: {many}"),
        ),
        ("echo oh >&2; kill -9 $$", "was ended by signal 9 (SIGKILL); on stderr: oh".to_owned()),
    ] {
        assert_eq!(why::<D>(script), format!("the server `sh` {expected}"));
    }
    let long = why::<D>("yes | tr -d '\\n' | head -c 1000000 >&2; exit 1");
    assert!(long.len() < 5_000 && long.ends_with("yyyy"), "{long}");
}

fn a_server_that_dies_in_a_call_is_told_of_with_its_end_and_its_last_words<D: Runs>() {
    let answers = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
    let script = format!(
        "read -r hello; echo '{answers}'; read -r initialized; read -r call; echo lost >&2; exit 7"
    );
    run::<D, _>(async {
        let client = Client::<D>::stdio(["sh", "-c", &script]).revision(Revision::V2025_11_25);
        let client = client.connect().await.expect("connects");
        let error = client.call_tool("add", &()).await.expect_err("it died");
        assert_eq!(
            format!("{error:?}"),
            "the server `sh` ended with exit code 7; on stderr: lost (the call may have run)"
        );
        assert_eq!(error.ran, Ran::Maybe);
    });
}

fn a_server_that_closes_its_output_and_lives_on_is_told_of<D: Runs>() {
    let said = why::<D>("echo bye >&2; exec 1>&-; exec sleep 1000");
    assert_eq!(said, "the server `sh` closed its output; on stderr: bye");
}

fn a_program_that_cannot_be_started_is_named<D: Runs>() {
    let said = |command: &[&str], change: fn(Process) -> Process| {
        let error = connects::<D>(command, change).err().expect("there is none");
        assert_eq!(error.ran, Ran::Never);
        error.to_string()
    };
    let as_it_is = |process| process;
    for program in ["no-such-program-anywhere", "/no/such/program", ""] {
        assert_eq!(
            said(&[program, "--token=secret"], as_it_is),
            format!(
                "cannot start the server `{program}`: no such program; install it, or give its \
                 whole path"
            )
        );
    }
    let denied = said(&["/etc/passwd"], as_it_is);
    assert!(denied.starts_with("cannot start the server `/etc/passwd`: Permission"), "{denied}");
    assert_eq!(
        said(&["sh"], |process| process.directory("/no/such/place")),
        "cannot start the server `sh`: there is no directory /no/such/place"
    );
}

fn what_goes_elsewhere_is_not_told<D: Runs>() {
    for stderr in [Stderr::Discard, Stderr::Inherit] {
        let script = "echo told elsewhere >&2; exit 5";
        let error = connects::<D>(&["sh", "-c", script], |process| process.stderr(stderr));
        let error = error.err().expect("it ended").to_string();
        assert_eq!(error, "the server `sh` ended with exit code 5");
    }
}
