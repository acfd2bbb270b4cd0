//! Whom records are charged to: who holds the most gives up first.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// An account's number.
pub(super) type Number = u64;

/// When a record's turn to go comes: those that nobody came back for are first, then those that
/// were not used for longest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    pub(super) came_back: bool,
    pub(super) used: u64,
}

/// Everyone who is charged for a record, and the one for whom nobody is known.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    next: Number,
    by_name: HashMap<Option<Arc<str>>, Number>,
    by_number: HashMap<Number, Account>,
    by_size: BTreeSet<(usize, Number)>,
}

#[derive(Debug, Default)]
struct Account {
    name: Option<Arc<str>>,
    bytes: usize,
    turns: BTreeSet<(Turn, Arc<str>)>,
}

impl Accounts {
    /// Charges a new record of so many bytes.
    pub(super) fn charge(
        &mut self,
        name: Option<&Arc<str>>,
        bytes: usize,
        turn: Turn,
        id: Arc<str>,
    ) -> Number {
        let number = match self.by_name.get(&name.cloned()) {
            Some(number) => *number,
            None => {
                self.next += 1;
                self.by_name.insert(name.cloned(), self.next);
                let account = Account { name: name.cloned(), ..Account::default() };
                self.by_number.insert(self.next, account);
                self.next
            }
        };
        self.change(number, |account| {
            account.bytes += bytes;
            account.turns.insert((turn, id));
        });
        number
    }

    /// The record is gone.
    pub(super) fn discharge(&mut self, number: Number, bytes: usize, turn: Turn, id: &Arc<str>) {
        self.change(number, |account| {
            account.bytes = account.bytes.saturating_sub(bytes);
            account.turns.remove(&(turn, Arc::clone(id)));
        });
    }

    /// The record of whoever holds the most whose turn is first, as it was noted.
    pub(super) fn first(&self) -> Option<(Number, Turn, Arc<str>)> {
        let (_, number) = self.by_size.last()?;
        let (turn, id) = self.by_number.get(number)?.turns.first()?;
        Some((*number, turn.clone(), Arc::clone(id)))
    }

    /// Its turn comes later by now.
    pub(super) fn put_off(&mut self, number: Number, from: Turn, to: Turn, id: &Arc<str>) {
        if let Some(account) = self.by_number.get_mut(&number) {
            account.turns.remove(&(from, Arc::clone(id)));
            account.turns.insert((to, Arc::clone(id)));
        }
    }

    fn change(&mut self, number: Number, change: impl FnOnce(&mut Account)) {
        let Some(account) = self.by_number.get_mut(&number) else { return };
        self.by_size.remove(&(account.bytes, number));
        change(account);
        if account.turns.is_empty() {
            let name = core::mem::take(&mut account.name);
            self.by_name.remove(&name);
            self.by_number.remove(&number);
        } else {
            self.by_size.insert((account.bytes, number));
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.by_number.len()
    }
}
