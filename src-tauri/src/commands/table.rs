// Every command that the window may call, by resource. `build.rs` makes a permission of each, the
// capability file grants them, and a test holds the three lists together.

/// Resources and their verbs; `plugin:session|start_turn` is the pair `session`, `start_turn`.
const COMMANDS: &[(&str, &[&str])] = &[
    // Not `app`: Tauri has a plugin of that name.
    ("cairn", &["state", "subscribe", "open_link", "ready"]),
    ("workspace", &["pick", "forget", "start_tour"]),
    (
        "session",
        &[
            "create",
            "open",
            "history",
            "subscribe",
            "unsubscribe",
            "start_turn",
            "unqueue",
            "interrupt",
            "stop_command",
            "retry_now",
            "set_mode",
            "set_model",
            "rename",
            "delete",
            "answer_question",
        ],
    ),
    ("approval", &["answer"]),
    ("changes", &["list", "diff", "plan", "restore", "bring_back"]),
    ("terminal", &["list", "open", "attach", "write", "ack", "resize", "close"]),
    ("provider", &["test", "save", "delete"]),
    ("settings", &["save"]),
];
