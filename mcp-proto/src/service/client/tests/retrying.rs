//! A server that is not there yet, or not there now.

use std::sync::atomic::AtomicU32;

use super::*;

/// A server whose port refuses so many connections first, then one more for each that is closed.
fn refusing(world: &World, revision: Revision, refused: &Arc<AtomicU32>) -> impl Dial + use<> {
    let (sessions, hub) = (Arc::new(MemorySessionStore::new()), Arc::new(MemoryHub::new()));
    let server = Arc::new(InProcess { world: world.clone(), revision, sessions, hub });
    let refused = refused.clone();
    Dialer::new(world.clone(), move |_, _| {
        let fewer = |left: u32| left.checked_sub(1);
        let refuses = refused.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer).is_ok();
        core::future::ready(match refuses {
            true => Err(io::ErrorKind::ConnectionRefused.into()),
            false => Ok(server.connect(true)),
        })
    })
}

fn dialling(world: &World, revision: Revision, refused: &Arc<AtomicU32>, retry: Retry) -> Client {
    let limits = PoolLimits { idle_time: Duration::from_secs(1), ..PoolLimits::default() };
    let pool = PoolBuilder::new().limits(limits).build(refusing(world, revision, refused));
    let builder = Client::builder("client", "1").retry(retry);
    builder.http(world.clone(), pool, "http://localhost/mcp").unwrap()
}

#[test]
fn a_client_waits_for_a_server_that_is_not_up_yet() {
    for revision in Revision::ALL {
        for times in [0, 1, 4, 7] {
            let (world, refused) = (World::default(), Arc::new(AtomicU32::new(times)));
            let client = dialling(&world, revision, &refused, Retry::new());
            let clock = world.clone();
            world.run(async move {
                client.ready().await.unwrap();
                let waited = clock.now().saturating_since(Instant::ZERO);
                assert_eq!(waited >= Duration::from_millis(125), times > 0, "{waited:?}");
                let reply = client.call_tool("add", &Add { a: 2, b: 40 }).await.unwrap();
                assert_eq!(reply.structured::<Sum>().unwrap().total, 42);
            });
        }
        // It does not come.
        let (world, refused) = (World::default(), Arc::new(AtomicU32::new(u32::MAX)));
        let client = dialling(&world, revision, &refused, Retry::new().attempts(5));
        let clock = world.clone();
        world.run(async move {
            let error = client.ready().await.unwrap_err();
            assert_eq!(error.ran, Ran::Never);
            assert!(clock.now().saturating_since(Instant::ZERO) < Duration::from_secs(8));
        });
        assert_eq!(u32::MAX - refused.load(Ordering::SeqCst), 6);
    }
}

#[test]
fn a_call_that_found_nobody_is_made_again_where_that_is_wanted() {
    // T-38
    for revision in Revision::ALL {
        for (retry, is_made_again) in [(Retry::new().calls(), true), (Retry::new(), false)] {
            let (world, refused) = (World::default(), Arc::new(AtomicU32::new(0)));
            let mut config = Config::new(crate::model::Implementation::new("client", "1"));
            config.unasked = false;
            config.limits.handshake = Duration::from_secs(5);
            let limits = PoolLimits { idle_time: Duration::from_secs(1), ..PoolLimits::default() };
            let pool =
                PoolBuilder::new().limits(limits).build(refusing(&world, revision, &refused));
            let builder = ClientBuilder::with_config(config).retry(retry);
            let client = builder.http(world.clone(), pool, "http://localhost/mcp").unwrap();
            let clock = world.clone();
            world.run(async move {
                client.ready().await.unwrap();
                // The connections that there were are closed, and new ones are refused for a while.
                clock.time.sleep(Duration::from_secs(5)).await;
                refused.store(3, Ordering::SeqCst);
                let result = client.call_tool("add", &Add { a: 2, b: 40 }).await;
                match is_made_again {
                    true => assert_eq!(result.unwrap().structured::<Sum>().unwrap().total, 42),
                    false => assert_eq!(result.unwrap_err().ran, Ran::Never, "{revision:?}"),
                }
            });
        }
    }
}
