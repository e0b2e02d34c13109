//! Puts the tool calls of one response together from their deltas.
//!
//! Servers leave out, repeat, empty and shift ids, names and indices in every way; the rule here
//! passes all that were recorded. Whether a call may run is said by its `stop_reason` alone.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use cairn_protocol::{Fidelity, ModelRef, StopReason, Timestamp, ToolCallId};

use super::chunk::{FunctionDelta, ToolDelta, arguments, index};
use super::fidelity;
use crate::emit::Emitter;
use crate::ids::Ids;

/// The calls so far, in the order in which they began.
pub(super) struct Calls {
    slots: Vec<Slot>,
    model: ModelRef,
}

#[derive(Default)]
struct Slot {
    index: Option<u64>,
    /// As the provider sent it; empty when it did not.
    id: String,
    name: String,
    /// All arguments so far.
    arguments: String,
    /// Opened in the emitter: the name is known.
    place: Option<usize>,
    extra: Option<String>,
    touched: bool,
    /// The chunk that brought the last piece also ended the response.
    ended_with_chunk: bool,
}

impl Calls {
    pub(super) fn new(model: ModelRef) -> Self {
        Self { slots: Vec::new(), model }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.iter().all(|slot| slot.place.is_none())
    }

    /// Returns whether a call is not whole.
    pub(super) fn any_cut(&self) -> bool {
        self.slots.iter().any(|slot| slot.place.is_none() || !slot.is_whole())
    }

    pub(super) fn begin_chunk(&mut self) {
        for slot in &mut self.slots {
            slot.touched = false;
        }
    }

    pub(super) fn end_with_chunk(&mut self) {
        for slot in &mut self.slots {
            slot.ended_with_chunk |= slot.touched;
        }
    }

    /// Takes a delta of the `tool_calls` list.
    pub(super) fn take(
        &mut self,
        delta: &ToolDelta<'_>,
        emitter: &mut Emitter,
        ids: &Mutex<Ids>,
        now: Timestamp,
    ) {
        let none = FunctionDelta::default();
        let function = delta.function.as_ref().unwrap_or(&none);
        let added = arguments(function.arguments);
        let at = self.find(index(delta.index), &delta.id.0, &function.name.0, &added);
        let slot = &mut self.slots[at];
        if let Some(extra) = delta.extra_content {
            slot.extra = Some(extra.get().to_owned());
        }
        slot.add(&delta.id.0, &function.name.0, &added, emitter, ids, now);
    }

    /// Takes a delta of the older `function_call` field, which has neither index nor id.
    pub(super) fn take_function(
        &mut self,
        function: &FunctionDelta<'_>,
        emitter: &mut Emitter,
        ids: &Mutex<Ids>,
        now: Timestamp,
    ) {
        let added = arguments(function.arguments);
        let at = self.find(None, "", &function.name.0, &added);
        self.slots[at].add("", &function.name.0, &added, emitter, ids, now);
    }

    /// Finds the call that a delta belongs to, or begins one.
    fn find(&mut self, index: Option<u64>, id: &str, name: &str, added: &str) -> usize {
        let found = match index {
            Some(_) => self.slots.iter().rposition(|slot| slot.index == index),
            None if !id.is_empty() => self.slots.iter().rposition(|slot| slot.id == id),
            None => self.slots.len().checked_sub(1),
        };
        if let Some(at) = found {
            let slot = &self.slots[at];
            let other_id = !id.is_empty() && !slot.id.is_empty() && slot.id != id;
            // Without an id, a name after whole arguments can only begin another call.
            let another =
                id.is_empty() && !name.is_empty() && !added.is_empty() && slot.has_whole_object();
            if !other_id && !another {
                return at;
            }
        }
        self.slots.push(Slot { index, ..Slot::default() });
        self.slots.len() - 1
    }

    /// Closes all calls: `whole` for those that are whole, `last` for the last one. When the
    /// output limit cut the answer, calls that are not surely whole count as failed.
    pub(super) fn close(
        &mut self,
        emitter: &mut Emitter,
        whole: StopReason,
        last: StopReason,
        length: bool,
    ) {
        let last_at = self.slots.iter().rposition(|slot| slot.place.is_some());
        for (at, slot) in self.slots.iter_mut().enumerate() {
            let Some(place) = slot.place else { continue };
            let cut =
                length && (slot.ended_with_chunk || slot.arguments.is_empty() || !slot.is_whole());
            let reason = if Some(at) == last_at {
                last
            } else if cut && whole == StopReason::Completed {
                StopReason::Failed
            } else {
                whole
            };
            if slot.arguments.trim().is_empty() && reason == StopReason::Completed {
                emitter.call_arguments(place, "{}");
            }
            let fidelity = slot.fidelity(&self.model);
            emitter.close_call(place, reason, fidelity);
        }
    }
}

impl Slot {
    fn add(
        &mut self,
        id: &str,
        name: &str,
        added: &str,
        emitter: &mut Emitter,
        ids: &Mutex<Ids>,
        now: Timestamp,
    ) {
        self.touched = true;
        if self.id.is_empty() {
            id.clone_into(&mut self.id);
        }
        if self.name.is_empty() {
            name.clone_into(&mut self.name);
        }
        self.arguments.push_str(added);
        let (place, delta) = match self.place {
            Some(place) => (place, Cow::Borrowed(added)),
            None if self.name.is_empty() => return,
            None => {
                let mut ids = ids.lock().unwrap_or_else(PoisonError::into_inner);
                let id = if self.id.is_empty() { ids.mint(now.0) } else { ids.claim(&self.id) };
                let place = emitter.open_call(ToolCallId(id), self.name.clone());
                self.place = Some(place);
                (place, Cow::Owned(self.arguments.clone()))
            }
        };
        if !delta.is_empty() {
            emitter.call_arguments(place, &delta);
        }
    }

    /// Empty arguments count as whole: they mean an empty object.
    fn is_whole(&self) -> bool {
        self.arguments.trim().is_empty()
            || serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_ok()
    }

    fn has_whole_object(&self) -> bool {
        !self.arguments.trim().is_empty() && self.is_whole()
    }

    fn fidelity(&self, model: &ModelRef) -> Option<Fidelity> {
        let extra = self.extra.as_deref()?;
        fidelity::make(model, &[("extra_content", extra)])
    }
}
