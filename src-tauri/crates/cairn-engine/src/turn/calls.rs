//! The calls of a session that run now, each with its own stop.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use cairn_protocol::{ErrorCode, ErrorInfo, ToolCallId};
use tokio_util::sync::CancellationToken;

use crate::error::Result;

/// The running calls of a session.
#[derive(Default)]
pub(crate) struct Calls(Mutex<HashMap<ToolCallId, CancellationToken>>);

impl Calls {
    /// Adds a call below the turn's own stop.
    pub(crate) fn add(&self, id: &ToolCallId, turn: &CancellationToken) -> CancellationToken {
        let token = turn.child_token();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), token.clone());
        token
    }

    pub(crate) fn remove(&self, id: &ToolCallId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    /// Stops one call.
    pub(crate) fn cancel(&self, id: &ToolCallId) -> Result<()> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id) {
            Some(token) => {
                token.cancel();
                Ok(())
            }
            None => Err(ErrorInfo::new(ErrorCode::NotRunning, "This call has ended already.")),
        }
    }
}
