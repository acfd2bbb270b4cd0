//! stdio by the kind of its descriptors.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use crate::on_both_drivers;
use crate::process::{Server, call};

on_both_drivers! {
    pipes_carry_calls_and_their_end_ends_the_process
    a_socket_in_place_of_pipes_does_the_same
    files_are_read_to_their_end_and_written_whole
    nothing_to_read_ends_the_process_at_once
    a_thread_that_still_reads_does_not_keep_the_process
    a_reply_of_ten_megabytes_arrives_whole
    many_lines_in_one_read_are_answered_in_one_write
    a_call_may_end_after_its_input_did
    a_call_that_does_not_end_is_cut_off_after_the_grace
    a_reader_that_is_gone_ends_the_process_in_order
    a_line_without_end_is_skipped_and_the_next_one_answered
    what_a_handler_prints_and_its_children_read_is_none_of_the_protocol
    where_the_streams_are_shared_a_print_stands_among_the_messages
    a_log_that_nobody_reads_stops_no_call
}

fn pipes_carry_calls_and_their_end_ends_the_process(program: &str) {
    let mut server = Server::on_stdio(program, &[], Stdio::piped(), Stdio::piped());
    let mut stdin = server.stdin();
    let mut stdout = server.stdout();
    for id in 0..3 {
        writeln!(stdin, "{}", call(id, "add", r#"{"a":2,"b":40}"#)).unwrap();
        assert_answer(&line(&mut stdout), id, r#"{"total":42}"#);
    }
    drop(stdin);
    assert!(server.wait().success());
}

/// Some parents give their children sockets instead of pipes.
fn a_socket_in_place_of_pipes_does_the_same(program: &str) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let stdin = OwnedFd::from(theirs.try_clone().unwrap());
    let mut server = Server::on_stdio(program, &[], stdin, OwnedFd::from(theirs));
    let mut reader = BufReader::new(ours.try_clone().unwrap());
    for id in 0..3 {
        writeln!(&ours, "{}", call(id, "add", r#"{"a":2,"b":40}"#)).unwrap();
        assert_answer(&line(&mut reader), id, r#"{"total":42}"#);
    }
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(server.wait().success());
    assert_eq!(reader.read_to_end(&mut Vec::new()).unwrap(), 0);
}

fn files_are_read_to_their_end_and_written_whole(program: &str) {
    let requests = file_of(&format!(
        "{}\n{}\n{}",
        call(1, "big", r#"{"bytes":3000000}"#),
        call(2, "add", r#"{"a":2,"b":40}"#),
        call(3, "whoami", "{}"),
    ));
    let mut replies = tempfile::tempfile().unwrap();
    let mut server = Server::on_stdio(program, &[], requests, replies.try_clone().unwrap());
    assert!(server.wait().success());
    replies.seek(SeekFrom::Start(0)).unwrap();
    let lines: Vec<String> = BufReader::new(replies).lines().map(Result::unwrap).collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].len() > 3_000_000 && lines[0].ends_with('}'));
    assert_answer(&lines[1], 2, r#"{"total":42}"#);
    assert_answer(&lines[2], 3, "nobody");
}

/// C73, R26-STDIO-16.
fn nothing_to_read_ends_the_process_at_once(program: &str) {
    let mut server = Server::on_stdio(program, &[], Stdio::null(), Stdio::null());
    assert!(server.wait().success());
}

/// C73: a terminal where nobody types.
fn a_thread_that_still_reads_does_not_keep_the_process(program: &str) {
    let terminal = File::options().read(true).write(true).open("/dev/ptmx").unwrap();
    let mut server = Server::on_stdio(program, &["--ends"], terminal, Stdio::null());
    assert!(server.wait().success());
}

/// C76.
fn a_reply_of_ten_megabytes_arrives_whole(program: &str) {
    let requests = file_of(&call(1, "big", r#"{"bytes":10000000}"#));
    let mut server = Server::on_stdio(program, &[], requests, Stdio::piped());
    let mut stdout = server.stdout();
    let reply = line(&mut stdout);
    assert!(reply.len() > 10_000_000 && reply.ends_with('}'), "{} bytes", reply.len());
    assert!(server.wait().success());
}

fn many_lines_in_one_read_are_answered_in_one_write(program: &str) {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let stdin = OwnedFd::from(theirs.try_clone().unwrap());
    let _server = Server::on_stdio(program, &[], stdin, OwnedFd::from(theirs));
    let requests: String = (0..20).map(|id| call(id, "add", r#"{"a":1,"b":1}"#) + "\n").collect();
    assert!(requests.len() < 8192, "one read of the server");
    ours.write_all(requests.as_bytes()).unwrap();
    let mut replies = [0; 16384];
    let read = ours.read(&mut replies).unwrap();
    assert_eq!(replies[..read].iter().filter(|byte| **byte == b'\n').count(), 20);
}

/// R26-STDIO-16: what runs gets a grace.
fn a_call_may_end_after_its_input_did(program: &str) {
    let requests = file_of(&call(1, "sleep", r#"{"ms":100}"#));
    let mut server = Server::on_stdio(program, &[], requests, Stdio::piped());
    let mut stdout = server.stdout();
    assert_answer(&line(&mut stdout), 1, "slept");
    assert!(server.wait().success());
}

/// C73: a tool that sleeps for an hour does not keep the process.
fn a_call_that_does_not_end_is_cut_off_after_the_grace(program: &str) {
    let grace = ["--grace-ms", "50"];
    let mut server = Server::on_stdio(program, &grace, Stdio::piped(), Stdio::piped());
    let mut stdin = server.stdin();
    let mut stdout = server.stdout();
    let requests = call(1, "sleep", r#"{"ms":3600000}"#) + "\n" + &call(2, "whoami", "{}") + "\n";
    stdin.write_all(requests.as_bytes()).unwrap();
    assert_answer(&line(&mut stdout), 2, "nobody");
    drop(stdin);
    assert!(server.wait().success());
    assert_eq!(stdout.read_to_end(&mut Vec::new()).unwrap(), 0, "nobody is told of the call");
}

/// C80: no panic, no signal, no error.
fn a_reader_that_is_gone_ends_the_process_in_order(program: &str) {
    let mut server = Server::on_stdio(program, &[], Stdio::piped(), Stdio::piped());
    let mut stdin = server.stdin();
    drop(server.stdout());
    writeln!(stdin, "{}", call(1, "big", r#"{"bytes":1000000}"#)).unwrap();
    let status = {
        // The pipe stays open: it is the failed write that ends the process.
        let _open = stdin;
        server.wait()
    };
    assert!(status.success(), "{status}");
}

/// C77.
fn a_line_without_end_is_skipped_and_the_next_one_answered(program: &str) {
    let mut server = Server::on_stdio(program, &[], Stdio::piped(), Stdio::piped());
    let mut stdin = server.stdin();
    let mut stdout = server.stdout();
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..6 {
        stdin.write_all(&chunk).unwrap();
    }
    writeln!(stdin, "\n{}", call(1, "add", r#"{"a":2,"b":40}"#)).unwrap();
    assert_answer(&line(&mut stdout), 1, r#"{"total":42}"#);
}

/// R24-STDIO-03, over each kind of stream.
fn what_a_handler_prints_and_its_children_read_is_none_of_the_protocol(program: &str) {
    let requests: String = (0..3)
        .map(|id| call(id, if id == 1 { "add" } else { "print" }, r#"{"a":2,"b":40}"#) + "\n")
        .collect();
    let answers = ["a child read 0 bytes", r#"{"total":42}"#, "a child read 0 bytes"];
    let check = |lines: &mut dyn Iterator<Item = String>| {
        let mut seen = [false; 3];
        for line in lines {
            let answer: serde_json::Value = serde_json::from_str(&line).expect("a message");
            let id = usize::try_from(answer["id"].as_u64().unwrap()).unwrap();
            assert_answer(&line, id, answers[id]);
            seen[id] = true;
        }
        assert_eq!(seen, [true; 3]);
    };
    // Pipes, while further input waits.
    let mut server = Server::on_stdio(program, &[], Stdio::piped(), Stdio::piped());
    let (mut stdin, stdout) = (server.stdin(), server.stdout());
    stdin.write_all(requests.as_bytes()).unwrap();
    drop(stdin);
    check(&mut stdout.lines().map(Result::unwrap));
    assert!(server.wait().success());
    // A socket.
    let (ours, theirs) = UnixStream::pair().unwrap();
    let stdin = OwnedFd::from(theirs.try_clone().unwrap());
    let mut server = Server::on_stdio(program, &[], stdin, OwnedFd::from(theirs));
    (&ours).write_all(requests.as_bytes()).unwrap();
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    check(&mut BufReader::new(ours).lines().map(Result::unwrap));
    assert!(server.wait().success());
    // Files.
    let mut replies = tempfile::tempfile().unwrap();
    let mut server =
        Server::on_stdio(program, &[], file_of(&requests), replies.try_clone().unwrap());
    assert!(server.wait().success());
    replies.seek(SeekFrom::Start(0)).unwrap();
    check(&mut BufReader::new(replies).lines().map(Result::unwrap));
}

fn where_the_streams_are_shared_a_print_stands_among_the_messages(program: &str) {
    let shared = ["--shared-streams"];
    let requests = file_of(&call(1, "print", "{}"));
    let mut server = Server::on_stdio(program, &shared, requests, Stdio::piped());
    let mut text = String::new();
    server.stdout().read_to_string(&mut text).unwrap();
    assert!(text.contains("POLLUTED by println"), "{text}");
    assert!(text.contains("POLLUTED by a child"), "{text}");
    assert!(server.wait().success());
}

/// A parent that keeps the pipe of stderr and never looks at it.
fn a_log_that_nobody_reads_stops_no_call(program: &str) {
    let (_unread, log) = std::io::pipe().unwrap();
    let mut server = Server::with_log(program, log);
    let (mut stdin, mut stdout) = (server.stdin(), server.stdout());
    for id in 0..3_000 {
        writeln!(stdin, "no message\n{}", call(id, "fail", "{}")).unwrap();
        let answer = line(&mut stdout);
        assert!(answer.contains(&format!(r#""id":{id},"#)), "{answer}");
    }
    drop(stdin);
    assert!(server.wait().success());
}

fn file_of(text: &str) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file
}

fn line(reader: &mut impl BufRead) -> String {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert_eq!(line.pop(), Some('\n'), "a whole line");
    line
}

fn assert_answer(line: &str, id: usize, text: &str) {
    let answer: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(answer["id"], id, "{line}");
    assert_eq!(answer["result"]["content"][0]["text"], text, "{line}");
}
