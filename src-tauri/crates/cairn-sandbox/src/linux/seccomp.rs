//! The system-call filter: refuses what a confined command has no use for and an attacker has
//! (security plan 3.3). Everything else is allowed; the namespaces are the boundary.
//!
//! It builds the bytes for `--seccomp`; bubblewrap installs them.

use std::collections::BTreeMap;

use cairn_protocol::NetworkAccess;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, sock_filter,
};

/// Refused with EPERM whatever the arguments are.
const REFUSED: &[libc::c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Large parts of the kernel that few programs need.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    // Keys of the user's session.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    // Files by handle, past every mount.
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // The machine.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_personality,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

/// Flags of `clone` that make namespaces.
const NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// System calls of the x32 ABI carry this bit and would pass a filter for x86_64.
const X32_BIT: u32 = 0x4000_0000;

/// Instructions that check the architecture, which `seccompiler` puts first.
const PROLOGUE: usize = 3;

/// Returns the filter as the kernel reads it: 8 bytes an instruction.
///
/// Fails, with a sentence for the user, on an architecture that the filter is not made for.
pub(super) fn filter(network: NetworkAccess) -> Result<Vec<u8>, String> {
    let program = build(network)
        .map_err(|error| format!("no system-call filter for this architecture ({error})"))?;
    let mut bytes = Vec::with_capacity(program.len() * 8);
    for line in program {
        bytes.extend_from_slice(&line.code.to_ne_bytes());
        bytes.extend_from_slice(&[line.jt, line.jf]);
        bytes.extend_from_slice(&line.k.to_ne_bytes());
    }
    Ok(bytes)
}

fn build(network: NetworkAccess) -> Result<BpfProgram, seccompiler::Error> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let one = |argument, op, value| -> Result<SeccompRule, seccompiler::Error> {
        Ok(SeccompRule::new(vec![compare(argument, op, value)?])?)
    };
    let mut clone = Vec::new();
    for flag in NAMESPACES {
        let flag = u64::from(flag.cast_unsigned());
        clone.push(one(0, SeccompCmpOp::MaskedEq(flag), flag)?);
    }
    rules.insert(libc::SYS_clone, clone);
    // Typing into the terminal that started the sandbox; compared as the kernel does, 32 bits wide.
    let typing = [libc::TIOCSTI, libc::TIOCLINUX];
    let typing = typing.map(|request| one(1, SeccompCmpOp::Eq, request));
    rules.insert(libc::SYS_ioctl, typing.into_iter().collect::<Result<_, _>>()?);
    let families: &[libc::c_int] = match network {
        NetworkAccess::None => &[libc::AF_UNIX],
        // No AF_UNIX: abstract sockets of the desktop live in the network namespace of the host.
        NetworkAccess::Full => &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
    };
    let mut others = Vec::new();
    for family in families {
        others.push(compare(0, SeccompCmpOp::Ne, u64::from(family.cast_unsigned()))?);
    }
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(others)?]);
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM.cast_unsigned()),
        std::env::consts::ARCH.try_into()?,
    )?;
    let mut program: BpfProgram = filter.try_into()?;
    program.splice(PROLOGUE..PROLOGUE, missing());
    Ok(program)
}

fn compare(
    argument: u8,
    op: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::Error> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, op, value)?)
}

/// Instructions that answer ENOSYS: to `clone3`, whose flags a filter can't see, so that the C
/// library falls back to `clone`; and to every call of the x32 ABI.
fn missing() -> Vec<sock_filter> {
    let load = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    let at_least = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
    let equal = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    let answer = (libc::BPF_RET | libc::BPF_K) as u16;
    let enosys = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    let clone3 = u32::try_from(libc::SYS_clone3).expect("system-call numbers are small");
    let mut lines = vec![sock_filter { code: load, jt: 0, jf: 0, k: 0 }];
    if cfg!(target_arch = "x86_64") {
        lines.push(sock_filter { code: at_least, jt: 1, jf: 0, k: X32_BIT });
    }
    lines.push(sock_filter { code: equal, jt: 0, jf: 1, k: clone3 });
    lines.push(sock_filter { code: answer, jt: 0, jf: 0, k: enosys });
    lines
}
