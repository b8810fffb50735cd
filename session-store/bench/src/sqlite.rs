//! The same events in a table.

use rusqlite::Connection;
use std::path::Path;

/// How far SQLite goes for durability, with a write-ahead log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synchronous {
    /// A commit may be lost when the power fails.
    Normal,
    /// It is on the disk when the commit returns.
    Full,
}

/// A database with one table of events.
#[derive(Debug)]
pub struct Database(Connection);

impl Database {
    /// Creates one.
    pub fn create(path: &Path, synchronous: Synchronous) -> Self {
        let connection = Connection::open(path).expect("the scratch directory can be written");
        let level = match synchronous {
            Synchronous::Normal => "NORMAL",
            Synchronous::Full => "FULL",
        };
        let setup = format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = {level};
             CREATE TABLE IF NOT EXISTS event (n INTEGER PRIMARY KEY, session TEXT NOT NULL, line BLOB NOT NULL);"
        );
        connection.execute_batch(&setup).expect("the statements are valid");
        connection.busy_timeout(std::time::Duration::from_secs(30)).expect("it is a number of milliseconds");
        Database(connection)
    }

    /// Inserts events in one transaction.
    pub fn insert(&mut self, lines: &[&[u8]]) {
        let transaction = self.0.transaction().expect("nobody else writes for long");
        {
            let mut insert = transaction
                .prepare_cached("INSERT INTO event (session, line) VALUES ('demo', ?1)")
                .expect("the statement is valid");
            for line in lines {
                insert.execute([line]).expect("it can be inserted");
            }
        }
        transaction.commit().expect("it can be committed");
    }
}
