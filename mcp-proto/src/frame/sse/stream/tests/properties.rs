//! Any schedule of sending, waiting and taking.

use proptest::prelude::*;

use super::*;

/// What somebody may do with a stream.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Send(String),
    Wait(u64),
    Timeout,
    Close,
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => "[a-z\\n]{0,9}".prop_map(Step::Send),
        3 => (0u64..20_000).prop_map(Step::Wait),
        3 => Just(Step::Timeout),
        1 => Just(Step::Close),
    ];
    proptest::collection::vec(step, 0..40)
}

/// The bytes of a run whose reader takes what is there after the steps that `taking` names.
pub(super) fn run(steps: &[Step], taking: impl Fn(usize) -> bool, coding: Coding) -> Vec<u8> {
    let mut stream = stream(|options| {
        options.stall = Duration::from_secs(1 << 20);
        options.coding = coding;
    });
    let (mut now, mut wire) = (START, Vec::new());
    for (index, step) in steps.iter().enumerate() {
        match step {
            Step::Send(data) => {
                let _ = stream.send(now, &Event::data(data.as_str()));
            }
            Step::Wait(milliseconds) => now = now + Duration::from_millis(*milliseconds),
            Step::Timeout => {
                stream.handle_timeout(now);
                assert!(stream.poll_timeout().is_none_or(|at| at > now));
            }
            Step::Close => stream.close(now),
        }
        if taking(index) {
            stream.transmit(&mut wire);
        }
    }
    stream.close(now);
    stream.transmit(&mut wire);
    assert_eq!(stream.end(), Some(StreamEnd::Complete));
    wire
}

/// A reader that takes after the steps whose bit is set.
pub(super) fn sometimes(pattern: u64) -> impl Fn(usize) -> bool {
    move |index| (pattern >> (index % 64)) & 1 == 1
}

proptest! {
    #[test]
    fn when_a_reader_takes_changes_no_byte(steps in steps(), pattern in any::<u64>()) {
        let wire = run(&steps, |_| true, Coding::Identity);
        prop_assert_eq!(&wire, &run(&steps, |_| false, Coding::Identity));
        prop_assert_eq!(&wire, &run(&steps, sometimes(pattern), Coding::Identity));
    }

    #[test]
    fn events_come_out_in_order_and_whole(steps in steps(), pattern in any::<u64>()) {
        let wire = run(&steps, sometimes(pattern), Coding::Identity);
        let mut decoder = crate::frame::sse::Decoder::default();
        decoder.feed(&wire);
        let read: Vec<_> = core::iter::from_fn(|| decoder.next_event())
            .map(|event| event.expect("well-formed").into_data().unwrap_or_default())
            .collect();
        let open = steps.iter().take_while(|step| !matches!(step, Step::Close));
        let sent: Vec<_> = open
            .filter_map(|step| match step {
                Step::Send(data) => Some(data.clone()),
                _ => None,
            })
            .collect();
        prop_assert_eq!(read, sent);
    }

    #[test]
    fn no_schedule_holds_more_than_the_limits_or_makes_time_stand_still(
        steps in steps(),
        pattern in any::<u64>(),
        stall in 0u64..20_000,
        max_events in 1usize..4,
        max_bytes in 8usize..40,
    ) {
        let mut stream = stream(|options| {
            options.stall = Duration::from_millis(stall);
            options.max_events = max_events;
            options.max_bytes = max_bytes;
        });
        let (mut now, mut out) = (START, Vec::new());
        for (index, step) in steps.iter().enumerate() {
            match step {
                Step::Send(data) => {
                    let closed = stream.closed();
                    let sent = stream.send(now, &Event::data(data.as_str()));
                    prop_assert_eq!(sent == Err(SendError::Closed), closed);
                }
                Step::Wait(milliseconds) => now = now + Duration::from_millis(*milliseconds),
                Step::Timeout => {
                    stream.handle_timeout(now);
                    prop_assert!(stream.poll_timeout().is_none_or(|at| at > now));
                }
                Step::Close => stream.close(now),
            }
            prop_assert!(stream.queue.events <= max_events && stream.queue.wire.len() <= max_bytes);
            prop_assert!(stream.end().is_none() || (stream.closed() && !stream.has_output()));
            if sometimes(pattern)(index) {
                stream.transmit(&mut out);
            }
        }
    }
}
