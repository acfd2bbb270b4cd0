//! Golden transcripts: what each revision says on each transport, as text that a person reads.
//!
//! `golden/<revision>/<scenario>.<http|stdio>.txt` is compared with what the machines do now, fed
//! whole and byte by byte. `GOLDEN=write cargo test -p mcp-proto --features testing --test golden`
//! writes the files anew; the change is then to be read.

#[path = "../fixture/mod.rs"]
mod fixture;
mod scenarios;
mod talk;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fixture::{Peer, Wire};
use mcp_proto::revision::Revision;
use mcp_proto::testing::Link;
use scenarios::SCENARIOS;
use talk::Talk;

#[test]
fn every_revision_says_on_every_transport_what_is_written() {
    let writes = std::env::var_os("GOLDEN").is_some_and(|value| value == "write");
    let (mut expected, mut differences) = (BTreeSet::new(), Vec::new());
    for revision in Revision::ALL {
        for wire in Wire::ALL {
            for scenario in SCENARIOS {
                if !(scenario.applies)(revision, wire) {
                    continue;
                }
                let run = |link| {
                    let mut talk = Talk::new(Peer::new(revision, wire), link, scenario.about);
                    (scenario.run)(&mut talk);
                    talk.into_transcript()
                };
                let whole = run(Link::direct());
                assert_eq!(whole, run(Link::bytewise()), "{}: splitting matters", scenario.name);
                let path = folder().join(revision.as_str());
                let path = path.join(format!("{}.{}.txt", scenario.name, wire.name()));
                if writes {
                    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                    fs::write(&path, &whole).expect("a file");
                } else if fs::read_to_string(&path).ok().as_ref() != Some(&whole) {
                    differences.push(format!("{} is now:\n{whole}", path.display()));
                }
                expected.insert(path);
            }
        }
    }
    differences.extend(
        files(&folder())
            .filter(|file| !expected.contains(file))
            .map(|file| format!("{} belongs to no scenario", file.display())),
    );
    println!("{} transcripts", expected.len());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
    let folders: Vec<_> = entries(folder).map(|it| it.path()).filter(|it| it.is_dir()).collect();
    folders
        .into_iter()
        .flat_map(move |folder| entries(&folder).map(|it| it.path()).collect::<Vec<_>>())
}
