//! Faults of stock mdBook that only a copy of its templates would mend. The lists of them may
//! shrink, and nothing else.

use std::collections::BTreeSet;

/// A fault that a checker found.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// What the checker calls it.
    pub rule: String,
    /// The page and the element.
    pub place: String,
}

/// A fault that is left as it is.
pub struct Known {
    /// What the checker calls it.
    pub rule: &'static str,
    /// What its place must hold.
    pub place: &'static str,
    /// Why it is left.
    pub reason: &'static str,
}

impl Known {
    fn covers(&self, found: &Found) -> bool {
        found.rule == self.rule && found.place.contains(self.place)
    }
}

/// Fails for a fault that is not on the list, and for an entry of the list that no longer occurs.
pub fn assert_only(known: &[Known], found: &BTreeSet<Found>) {
    let fresh: Vec<&Found> = found
        .iter()
        .filter(|fault| !known.iter().any(|entry| entry.covers(fault)))
        .collect();
    assert!(fresh.is_empty(), "{} faults: {fresh:#?}", fresh.len());
    for entry in known {
        assert!(
            found.iter().any(|fault| entry.covers(fault)),
            "take it from the list, it occurs no more: {}, {} ({})",
            entry.rule,
            entry.place,
            entry.reason
        );
    }
}

const FRAME: Known = Known {
    rule: "region",
    place: "toc.html",
    reason: "a frame",
};

#[test]
#[should_panic(expected = "1 faults")]
fn a_fault_that_is_not_on_the_list_fails() {
    let found = ["rope.html main", "toc.html ol"].map(|place| Found {
        rule: "region".into(),
        place: place.into(),
    });
    assert_only(&[FRAME], &found.into());
}

#[test]
#[should_panic(expected = "it occurs no more")]
fn an_entry_that_no_longer_occurs_fails() {
    assert_only(&[FRAME], &BTreeSet::new());
}
