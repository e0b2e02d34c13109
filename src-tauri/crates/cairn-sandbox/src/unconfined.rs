//! Launches a command that nothing confines, but whose whole tree still ends with its parent. The guard
//! that sees to it stands before bubblewrap, too; see `linux.rs`.
//!
//! On Linux a *guard* process stands between the app and the program. It adopts every orphan below
//! it (child subreaper), so that a descendant can't escape by detaching; when the program ends, when
//! it is told to (SIGTERM), or when the app dies (parent-death signal), it kills all that is left.
//! Elsewhere there is only the process group.
//!
//! The guard is a fork that never executes anything: between the fork and its end it makes system
//! calls and nothing else, because the memory that it inherited may be in any state.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::{Launch, LaunchRequest, Tree};

/// Whether the program gets its standard input as controlling terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terminal {
    /// It has none.
    None,
    /// Descriptor 0 is a terminal and becomes the controlling one.
    Controlling,
}

/// Builds an unconfined command in its own session.
pub(crate) fn prepare(request: &LaunchRequest<'_>) -> Launch {
    let mut command = Command::new(&request.argv[0]);
    command
        .args(&request.argv[1..])
        .env_clear()
        .envs(request.env.iter().map(|(name, value)| (name, value)))
        .current_dir(request.cwd);
    let tree = guard(&mut command, Terminal::None);
    Launch { command, keep: Vec::new(), confined: false, tree, complete: true }
}

/// Puts the program that `command` will run in its own session, closes descriptors above 2, and on
/// Linux puts a guard before it. Returns what the spawned process then is.
///
/// Spawn it from a long-lived thread: the guard dies with the thread that spawned it.
#[expect(unsafe_code, reason = "pre_exec: only system calls are made between fork and exec")]
pub fn guard(command: &mut Command, terminal: Terminal) -> Tree {
    #[cfg(target_os = "linux")]
    {
        let app = std::process::id().cast_signed();
        // SAFETY: `guard::enter` is async-signal-safe; see its header.
        unsafe { command.pre_exec(move || guard::enter(app, terminal)) };
        Tree::Guarded
    }
    #[cfg(not(target_os = "linux"))]
    {
        // SAFETY: `own_session` makes system calls only.
        unsafe { command.pre_exec(move || own_session(terminal)) };
        Tree::Group
    }
}

/// Makes the calling process lead a new session; for use between fork and exec.
#[expect(unsafe_code, reason = "system calls without a safe wrapper")]
fn own_session(terminal: Terminal) -> io::Result<()> {
    // SAFETY: plain system calls on the calling process.
    unsafe {
        if libc::setsid() == -1 {
            return Err(io::Error::last_os_error());
        }
        if terminal == Terminal::Controlling && libc::ioctl(0, libc::TIOCSCTTY as _, 0) == -1 {
            return Err(io::Error::last_os_error());
        }
        for signal in 1..32 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
        let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &no_core);
    }
    close_others_at_exec();
    Ok(())
}

/// Marks every descriptor above 2 to be closed at exec. Marking instead of closing keeps the pipe
/// alive by which `std` learns that exec failed. For use between fork and exec.
#[expect(unsafe_code, reason = "system calls without a safe wrapper")]
fn close_others_at_exec() {
    // SAFETY: plain system calls on the calling process's own descriptors.
    unsafe {
        #[cfg(target_os = "linux")]
        if libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC)
            == 0
        {
            return;
        }
        // Kernels before 5.11, and macOS.
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        let last = limit.rlim_cur.min(1 << 20) as libc::c_int;
        for descriptor in 3..last {
            let flags = libc::fcntl(descriptor, libc::F_GETFD);
            if flags != -1 {
                libc::fcntl(descriptor, libc::F_SETFD, flags | libc::FD_CLOEXEC);
            }
        }
    }
}

#[cfg(target_os = "linux")]
mod guard {
    //! The guard process. Everything here runs in a fork of a threaded process: system calls on
    //! stack memory only, no allocation, no lock, no panic.
    #![expect(unsafe_code, reason = "system calls between fork and exec")]

    use std::io;

    use super::{Terminal, own_session};

    /// Splits the forked child in two: the guard, which never returns, and the program's process,
    /// which goes on to exec.
    pub(super) fn enter(app: libc::pid_t, terminal: Terminal) -> io::Result<()> {
        // SAFETY: system calls on the calling process. `clone` without flags is a fork that runs no
        // handlers of the C library, which could wait for a lock that a lost thread held.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::sigprocmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
            libc::setsid();
            libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            if libc::getppid() != app {
                libc::_exit(1);
            }
            let guard = libc::getpid();
            match libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) {
                -1 => Err(io::Error::last_os_error()),
                0 => {
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                    if libc::getppid() != guard {
                        libc::_exit(1);
                    }
                    own_session(terminal)
                }
                program => watch(program as libc::pid_t, app),
            }
        }
    }

    /// Waits for the program's end, for SIGTERM or for the app's death; then ends all that is left
    /// and ends itself the way that the program ended.
    unsafe fn watch(program: libc::pid_t, app: libc::pid_t) -> ! {
        // SAFETY: system calls on the calling process and its children.
        unsafe {
            libc::syscall(libc::SYS_close_range, 0, libc::c_uint::MAX, 0);
            libc::chdir(c"/".as_ptr());
            libc::prctl(libc::PR_SET_NAME, c"cairn-guard".as_ptr());
            libc::prctl(libc::PR_SET_DUMPABLE, 0);
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            let mut awaited: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut awaited);
            libc::sigaddset(&mut awaited, libc::SIGCHLD);
            libc::sigaddset(&mut awaited, libc::SIGTERM);
            let mut ended = None;
            while ended.is_none() {
                let signal = libc::sigwaitinfo(&awaited, std::ptr::null_mut());
                ended = reap(program, libc::WNOHANG).1;
                if signal == libc::SIGTERM || libc::getppid() != app {
                    break;
                }
            }
            let ended = end_children(program).or(ended);
            match ended {
                Some(status) if libc::WIFEXITED(status) => libc::_exit(libc::WEXITSTATUS(status)),
                Some(status) if libc::WIFSIGNALED(status) => die_by(libc::WTERMSIG(status)),
                _ => die_by(libc::SIGKILL),
            }
        }
    }

    /// Reaps what can be reaped. Returns whether a child is left, and the program's status if it was
    /// among those reaped.
    unsafe fn reap(program: libc::pid_t, flags: libc::c_int) -> (bool, Option<libc::c_int>) {
        let mut ended = None;
        loop {
            let mut status = 0;
            // SAFETY: reaps children of the calling process.
            match unsafe { libc::waitpid(-1, &mut status, flags) } {
                0 => return (true, ended),
                -1 => return (false, ended),
                pid => {
                    if pid == program {
                        ended = Some(status);
                    }
                    if flags & libc::WNOHANG == 0 {
                        return (true, ended);
                    }
                }
            }
        }
    }

    /// Kills the children until none is left; the orphans of each come to the guard.
    unsafe fn end_children(program: libc::pid_t) -> Option<libc::c_int> {
        let mut ended = None;
        loop {
            // SAFETY: signals go to children that are not reaped yet, so the numbers are theirs.
            let (left, status) = unsafe {
                let killed = kill_children(program);
                // A child of another user (sudo) can't be killed and is not waited for.
                reap(program, if killed { 0 } else { libc::WNOHANG })
            };
            ended = ended.or(status);
            // SAFETY: as above.
            if !left || unsafe { !kill_children(program) } {
                return ended.or(unsafe { reap(program, libc::WNOHANG) }.1);
            }
        }
    }

    /// Sends SIGKILL to each child. Returns whether one of them took it.
    unsafe fn kill_children(program: libc::pid_t) -> bool {
        let mut killed = false;
        // SAFETY: reads into a buffer on the stack; the list ends each number with a space, so a
        // number that is cut off is not used.
        unsafe {
            let list = libc::open(c"/proc/thread-self/children".as_ptr(), libc::O_RDONLY);
            if list == -1 {
                return libc::kill(-program, libc::SIGKILL) == 0;
            }
            let mut buffer = [0_u8; 4096];
            let length = libc::read(list, buffer.as_mut_ptr().cast(), buffer.len());
            libc::close(list);
            let mut pid: libc::pid_t = 0;
            let mut at = 0;
            while at < length {
                let byte = *buffer.as_ptr().offset(at);
                if byte.is_ascii_digit() {
                    pid = pid.wrapping_mul(10).wrapping_add(libc::pid_t::from(byte - b'0'));
                } else {
                    if pid > 1 && libc::kill(pid, libc::SIGKILL) == 0 {
                        killed = true;
                    }
                    pid = 0;
                }
                at += 1;
            }
        }
        killed
    }

    unsafe fn die_by(signal: libc::c_int) -> ! {
        // SAFETY: ends the calling process.
        unsafe {
            let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &no_core);
            libc::signal(signal, libc::SIG_DFL);
            libc::kill(libc::getpid(), signal);
            let mut one: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut one);
            libc::sigaddset(&mut one, signal);
            libc::sigprocmask(libc::SIG_UNBLOCK, &one, std::ptr::null_mut());
            libc::_exit(128 + signal)
        }
    }
}
