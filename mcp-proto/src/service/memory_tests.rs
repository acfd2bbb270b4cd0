use super::*;

const TTL: Duration = Duration::from_secs(60);

fn at(seconds: u64) -> Instant {
    Instant::from_millis(1_000 * seconds)
}

fn run(store: &MemorySessionStore, now: Instant, op: SessionOp) -> Reply {
    match store.execute(now, op) {
        Execution::Done(Ok(reply)) => reply,
        other => panic!("memory answers at once: {other:?}"),
    }
}

/// A record of so many bytes, charged to somebody.
fn create_for(
    store: &MemorySessionStore,
    now: Instant,
    id: &str,
    bytes: usize,
    whose: Option<&str>,
) -> bool {
    let (data, charged_to) = (vec![b' '; bytes].into(), whose.map(Into::into));
    let op = SessionOp::Create { id: id.into(), data, ttl: TTL, charged_to };
    run(store, now, op) == Reply::Created(true)
}

fn create(store: &MemorySessionStore, now: Instant, id: &str) -> bool {
    create_for(store, now, id, 2, None)
}

fn get(store: &MemorySessionStore, now: Instant, id: &str, renew: bool) -> Option<Record> {
    let op = SessionOp::Get { id: id.into(), renew: renew.then_some(TTL) };
    match run(store, now, op) {
        Reply::Record(record) => record,
        other => panic!("no record: {other:?}"),
    }
}

fn save(store: &MemorySessionStore, now: Instant, id: &str, version: u64) -> bool {
    let (id, data) = (id.to_owned(), Bytes::from_static(b"[]"));
    let op = SessionOp::Save { id, data, expected_version: version, ttl: TTL };
    run(store, now, op) == Reply::Saved(true)
}

#[test]
fn a_live_id_is_created_once_and_saved_by_version() {
    let store = MemorySessionStore::new();
    assert!(create(&store, at(0), "a"));
    assert!(!create(&store, at(0), "a"));
    assert_eq!(get(&store, at(0), "a", false).map(|record| record.version), Some(1));
    assert!(save(&store, at(0), "a", 1));
    assert!(!save(&store, at(0), "a", 1), "the version moved");
    let record = get(&store, at(0), "a", true).expect("a live record");
    assert_eq!((&record.data[..], record.version), (&b"[]"[..], 2), "renewing is no change");
    assert!(!save(&store, at(0), "b", 1));
    assert_eq!(run(&store, at(0), SessionOp::Delete { id: "a".into() }), Reply::Deleted);
    assert_eq!(get(&store, at(0), "a", false), None);
    assert!(create(&store, at(0), "a"));
}

#[test]
fn what_is_not_renewed_expires_and_frees_its_id() {
    let store = MemorySessionStore::new();
    assert!(create(&store, at(0), "idle") && create(&store, at(0), "read"));
    assert!(create(&store, at(0), "saved"));
    assert!(get(&store, at(30), "read", true).is_some());
    assert!(get(&store, at(30), "idle", false).is_some(), "reading alone renews nothing");
    assert!(save(&store, at(59), "saved", 3), "the third record's first version");
    assert!(get(&store, at(60), "idle", true).is_none());
    assert!(create(&store, at(60), "idle"));
    assert!(get(&store, at(89), "read", false).is_some());
    assert!(get(&store, at(90), "read", false).is_none());
    assert!(get(&store, at(0), "read", false).is_none(), "time never goes back");
    assert!(get(&store, at(118), "saved", false).is_some());
    assert!(get(&store, at(119), "saved", false).is_none());
    assert!(get(&store, at(200), "idle", false).is_none());
    assert!(store.is_empty(), "what expired is gone");
}

#[test]
fn one_session_too_many_drops_the_one_idle_for_longest() {
    let store = MemorySessionStore::with_capacity(3);
    for id in ["a", "b", "c"] {
        assert!(create(&store, at(0), id));
    }
    assert!(get(&store, at(1), "a", true).is_some());
    assert!(create(&store, at(2), "d"));
    assert_eq!(store.len(), 3);
    assert!(get(&store, at(2), "b", false).is_none(), "idle for longest");
    for id in ["a", "c", "d"] {
        assert!(get(&store, at(2), id, false).is_some(), "{id}");
    }
}

/// The ids that are there.
fn there<'a>(store: &MemorySessionStore, ids: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    ids.into_iter().filter(|id| get(store, at(0), id, false).is_some()).collect()
}

#[test]
fn who_was_never_used_goes_before_who_is_idle() {
    let store = MemorySessionStore::with_capacity(4);
    for id in ["old", "saved", "fresh", "newer"] {
        assert!(create(&store, at(0), id));
    }
    assert!(get(&store, at(1), "old", true).is_some());
    assert!(save(&store, at(2), "saved", 2));
    for id in 0..1_000 {
        assert!(create(&store, at(3), &id.to_string()));
    }
    assert_eq!(
        there(&store, ["old", "saved", "fresh", "newer", "998", "999"]),
        ["old", "saved", "998", "999"]
    );
}

#[test]
fn who_holds_the_most_bytes_gives_up_first() {
    let record = size("id", &Bytes::from(vec![0; 1_000]));
    for (flood, bytes) in [(10_000, 0), (500, 4_000), (200, 9 * 1_000)] {
        let store = MemorySessionStore::bounded(1_000, 10 * record);
        assert!(create_for(&store, at(0), "of a", 1_000, Some("a")));
        assert!(create_for(&store, at(0), "of b", 1_000, Some("b")));
        assert!(create_for(&store, at(0), "nobody's", 1_000, None));
        for n in 0..flood {
            let id = format!("flood {n}");
            assert!(create_for(&store, at(1), &id, bytes.min(6_000), Some("flood")));
            assert!(get(&store, at(1), &id, true).is_some(), "used right away");
            assert!(store.bytes() <= 10 * record);
        }
        assert_eq!(there(&store, ["of a", "of b", "nobody's"]), ["of a", "of b", "nobody's"]);
    }
}

#[test]
fn a_record_that_grows_makes_others_go_and_one_that_never_fits_is_an_error() {
    let store = MemorySessionStore::bounded(100, 10_000);
    for id in ["a", "b", "c"] {
        assert!(create_for(&store, at(0), id, 2_000, None));
    }
    let grow = |bytes: usize| {
        let version = get(&store, at(0), "c", false).map_or(0, |record| record.version);
        let data = vec![b' '; bytes].into();
        store.execute(
            at(0),
            SessionOp::Save { id: "c".into(), data, expected_version: version, ttl: TTL },
        )
    };
    assert!(matches!(grow(6_000), Execution::Done(Ok(Reply::Saved(true)))));
    assert_eq!(there(&store, ["a", "b", "c"]), ["b", "c"]);
    assert!(matches!(grow(20_000), Execution::Done(Err(EffectError::Unavailable(_)))));
    assert_eq!(there(&store, ["a", "b", "c"]), ["b", "c"], "nothing has changed");
    assert!(store.bytes() <= 10_000);
    run(&store, at(0), SessionOp::Delete { id: "c".into() });
    run(&store, at(0), SessionOp::Delete { id: "b".into() });
    assert_eq!(store.bytes(), 0);
    assert_eq!(store.sessions().accounts.len(), 0);
}

#[test]
fn a_hundred_thousand_sessions_are_kept_and_a_flood_costs_no_more() {
    let store = MemorySessionStore::new();
    for id in 0..MemorySessionStore::MOST + 50_000 {
        assert!(create(&store, at(0), &id.to_string()));
    }
    assert_eq!(store.len(), MemorySessionStore::MOST);
    let sessions = store.sessions();
    assert_eq!(sessions.accounts.len(), 1);
    assert_eq!(sessions.by_expiry.len(), MemorySessionStore::MOST);
}
