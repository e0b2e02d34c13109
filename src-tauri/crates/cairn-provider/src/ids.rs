//! Keeps tool-call ids unique within a session (P-54).
//!
//! A taken id gets `#n`, which is cut off again when the id goes back to the provider. It does not
//! know which calls are still in the context: an id stays taken after a compaction.

use std::collections::HashSet;

/// The ids of one session.
#[derive(Default)]
pub(crate) struct Ids {
    taken: HashSet<String>,
}

impl Ids {
    /// Notes an id that is in use already.
    pub(crate) fn take(&mut self, id: &str) {
        if !self.taken.contains(id) {
            self.taken.insert(id.to_owned());
        }
    }

    /// Returns the id under which a call from the provider goes on, and takes it. An id that ends
    /// like a made-unique one gets a number too, so that [`upstream`] is always the way back.
    pub(crate) fn claim(&mut self, inbound: &str) -> String {
        if upstream(inbound) == inbound && self.taken.insert(inbound.to_owned()) {
            return inbound.to_owned();
        }
        let mut number = 2u64;
        loop {
            let id = format!("{inbound}#{number}");
            if self.taken.insert(id.clone()) {
                return id;
            }
            number += 1;
        }
    }

    /// Makes an id for a call that came without one.
    pub(crate) fn mint(&mut self, seed: i64) -> String {
        self.claim(&format!("call_{seed:x}"))
    }
}

/// Returns the id as the provider knows it.
pub(crate) fn upstream(id: &str) -> &str {
    match id.rsplit_once('#') {
        Some((head, tail)) if !tail.is_empty() && tail.bytes().all(|b| b.is_ascii_digit()) => head,
        _ => id,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Ids, upstream};

    #[test]
    fn p54_a_taken_id_gets_a_number() {
        let mut ids = Ids::default();
        ids.take("0");
        let claimed = [ids.claim("a"), ids.claim("a"), ids.claim("a"), ids.claim("0")];
        assert_eq!(claimed, ["a", "a#2", "a#3", "0#2"]);
        assert_eq!(ids.claim("a#2"), "a#2#2");
    }

    proptest! {
        #[test]
        fn p54_ids_are_unique_and_lead_back(inbound in prop::collection::vec("[a#0-9]{0,4}", 0..60)) {
            let mut ids = Ids::default();
            let mut seen = std::collections::HashSet::new();
            for id in inbound {
                let claimed = ids.claim(&id);
                prop_assert_eq!(upstream(&claimed), id);
                prop_assert!(seen.insert(claimed));
            }
        }
    }
}
