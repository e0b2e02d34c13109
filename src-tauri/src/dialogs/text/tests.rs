use proptest::prelude::*;

use super::*;

/// Characters that have broken dialogs, and plain ones.
fn nasty() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just("%".to_owned()),
        Just("%s%n%x".to_owned()),
        Just("%%".to_owned()),
        Just("\0".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n\t\u{1b}[2J".to_owned()),
        Just("\u{202e}\u{2066}\u{200b}\u{feff}".to_owned()),
        Just("_".to_owned()),
        Just("<b>&amp;</b>".to_owned()),
        Just("\u{e0041}\u{fe0f}".to_owned()),
        "[a-z ]{0,40}",
        any::<String>(),
    ];
    prop::collection::vec(pieces, 0..30).prop_map(|pieces| pieces.concat())
}

#[track_caller]
fn check_plain(text: &str) {
    let bad = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(u32::from(c), 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0xFEFF)
    };
    assert!(!text.contains(bad), "{text:?}");
}

#[cfg(target_os = "linux")]
#[track_caller]
fn check_no_format(text: &str) {
    let rest = text.replace("%%", "");
    assert!(!rest.contains('%'), "{text:?}");
}

proptest! {
    #[test]
    fn d14_no_message_is_a_format_or_holds_what_can_not_be_seen(text in nasty()) {
        let message = for_system(&format!("{}\n{}", block(&text), line(&text)));
        check_plain(&message);
        #[cfg(target_os = "linux")]
        check_no_format(&message);
        prop_assert!(message.chars().count() <= 2 * (MAX_MESSAGE + 40));
    }

    #[test]
    fn d14_the_sanitiser_alone_is_enough(text in nasty()) {
        let message = for_system(&text);
        check_plain(&message);
        #[cfg(target_os = "linux")]
        check_no_format(&message);
    }

    #[test]
    fn d14_titles_and_labels_are_one_plain_line(text in nasty()) {
        for made in [for_title(&text), for_label(&text)] {
            check_plain(&made);
            prop_assert!(!made.contains('\n'));
        }
        #[cfg(target_os = "linux")]
        prop_assert!(!for_label(&text).replace("__", "").contains('_'));
    }

    #[test]
    fn every_line_of_a_foreign_text_is_marked(text in nasty()) {
        let block = block(&text);
        prop_assert!(block.lines().all(|line| line.starts_with(MARK)), "{block:?}");
        prop_assert!(block.lines().count() <= MAX_LINES + 1);
    }

    /// What fits is not changed beyond what must be: doubled signs read back to the text that was shown.
    #[cfg(target_os = "linux")]
    #[test]
    fn d14_what_is_drawn_is_what_was_meant(text in "[ -~]{0,100}") {
        prop_assert_eq!(for_system(&text).replace("%%", "%"), visible(&text));
    }
}

#[test]
fn what_is_left_out_is_said() {
    let long: Vec<String> = (0..40).map(|number| format!("line {number}")).collect();
    let shown = block(&long.join("\n"));
    assert!(shown.ends_with("and 28 more lines, 309 bytes in all"), "{shown}");
    assert!(line(&"a".repeat(200)).ends_with("\u{2026} (+40 characters)"));
}
