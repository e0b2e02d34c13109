use super::*;

#[test]
fn a_command_runs_in_bash_and_logs_in_only_outside_the_sandbox_p87() {
    assert_eq!(command_shell().name, "bash");
    let texts = |confined| -> Vec<String> {
        let all = arguments("ls 'a b'", confined);
        all[1..].iter().map(|argument| argument.to_string_lossy().into_owned()).collect()
    };
    assert_eq!(texts(true), ["-c", "ls 'a b'"]);
    assert_eq!(texts(false), ["-l", "-c", "ls 'a b'"]);
}

#[test]
fn a_terminal_opens_the_users_shell_if_it_is_one() {
    let with = |shell: &str| terminal_shell(&[("SHELL".into(), shell.into())]);
    assert_eq!(with("/bin/sh"), Path::new("/bin/sh"));
    for not_a_shell in ["sh", "/bin/false", "/usr/sbin/nologin", "/etc/passwd", "/missing", ""] {
        assert_eq!(with(not_a_shell), command_shell().program, "{not_a_shell}");
    }
}
