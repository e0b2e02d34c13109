use super::*;

#[test]
fn two_data_roots_are_two_instances() {
    let one = instance_name(Path::new("/home/a/.cairn"));
    assert_eq!(one, instance_name(Path::new("/home/a/.cairn")));
    assert_ne!(one, instance_name(Path::new("/home/b/.cairn")));
    let valid = |part: &str| part.starts_with(|c: char| c.is_ascii_lowercase());
    assert!(one.split('.').all(valid), "{one}");
}

#[test]
fn a_panic_in_a_command_is_an_error_of_that_call() {
    let failed: Result<()> = tauri::async_runtime::block_on(contain(async { panic!("boom") }));
    assert_eq!(failed.expect_err("it panicked").code, ErrorCode::Internal);
    let failed: Result<()> = tauri::async_runtime::block_on(contain_blocking(|| panic!("boom")));
    assert_eq!(failed.expect_err("it panicked").code, ErrorCode::Internal);
    let fine = tauri::async_runtime::block_on(contain(async { Ok(1) }));
    assert_eq!(fine, Ok(1));
}
