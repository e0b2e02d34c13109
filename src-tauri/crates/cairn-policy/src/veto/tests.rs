use proptest::prelude::*;

use super::command_veto;

#[track_caller]
fn check(name: &str, texts: &[&str]) {
    for text in texts {
        assert_eq!(command_veto(text), Some(name), "{text:?}");
    }
}

#[track_caller]
fn check_passes(texts: &[&str]) {
    for text in texts {
        assert_eq!(command_veto(text), None, "{text:?}");
    }
}

#[test]
fn p_99_rm_recursive_force() {
    check(
        "rm-recursive-force",
        &[
            "rm -rf /",
            "rm -fr x",
            "rm -r -f x",
            "rm -f -R x",
            "rm --recursive --force x",
            "rm --rec --fo x",
            "rm x -rf",
            "rm -vrf x",
            "/bin/rm -rf x",
            "sudo rm -rf x",
            "env A=b rm -rf x",
            "find . | xargs rm -rf",
            "xargs -n 1 rm -rf",
            "'rm' -rf x",
            "r\\m -rf x",
            "rm '-rf' x",
            "r''m -r\"f\" x",
            "sh -c 'rm -rf x'",
            "bash -lc \"cd a && rm -rf x\"",
            "sudo bash -c 'rm -rf x'",
            "a; rm -rf x",
            "a && rm -rf x",
            "a | rm -rf x",
            "(rm -rf x)",
            "{ rm -rf x; }",
            "$(rm -rf x)",
            "`rm -rf x`",
            "if true; then rm -rf x; fi",
            "rm\t-rf\tx",
            "rm \\\n-rf x",
            "find . -name x -exec rm -rf {} +",
            "eval 'rm -rf x'",
            "nohup rm -rf x &",
            "timeout 5 rm -rf x",
            "rm${IFS}-rf${IFS}x",
            "$'rm' -rf x",
            "busybox rm -rf x",
            "RM=1 rm -rf x",
            "echo \"$(rm -rf x)\"",
            "x=$(rm -rf y)",
            "rm -rf x > log",
        ],
    );
    check_passes(&[
        "rm -r x",
        "rm -f x",
        "rm x",
        "rm -r x; ls -f",
        "rm -r x | grep -f p",
        "rm -r x & ls -f",
        "rm --red-flag x",
        "rm -- -rf",
        "echo rm -rf x",
        "git rm -rf x",
        "farm -rf x",
        "rm -i --one-file-system x",
        "ls -rf",
        "man rm",
        "rm -r --no-preserve-root x",
        "grep -rf patterns rm",
    ]);
}

#[test]
fn p_99_mkfs() {
    check(
        "mkfs",
        &[
            "mkfs /dev/sda1",
            "mkfs.ext4 /dev/sda1",
            "/sbin/mkfs.xfs x",
            "sudo mkfs -t ext4 x",
            "sh -c 'mkfs x'",
        ],
    );
    check_passes(&["man mkfs", "echo mkfs", "ls /sbin/mkfs", "mkfsx a", "cargo run mkfs"]);
}

#[test]
fn p_99_dd_to_block_device() {
    check(
        "dd-to-block-device",
        &[
            "dd if=x of=/dev/sda",
            "sudo dd of=/dev/nvme0n1 if=x",
            "dd if=x 'of=/dev/sda'",
            "dd of=//dev/./sda",
        ],
    );
    check_passes(&[
        "dd if=/dev/sda of=x",
        "dd if=x of=/dev/null",
        "echo of=/dev/sda",
        "dd if=/dev/zero of=disk.img",
    ]);
}

#[test]
fn p_99_overwrite_block_device() {
    check(
        "overwrite-block-device",
        &[
            "echo x > /dev/sda",
            "cat x >/dev/sda",
            "cat x >> /dev/disk0",
            "x >| /dev/sda",
            "x 1> /dev/sdb1",
            "cat a &> '/dev/sda'",
        ],
    );
    check_passes(&[
        "ls > /dev/null",
        "ls 2>/dev/null",
        "ls > /dev/stderr",
        "echo > /dev/tcp/h/80",
        "cat /dev/sda",
        "ls > dev/sda",
        "ls > /tmp/dev/sda",
    ]);
}

#[test]
fn p_99_fork_bombs() {
    check(
        "fork-bomb",
        &[
            ":(){ :|:& };:",
            ":() { : | : & } ; :",
            "bomb(){ bomb|bomb& };bomb",
            "function b(){ b|b& }; b",
        ],
    );
    check("windows-fork-bomb", &["%0|%0", "%0 | %0"]);
    check_passes(&["f(){ echo a|cat; };f", "f() { ls & }; f", "echo %0"]);
}

#[test]
fn p_99_windows() {
    check(
        "windows-recursive-delete",
        &[
            "rd /s /q C:\\x",
            "rmdir /S x",
            "del /f /s /q x",
            "Remove-Item -Recurse -Force x",
            "remove-item x -rec -fo -force",
            "cmd /c rd /s /q x",
            "powershell -Command \"Remove-Item -Recurse -Force x\"",
        ],
    );
    check(
        "windows-format-volume",
        &["format c:", "FORMAT D: /q", "Format-Volume -DriveLetter D", "cmd /c format c:"],
    );
    check(
        "windows-disk-overwrite",
        &["Clear-Disk -Number 0", "diskpart /s x", "echo x > \\\\.\\PhysicalDrive0"],
    );
    check_passes(&[
        "rd x",
        "rmdir x",
        "del x",
        "cargo fmt --format c:",
        "format x",
        "prettier format",
        "Remove-Item x",
    ]);
}

#[test]
fn p_98_no_length_softens_a_veto() {
    let text = format!("{}rm -rf x", "true; ".repeat(50_000));
    check("rm-recursive-force", &[&text]);
}

proptest! {
    #[test]
    fn what_follows_never_lifts_a_veto(rest in "[a-z ;|&]{0,20}") {
        let text = format!("rm -rf x; {rest}");
        prop_assert_eq!(command_veto(&text), Some("rm-recursive-force"));
    }

    #[test]
    fn no_text_breaks_it(text in any::<String>()) {
        let _ = command_veto(&text);
    }
}
