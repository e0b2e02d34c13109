//! The SQLite index of sessions: a cache over the state files, so that a start opens none of them.
//!
//! It is never the truth. A row counts only while the state file has the same signature (time, size, inode);
//! an index that is damaged, of another version or deleted is put aside and filled again. It holds no history.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use cairn_protocol::{SessionId, Timestamp};
use rusqlite::{Connection, ErrorCode, params};

use crate::SessionRecord;

/// The schema that this code knows; kept in `user_version`.
const SCHEMA_VERSION: i64 = 1;

/// How long one process waits for another's write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS sessions (
        id TEXT PRIMARY KEY NOT NULL,
        workspace_id TEXT NOT NULL,
        last_active_at INTEGER NOT NULL,
        signature TEXT NOT NULL,
        record TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS sessions_by_workspace ON sessions (workspace_id, last_active_at);
";

/// A record as the index knows it.
pub(crate) struct Row {
    pub(crate) signature: String,
    pub(crate) record: SessionRecord,
}

/// The index of one data root.
pub(crate) struct Index {
    path: PathBuf,
    opened_at: Timestamp,
    connection: Mutex<Connection>,
}

impl Index {
    /// Opens the index, or puts a bad one aside and makes a new one. Where no file can be made it lives in memory.
    pub(crate) fn open(path: &Path, now: Timestamp, problems: &mut Vec<String>) -> Self {
        let again = |error: rusqlite::Error| {
            if is_bad(&error) {
                put_aside(path, now);
            }
            connect(path)
        };
        // The second time for two processes that make the index at the same moment.
        let connection = connect(path).or_else(again).or_else(again);
        let connection = connection.unwrap_or_else(|error| {
            problems.push(format!(
                "The index of sessions cannot be used ({error}); starting takes longer until it can."
            ));
            in_memory()
        });
        Self { path: path.to_owned(), opened_at: now, connection: Mutex::new(connection) }
    }

    /// Returns all rows that can be understood.
    pub(crate) fn rows(&self) -> HashMap<SessionId, Row> {
        self.with(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT id, signature, record FROM sessions")?;
            let rows = statement.query_map([], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
            })?;
            let mut found = HashMap::new();
            for row in rows {
                let (id, signature, record) = row?;
                if let Ok(record) = serde_json::from_str::<SessionRecord>(&record)
                    && record.id.as_str() == id
                {
                    found.insert(record.id.clone(), Row { signature, record });
                }
            }
            Ok(found)
        })
        .unwrap_or_default()
    }

    /// Remembers a record. A failure only costs the next start a read.
    pub(crate) fn put(&self, record: &SessionRecord, signature: &str) {
        let Ok(json) = serde_json::to_string(record) else { return };
        self.with(|connection| {
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO sessions (id, workspace_id, last_active_at, signature, record)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![
                    record.id.as_str(),
                    record.workspace_id.as_str(),
                    record.last_active_at.0,
                    signature,
                    json
                ])
        });
    }

    /// Forgets a record.
    pub(crate) fn remove(&self, id: &SessionId) {
        self.with(|connection| {
            connection.prepare_cached("DELETE FROM sessions WHERE id = ?1")?.execute([id.as_str()])
        });
    }

    /// Runs a statement; an index that turns out damaged is put aside, and the statement runs on the new one.
    fn with<T>(&self, run: impl Fn(&Connection) -> rusqlite::Result<T>) -> Option<T> {
        let mut connection = self.lock();
        match run(&connection) {
            Ok(value) => Some(value),
            Err(error) if is_bad(&error) => {
                *connection = in_memory();
                put_aside(&self.path, self.opened_at);
                *connection = connect(&self.path).unwrap_or_else(|_| in_memory());
                run(&connection).ok()
            }
            Err(_) => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version == 0 {
        restrict(path);
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.execute_batch(SCHEMA)?;
        connection.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    } else if version != SCHEMA_VERSION {
        return Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOTADB),
            Some(format!("its schema is version {version}")),
        ));
    }
    // A cache need not survive a power cut; it must only never be wrong, which the signatures see to.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(connection)
}

fn in_memory() -> Connection {
    let connection = Connection::open_in_memory().expect("SQLite can always open memory");
    connection.execute_batch(SCHEMA).expect("the schema is sound");
    connection
}

fn is_bad(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(failure, message) => {
            let lost_table = message.as_deref().is_some_and(|text| text.contains("no such"));
            matches!(failure.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
                || lost_table
        }
        rusqlite::Error::SqlInputError { msg, .. } => msg.contains("no such"),
        _ => false,
    }
}

/// Renames the index and its side files, so that nothing is deleted.
fn put_aside(path: &Path, now: Timestamp) {
    for suffix in ["", "-wal", "-shm"] {
        let mut from = path.as_os_str().to_owned();
        from.push(suffix);
        let mut to = path.as_os_str().to_owned();
        to.push(format!(".aside-{}{suffix}", now.0));
        // What can't be renamed shows as an error of the next open.
        let _ = std::fs::rename(from, to);
    }
}

/// Makes the file readable for the user only; SQLite gives its side files the same mode.
fn restrict(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600));
    }
    #[cfg(not(unix))]
    let _ = path;
}

/// Returns what tells one version of a state file from another without opening it.
pub(crate) fn signature(metadata: &Metadata) -> String {
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let nanoseconds = modified.unwrap_or_default().as_nanos();
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(metadata);
    #[cfg(not(unix))]
    let inode = 0;
    format!("{nanoseconds}-{}-{inode}", metadata.len())
}
