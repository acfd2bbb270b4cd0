//! The store and the hub: all that the library wants to know of the database.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use mcp_driver_tokio::mcp_proto::store::{Cursor, Polled, Record};
use mcp_driver_tokio::{SimpleHub, SimpleSessionStore};

use super::database::Database;

/// Each is one statement of the database, so that no two workers do half of it.
impl SimpleSessionStore for Database {
    type Error = io::Error;

    async fn create(&self, id: String, data: Bytes, ttl: Duration) -> io::Result<bool> {
        Ok(self.insert_row(id, data, ttl))
    }

    async fn get(&self, id: String, renew: Option<Duration>) -> io::Result<Option<Record>> {
        Ok(self.row(&id, renew).map(|(data, version)| Record { data, version }))
    }

    async fn save(
        &self,
        id: String,
        data: Bytes,
        expected_version: u64,
        ttl: Duration,
    ) -> io::Result<bool> {
        Ok(self.update_row(&id, data, expected_version, ttl))
    }

    async fn delete(&self, id: String) -> io::Result<()> {
        self.delete_row(&id);
        Ok(())
    }
}

/// Places in a log are numbers here. A hub may use whatever orders as published.
impl SimpleHub for Database {
    type Error = io::Error;

    async fn publish(
        &self,
        topic: String,
        message: Bytes,
        ttl: Duration,
        keep: u32,
    ) -> io::Result<Cursor> {
        Ok(self.append(topic, message, ttl, keep as usize).into())
    }

    async fn position(&self, topic: String) -> io::Result<Cursor> {
        Ok(self.end_of(&topic).into())
    }

    async fn poll(&self, topics: Vec<(String, Cursor)>, wait: Duration) -> io::Result<Vec<Polled>> {
        let mut changes = self.changes();
        let look = async {
            loop {
                let news: Vec<_> = topics
                    .iter()
                    .filter_map(|(topic, after)| {
                        let read = self.read_after(topic, after.as_str().parse().ok())?;
                        Some(Polled { topic: topic.clone(), read })
                    })
                    .collect();
                // Without news there is nothing to return before something changes.
                if !news.is_empty() || wait.is_zero() || changes.changed().await.is_err() {
                    return news;
                }
            }
        };
        Ok(tokio::time::timeout(wait, look).await.unwrap_or_default())
    }

    async fn delete(&self, topic: String) -> io::Result<()> {
        self.delete_log(&topic);
        Ok(())
    }
}
