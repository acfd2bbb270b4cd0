//! Who is killed when: by the seed alone.

use std::io;
use std::time::Duration;

use mcp_proto::testing::Random;

use crate::workers::{WORKERS, Workers};

/// Kills in a row, each after a while, and each worker is back after a while.
pub(crate) struct Schedule {
    random: Random,
    /// Between two kills at the most.
    pub(crate) pause: Duration,
}

impl Schedule {
    pub(crate) fn new(seed: u64, pause: Duration) -> Self {
        Self { random: Random::new(seed), pause }
    }

    /// Kills one worker and has it come back.
    pub(crate) async fn strike(&mut self, workers: &mut Workers) -> io::Result<()> {
        self.wait().await;
        let place = self.random.up_to(WORKERS as u64 - 1) as usize;
        workers.kill(place).await?;
        if self.random.one_in(3) {
            // It is missed for a while; the balancer still sends requests there.
            self.wait().await;
        }
        workers.run(place).await
    }

    async fn wait(&mut self) {
        let most = u64::try_from(self.pause.as_millis()).unwrap_or(u64::MAX);
        let wait = most / 4 + self.random.up_to(most * 3 / 4);
        tokio::time::sleep(Duration::from_millis(wait)).await;
    }
}
