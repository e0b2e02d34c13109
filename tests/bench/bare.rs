//! The practical floor: a loop that asks the model, runs what it calls and writes a line of JSON for
//! each event. No prompt, no policy, no snapshots, no sandbox.
//!
//! It is this same program under another command, so that it can be run in turn with Cairn.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use serde_json::{Value, json};

/// The command under which the bench program is this loop.
pub(crate) const COMMAND: &str = "bare-loop";

/// Runs the loop. Arguments: base URL, workspace, trace file.
pub(crate) fn main(arguments: Vec<String>) -> anyhow::Result<()> {
    let [url, workspace, trace] = arguments.try_into().ok().context("three arguments")?;
    let address = url.strip_prefix("http://").and_then(|rest| rest.split('/').next());
    let address = address.context("an address such as http://127.0.0.1:1/v1")?.to_owned();
    let workspace = PathBuf::from(workspace);
    let mut trace = File::create(trace)?;
    let mut messages = vec![json!({"role": "user", "content": "Do it."})];
    loop {
        let answer = ask(&address, &messages, &mut trace)?;
        let calls = answer.get("tool_calls").and_then(Value::as_array).cloned();
        messages.push(answer);
        let Some(calls) = calls else { break };
        for call in calls {
            let output = run(&call["function"], &workspace)?;
            let message = json!({"role": "tool", "tool_call_id": call["id"], "content": output});
            writeln!(trace, "{message}")?;
            messages.push(message);
        }
    }
    trace.sync_data()?;
    Ok(())
}

fn ask(address: &str, messages: &[Value], trace: &mut File) -> anyhow::Result<Value> {
    let body = json!({"model": "fake-model", "stream": true, "messages": messages}).to_string();
    let mut stream = TcpStream::connect(address)?;
    // In HTTP/1.0 the answer ends with the connection, which saves a decoder of chunks.
    let head = format!(
        "POST /v1/chat/completions HTTP/1.0\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    let (mut text, mut calls) = (String::new(), Vec::new());
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            break;
        }
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let Ok(chunk) = serde_json::from_str::<Value>(data) else { continue };
        let delta = &chunk["choices"][0]["delta"];
        if let Some(piece) = delta["content"].as_str().filter(|piece| !piece.is_empty()) {
            text.push_str(piece);
            writeln!(trace, "{}", json!({"delta": piece}))?;
        }
        calls.extend(delta["tool_calls"].as_array().into_iter().flatten().cloned());
    }
    let mut answer = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        answer["tool_calls"] = Value::Array(calls);
    }
    writeln!(trace, "{answer}")?;
    Ok(answer)
}

fn run(function: &Value, workspace: &Path) -> anyhow::Result<String> {
    let arguments: Value = serde_json::from_str(function["arguments"].as_str().unwrap_or("{}"))?;
    let text = |name: &str| arguments[name].as_str().unwrap_or_default();
    let path = workspace.join(text("file_path"));
    Ok(match function["name"].as_str() {
        Some("read_file") => std::fs::read_to_string(path)?,
        Some("replace_in_file") => {
            let content = std::fs::read_to_string(&path)?;
            std::fs::write(&path, content.replacen(text("old_string"), text("new_string"), 1))?;
            "done".to_owned()
        }
        _ => {
            let mut bash = Command::new("bash");
            let output = bash.arg("-c").arg(text("command")).current_dir(workspace).output()?;
            String::from_utf8_lossy(&output.stdout).into_owned()
        }
    })
}
