use crate::revision::{Adapter, AdapterSet, AdapterSetError, Revision};

#[test]
fn the_default_has_every_revision_newest_first() {
    let set = AdapterSet::default();
    let versions: Vec<_> = set.versions().collect();
    assert_eq!(versions, ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
    assert_eq!(set.fallback().version, "2026-07-28");
    assert_eq!(set.newest_handshake().unwrap().version, "2025-11-25");
    assert_eq!(set.newest_modern().unwrap().version, "2026-07-28");
    assert_eq!(set.by_version("2025-06-18"), Some(Revision::V2025_06_18.adapter()));
    assert_eq!(set.by_version("2025-06-19"), None);
}

#[test]
fn a_revision_is_found_by_its_exact_version_if_the_set_has_it() {
    let all = AdapterSet::default();
    let own = Adapter { version: "2027-01-01", ..*Revision::V2026_07_28.adapter() };
    let few = AdapterSet::new([*Revision::V2025_03_26.adapter(), own]).unwrap();
    for revision in Revision::ALL {
        assert_eq!(all.by_version(revision.as_str()), Some(revision.adapter()));
        let is_there = revision == Revision::V2025_03_26;
        assert_eq!(few.by_version(revision.as_str()).is_some(), is_there, "{revision}");
    }
    assert_eq!(few.by_version("2027-01-01"), Some(&own));
    for unknown in ["", "2025-06", "2025-06-19", "2025-06-18 ", "2025-06-18x", "2027-01-01"] {
        assert_eq!(all.by_version(unknown), None, "{unknown:?}");
    }
}

#[test]
fn a_set_is_not_empty_and_has_each_version_once() {
    assert_eq!(AdapterSet::of([]).unwrap_err(), AdapterSetError::Empty);
    let twice = [Revision::V2025_06_18, Revision::V2024_11_05, Revision::V2025_06_18];
    assert_eq!(AdapterSet::of(twice).unwrap_err(), AdapterSetError::Duplicate("2025-06-18"));
    let set = AdapterSet::of([Revision::V2024_11_05]).unwrap();
    assert_eq!(set.clone().with_fallback("2025-06-18").unwrap_err(), AdapterSetError::Unknown);
    assert_eq!(set.with_fallback("2024-11-05").unwrap().fallback().version, "2024-11-05");
}

#[test]
fn an_application_adds_a_revision_of_its_own() {
    let own = Adapter { version: "2027-01-01", ..*Revision::V2026_07_28.adapter() };
    let set = AdapterSet::new([*Revision::V2025_11_25.adapter(), own]).unwrap();
    assert_eq!(set.newest_modern().unwrap().version, "2027-01-01");
}

/// R24-LIFE-07, C19: never a revision without handshake, never one outside of the set.
#[test]
fn a_handshake_settles_on_what_was_asked_for_else_on_the_newest_that_has_one() {
    let all = AdapterSet::default();
    let settled = |set: &AdapterSet, pin, asked| set.negotiate(pin, asked).map(|it| it.version);
    for revision in Revision::ALL.into_iter().filter(|it| it.adapter().has_handshake) {
        assert_eq!(settled(&all, None, revision.as_str()), Some(revision.as_str()));
    }
    for asked in ["2099-01-01", "2026-07-28", "1.0", ""] {
        assert_eq!(settled(&all, None, asked), Some("2025-11-25"), "{asked}");
    }
    assert_eq!(settled(&all, Some("2025-03-26"), "2025-11-25"), Some("2025-03-26"));
    let few = AdapterSet::of([Revision::V2025_03_26, Revision::V2026_07_28]).unwrap();
    assert_eq!(settled(&few, None, "2025-11-25"), Some("2025-03-26"));
    let modern = AdapterSet::of([Revision::V2026_07_28]).unwrap();
    assert_eq!(settled(&modern, None, "2025-11-25"), None);
}
