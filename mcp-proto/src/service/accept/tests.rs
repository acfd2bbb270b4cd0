use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures_util::future::join;

use super::super::Shared;
use super::super::crowd::Stage;
use super::super::world::{End, VirtualTime, pair};
use super::*;
use crate::time::Instant;

/// Gives what it was told to, then nothing.
struct Script(VecDeque<io::Result<(End, IpAddr)>>);

fn script(outcomes: impl IntoIterator<Item = Result<(), ErrorKind>>) -> Script {
    let outcome = |outcome: Result<(), ErrorKind>| match outcome {
        Ok(()) => Ok((pair(1).0, [127, 0, 0, 1].into())),
        Err(kind) => Err(kind.into()),
    };
    Script(outcomes.into_iter().map(outcome).collect())
}

impl Listener for Script {
    type Stream = End;

    fn poll_accept(&mut self, _: &mut Context<'_>) -> Poll<io::Result<(End, SocketAddr)>> {
        let next = self.0.pop_front().map_or(Poll::Pending, Poll::Ready);
        next.map_ok(|(end, address)| (end, (address, 1).into()))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(([127, 0, 0, 1], 8080).into())
    }
}

const SECOND: Duration = Duration::from_secs(1);

/// A listener of that script in virtual time; who was let in, and what the log says.
struct Town {
    time: VirtualTime,
    most_per_peer: Option<usize>,
    members: RefCell<Vec<Option<Member>>>,
    log: Arc<Mutex<Vec<String>>>,
}

impl Town {
    fn new() -> Self {
        Self {
            time: VirtualTime::default(),
            most_per_peer: None,
            members: RefCell::default(),
            log: Arc::default(),
        }
    }

    fn run<T>(
        &self,
        listener: Script,
        most: usize,
        until: u64,
        guest: impl Future<Output = T>,
    ) -> T {
        let log = Arc::clone(&self.log);
        let notices = Notices::new(move |line: &str| log.lock().unwrap().push(line.to_owned()));
        let most_per_peer = self.most_per_peer;
        let terms = Terms { most, most_per_peer, grace: 10 * SECOND, notices };
        let acceptor = Acceptor { runtime: &self.time, terms };
        let until = self.time.sleep(SECOND * u32::try_from(until).unwrap());
        let served = acceptor.run::<_, Shared>(listener, until, |_, _, member| {
            self.members.borrow_mut().push(Some(member));
        });
        self.time.run(served, guest).1
    }

    fn open(&self) -> usize {
        self.members.borrow().iter().flatten().count()
    }

    fn leave(&self, number: usize) {
        drop(self.members.borrow_mut()[number].take());
    }

    fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

#[test]
fn no_more_connections_are_open_than_allowed_and_the_next_waits_its_turn() {
    let town = Town::new();
    town.run(script([Ok(()); 3]), 2, 5, async {
        town.time.sleep(SECOND).await;
        assert_eq!(town.open(), 2);
        town.leave(0);
        town.time.sleep(SECOND).await;
        assert_eq!((town.open(), town.members.borrow().len()), (2, 3));
        // It is told once, and not whenever one waits.
        assert_eq!(town.log().len(), 1);
        assert!(town.log()[0].contains("`connections`"), "{:?}", town.log());
        town.leave(1);
        town.leave(2);
    });
}

/// Connections from these addresses.
fn from(addresses: &[&str]) -> Script {
    Script(addresses.iter().map(|it| Ok((pair(1).0, it.parse().unwrap()))).collect())
}

#[test]
fn one_peer_has_so_many_connections_and_others_have_theirs() {
    for (addresses, let_in) in [
        (&["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"][..], 3),
        // The same address, as a socket of both families spells it.
        (&["192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1", "::1"], 3),
        (&["2001:db8::1", "2001:db8::2:0:0:1", "2001:db8:0:0:ffff::7", "2001:db8:0:1::1"], 3),
        (&["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"], 4),
    ] {
        let town = Town { most_per_peer: Some(2), ..Town::new() };
        town.run(from(addresses), 10, 5, async {
            town.time.sleep(SECOND).await;
            assert_eq!(town.open(), let_in, "{addresses:?}");
            let refused = usize::from(let_in < addresses.len());
            assert_eq!(town.log().len(), refused, "{:?}", town.log());
            assert!(town.log().iter().all(|line| line.contains("`connections_per_peer`")));
            (0..let_in).for_each(|number| town.leave(number));
        });
    }
    // Who leaves makes room.
    let town = Town { most_per_peer: Some(1), ..Town::new() };
    town.run(from(&["192.0.2.1"; 2]), 1, 5, async {
        town.time.sleep(SECOND).await;
        assert_eq!(town.open(), 1);
        town.leave(0);
        town.time.sleep(SECOND).await;
        assert_eq!((town.open(), town.members.borrow().len()), (1, 2));
        town.leave(1);
    });
}

#[test]
fn errors_end_nothing_and_those_that_would_repeat_are_waited_out() {
    let full = ErrorKind::Other; // too many open files has no kind of its own
    let town = Town::new();
    let outcomes = [Err(ErrorKind::ConnectionAborted), Err(full), Err(full), Err(full), Ok(())];
    town.run(script(outcomes), 2, 5, async {
        town.time.sleep(PAUSE).await;
        assert_eq!((town.open(), town.log().len()), (0, 2));
        town.time.sleep(PAUSE * 2).await;
        assert_eq!((town.open(), town.log().len()), (0, 3));
        town.time.sleep(PAUSE * 4).await;
        assert_eq!((town.open(), town.log().len()), (1, 3));
        town.leave(0);
    });
}

#[test]
fn at_the_end_connections_are_told_and_waited_for() {
    let town = Town::new();
    let ended = town.run(script([Ok(())]), 2, 1, async {
        town.time.sleep(SECOND / 2).await;
        let member = town.members.borrow_mut()[0].take().unwrap();
        member.until(Stage::Draining).await;
        town.time.sleep(9 * SECOND).await;
        drop(member);
        town.time.time()
    });
    assert_eq!(ended, Instant::from_millis(10_000));
    assert_eq!((town.time.time(), town.log().len()), (ended, 0), "nothing waited any longer");
}

#[test]
fn who_stays_too_long_is_cut_off() {
    let town = Town::new();
    let cut_off = town.run(script([Ok(())]), 2, 1, async {
        town.time.sleep(SECOND / 2).await;
        let member = town.members.borrow_mut()[0].take().unwrap();
        let ((), ()) = join(member.until(Stage::Draining), member.until(Stage::Over)).await;
        town.time.time()
    });
    assert_eq!(cut_off, Instant::from_millis(11_000));
    assert_eq!(town.log(), ["connections were cut off: their calls did not end in time"]);
}
