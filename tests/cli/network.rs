//! Promise 8: no socket listens, and nothing is asked of anybody but of the model that was connected.
//!
//! `strace` watches every network call of `cairn` and of all that it starts, so that nothing is too short to be seen.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use cairn_tests::model_server::{Call, MODEL, ModelServer, Reply};
use serde_json::json;

use crate::place::{Place, check, finish, program};

/// Runs `cairn` with these arguments under watch and returns its network calls, a line each.
fn watched(place: &Place, arguments: &[&str]) -> Vec<String> {
    let log = place.home.join("calls");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-e", "trace=connect,bind,listen,sendto,sendmsg", "-o"]).arg(&log);
    command.arg(program()).args(arguments);
    place.dress(&mut command);
    check(&finish(command), 0);
    let text = fs::read_to_string(&log).expect("the calls are read");
    text.lines().map(str::to_owned).collect()
}

/// The addresses in calls of this kind that are not of this computer alone (Unix, netlink).
fn addresses(calls: &[String], kind: &str) -> BTreeSet<String> {
    let of_kind = calls.iter().filter(|line| line.contains(&format!(" {kind}(")));
    let inet = of_kind.filter(|line| line.contains("sa_family=AF_INET"));
    let address = |line: &String| {
        let port = line.split("htons(").nth(1).and_then(|rest| rest.split(')').next());
        let host = line.split('"').nth(1);
        format!("{}:{}", host.unwrap_or("?"), port.unwrap_or("?"))
    };
    inet.map(address).collect()
}

#[test]
fn promise8_only_the_connected_model_is_asked_and_nothing_listens() {
    let shell = json!({"command": "echo a > made.txt; sleep 0.1 & wait"});
    let server = ModelServer::builder()
        .reply(Reply::error_with_header(503, ("retry-after", "0"), "Overloaded"))
        .reply(Reply::calls([Call::json("list_files", json!({"path": "."}))]))
        .reply(Reply::calls([Call::json("run_shell", shell)]))
        .reply(Reply::text([
            "Done: see https://example.com/page and ![](http://example.org/a.png)",
        ]))
        .start();
    let place = Place::new("");
    let target = ["--base-url", &server.base_url(), "--model", MODEL, "--mode", "auto"];
    let calls = watched(&place, &[&["run"], &target[..], &["go"]].concat());
    assert_eq!(server.requests().len(), 4);

    let own = server.base_url();
    let own = own.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    assert_eq!(addresses(&calls, "connect"), BTreeSet::from([own]), "{calls:#?}");
    for kind in ["bind", "sendto", "sendmsg"] {
        assert!(addresses(&calls, kind).is_empty(), "{calls:#?}");
    }
    let listens: Vec<&String> = calls.iter().filter(|line| line.contains(" listen(")).collect();
    assert!(listens.is_empty(), "{listens:?}");
}

/// What needs no model asks nobody.
#[test]
fn promise8_other_commands_ask_nobody() {
    let place = Place::new("{\"say\": \"Hello.\", \"end\": true}\n");
    check(&place.run(&[]), 0);
    for arguments in [&["sessions", "list"][..], &["turns", &place.session()]] {
        let calls = watched(&place, arguments);
        for kind in ["connect", "bind", "listen", "sendto", "sendmsg"] {
            assert!(addresses(&calls, kind).is_empty(), "{arguments:?}: {calls:#?}");
        }
    }
}
