//! One tool server, as its entry says (P-141).

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use cairn_protocol::McpTransport;

/// One tool server. Variables are filled in, so that a value can be a secret; `Debug` shows none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEntry {
    /// Its name: letters, digits, `_` and `-`, a letter or digit first.
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
    /// Whether it is to be used.
    pub enabled: bool,
    /// The limit for connecting and listing its tools.
    pub connect_timeout: Duration,
    /// The limit for one call; absent takes the default of tools.
    pub timeout: Option<Duration>,
    /// Characters of output that the model gets; absent takes the default of tools.
    pub max_output_length: Option<u64>,
    /// How its tools are treated.
    pub permission: ServerPermission,
}

/// How a tool server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum Transport {
    /// A child process.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Further environment variables.
        env: BTreeMap<String, String>,
        /// Where it runs; absent means the workspace.
        cwd: Option<String>,
    },
    /// Streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// Sent with every request.
        headers: BTreeMap<String, String>,
    },
    /// The older HTTP with server-sent events; never inferred.
    Sse {
        /// The address.
        url: String,
        /// Sent with every request.
        headers: BTreeMap<String, String>,
    },
}

/// How the tools of a server are treated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ServerPermission {
    /// As its own hints say, as far as they are trusted.
    #[default]
    Auto,
    /// As reading.
    Read,
    /// As writing.
    ReadWrite,
}

impl Transport {
    /// Returns the kind, as events name it.
    pub fn kind(&self) -> McpTransport {
        match self {
            Self::Stdio { .. } => McpTransport::Stdio,
            Self::Http { .. } => McpTransport::Http,
            Self::Sse { .. } => McpTransport::Sse,
        }
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, args, env, cwd } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", &args.len())
                .field("env", &env.keys())
                .field("cwd", cwd)
                .finish(),
            Self::Http { headers, .. } | Self::Sse { headers, .. } => f
                .debug_struct(if self.kind() == McpTransport::Http { "Http" } else { "Sse" })
                .field("headers", &headers.keys())
                .finish_non_exhaustive(),
        }
    }
}
