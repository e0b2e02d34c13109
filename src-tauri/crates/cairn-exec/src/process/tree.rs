//! The processes below a process, on Linux, and signals that can't hit the wrong one.

use std::collections::HashMap;
use std::fs;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// A process below another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Below {
    pid: u32,
    /// 1 for a child, 2 for its child.
    pub(super) generation: u32,
    /// Tells apart two processes that had the same number.
    started: u64,
    group: u32,
}

impl Below {
    /// Returns whether it was alive and took the signal.
    pub(super) fn signal(&self, signal: i32) -> bool {
        let Some(handle) = handle(self.pid) else { return false };
        // The handle came after the look; make sure that it is still the process looked at.
        let alive = |now: Stat| now.started == self.started && !now.zombie;
        stat(self.pid).is_some_and(alive) && send(&handle, signal)
    }

    /// Signals the group that this process leads. Does nothing when it leads none (yet).
    #[expect(unsafe_code, reason = "kill has no safe wrapper in std")]
    pub(super) fn signal_group(&self, signal: i32) {
        let leads = |stat: Stat| stat.started == self.started && stat.group == self.pid;
        if self.group == self.pid && self.pid > 1 && stat(self.pid).is_some_and(leads) {
            // SAFETY: a plain system call. The leader was seen alive just now; a group's number is
            // not given away while the group has members.
            unsafe { libc::kill(-self.pid.cast_signed(), signal) };
        }
    }
}

/// Returns all processes below `root`, parents before children.
pub(super) fn below(root: u32) -> Vec<Below> {
    let mut children: HashMap<u32, Vec<(u32, Stat)>> = HashMap::new();
    for pid in all() {
        if let Some(found) = stat(pid) {
            children.entry(found.parent).or_default().push((pid, found));
        }
    }
    let mut found = Vec::new();
    let mut level = vec![root];
    let mut generation = 1;
    while !level.is_empty() {
        let next: Vec<(u32, Stat)> =
            level.iter().flat_map(|pid| children.remove(pid).unwrap_or_default()).collect();
        level = next.iter().map(|(pid, _)| *pid).collect();
        found.extend(next.into_iter().map(|(pid, stat)| Below {
            pid,
            generation,
            started: stat.started,
            group: stat.group,
        }));
        generation += 1;
    }
    found
}

fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[derive(Debug, Clone, Copy)]
struct Stat {
    zombie: bool,
    parent: u32,
    group: u32,
    started: u64,
}

fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name, in brackets, may hold anything; the fields follow its last bracket.
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let text = std::str::from_utf8(text.get(end + 2..)?).ok()?;
    let mut fields = text.split(' ');
    Some(Stat {
        zombie: fields.next()? == "Z",
        parent: fields.next()?.parse().ok()?,
        group: fields.next()?.parse().ok()?,
        started: fields.nth(16)?.parse().ok()?,
    })
}

/// Returns a handle of a process; absent on kernels before 5.3 and when it is gone.
#[expect(unsafe_code, reason = "pidfd_open has no safe wrapper in std")]
pub(super) fn handle(pid: u32) -> Option<OwnedFd> {
    // SAFETY: the returned descriptor is ours alone; the kernel makes it close-on-exec.
    unsafe {
        let raw = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        (raw >= 0).then(|| OwnedFd::from_raw_fd(raw as i32))
    }
}

/// Waits until the process of a handle has ended, or not at all where that can't be awaited.
#[expect(unsafe_code, reason = "AsyncFd wants a promise about the descriptor")]
pub(super) async fn ended(handle: OwnedFd) {
    // SAFETY: the descriptor is owned by the `AsyncFd` alone and never replaced.
    if let Ok(handle) = unsafe { tokio::io::unix::AsyncFd::register(handle) } {
        _ = handle.readable().await;
    }
}

/// Waits until the process of a handle has ended, for at most `limit`.
#[expect(unsafe_code, reason = "poll has no safe wrapper in std")]
pub(super) fn wait(handle: &OwnedFd, limit: Duration) {
    let mut one = libc::pollfd { fd: handle.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let limit = i32::try_from(limit.as_millis() + 1).unwrap_or(i32::MAX);
    // SAFETY: one descriptor that is open, in an array of one.
    unsafe { libc::poll(&mut one, 1, limit) };
}

/// Signals a child that is not reaped.
#[expect(unsafe_code, reason = "kill has no safe wrapper in std")]
pub(super) fn signal(pid: u32, signal: i32) {
    // SAFETY: a plain system call; the caller holds the lock that keeps the number ours.
    unsafe { libc::kill(pid.cast_signed(), signal) };
}

#[expect(unsafe_code, reason = "pidfd_send_signal has no safe wrapper in std")]
fn send(handle: &OwnedFd, signal: i32) -> bool {
    let none = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: the descriptor is open; a null siginfo means the default one.
    unsafe { libc::syscall(libc::SYS_pidfd_send_signal, handle.as_raw_fd(), signal, none, 0) == 0 }
}

/// Kills every process whose environment has the entry `mark`, until none is found.
pub(super) fn sweep(mark: &str) {
    for _ in 0..20 {
        let marked: Vec<u32> = all().filter(|pid| is_marked(*pid, mark.as_bytes())).collect();
        if marked.is_empty() {
            return;
        }
        for pid in marked {
            if let Some(handle) = handle(pid)
                && is_marked(pid, mark.as_bytes())
            {
                send(&handle, libc::SIGKILL);
            }
        }
    }
}

fn is_marked(pid: u32, mark: &[u8]) -> bool {
    pid != std::process::id()
        && fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|all| all.split(|byte| *byte == 0).any(|entry| entry == mark))
}
