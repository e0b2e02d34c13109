//! The fake model server as a program, to try `cairn run` by hand and for benches.
//!
//! `fake-model-server [--port N] [SCRIPT.json]` reads a JSON list of replies, such as
//! `[{"calls": [{"name": "read_file", "arguments": {"path": "a.txt"}}]}, {"text": ["Done."]}]`,
//! prints its base URL as one line and runs until its standard input closes or it is killed. After
//! the last reply it says "Done.". The replies are described in `../model_server.rs`.

use std::io::{Read, Write};

use cairn_tests::model_server::{ModelServer, Reply};

fn main() -> anyhow::Result<()> {
    let mut builder = ModelServer::builder();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--port" {
            let port = arguments.next().unwrap_or_default();
            builder = builder.port(port.parse()?);
        } else {
            let script = std::fs::read_to_string(&argument)?;
            let replies: Vec<Reply> = serde_json::from_str(&script)?;
            builder = builder.replies(replies);
        }
    }
    let server = builder.start();
    let mut out = std::io::stdout();
    writeln!(out, "{}", server.base_url())?;
    out.flush()?;
    let mut rest = Vec::new();
    std::io::stdin().read_to_end(&mut rest)?;
    Ok(())
}
