//! The window: how long it takes to show, and what it costs while nothing happens (goals G20-G22).

use crate::Options;

pub(crate) fn app(_options: &Options) -> anyhow::Result<()> {
    Ok(())
}
