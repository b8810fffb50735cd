//! Sessions that live through anything, against a model in memory.

use crate::scratch::{Scratch, name};
use crate::support::{quick, texts};
use proptest::collection::vec;
use proptest::prelude::*;
use session_core::{Message, Point};
use session_store::{
    Compaction, Deletion, NewFork, NewSession, Rewind, RewindForce, RewindParts, SessionName, Store, StoreError,
};
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
enum Step {
    Append(usize),
    Rollback(usize, u8),
    Fork(usize, u8),
    Compact(usize),
    Rename(usize),
    Trash(usize, bool),
    Restore(usize),
    Rewind(usize, u8),
    Undo(usize, bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let which = 0_usize..8;
    let step = prop_oneof![
        6 => which.clone().prop_map(Step::Append),
        2 => (which.clone(), 0_u8..4).prop_map(|(at, n)| Step::Rollback(at, n)),
        2 => (which.clone(), 0_u8..5).prop_map(|(at, n)| Step::Fork(at, n)),
        2 => which.clone().prop_map(Step::Compact),
        2 => which.clone().prop_map(Step::Rename),
        1 => (which.clone(), any::<bool>()).prop_map(|(at, force)| Step::Trash(at, force)),
        1 => which.clone().prop_map(Step::Restore),
        2 => (which.clone(), 0_u8..5).prop_map(|(at, n)| Step::Rewind(at, n)),
        2 => (which, any::<bool>()).prop_map(|(at, force)| Step::Undo(at, force)),
    ];
    vec(step, 0..30)
}

/// A session, as it should be.
#[derive(Debug, Clone, Default)]
struct Life {
    live: Vec<String>,
    /// Each message is one of the user's and a turn: what was live when it ended, and whether that still is.
    turns: Vec<(Vec<String>, bool)>,
    parent: String,
    successor: String,
    /// What was live before the newest rewind and right after it, until it is undone.
    rewound: Option<(Vec<String>, Vec<String>)>,
    /// The fewest that were live since then.
    fewest: usize,
}

impl Life {
    fn push(&mut self, text: String) {
        self.live.push(text);
        self.turns.push((self.live.clone(), true));
    }

    fn cut(&mut self, to: usize) {
        self.live.truncate(to);
        self.fewest = self.fewest.min(to);
        self.turns.iter_mut().for_each(|(then, stands)| *stands &= then.len() <= to);
    }
}

#[derive(Default)]
struct Model {
    lives: BTreeMap<String, Life>,
    /// By their ids in the trash.
    trash: BTreeMap<String, (String, Life)>,
    count: u32,
}

impl Model {
    fn pick(&self, at: usize) -> Option<String> {
        let names: Vec<&String> = self.lives.keys().collect();
        (!names.is_empty()).then(|| names[at % names.len()].clone())
    }

    fn fresh(&mut self) -> String {
        self.count += 1;
        format!("s{}", self.count)
    }

    /// Where opening leads, unless a link is missing on the way.
    fn last(&self, from: &str) -> String {
        let mut at = from.to_owned();
        while let Some(next) = self.lives.get(&at).map(|life| life.successor.clone()) {
            if next.is_empty() || !self.lives.contains_key(&next) {
                break;
            }
            at = next;
        }
        at
    }

    /// Whether one session goes on as this one, and this one as another.
    fn is_middle(&self, session: &str) -> bool {
        let life = &self.lives[session];
        let is_before = self.lives.get(&life.parent).is_some_and(|before| before.successor == session);
        is_before && self.lives.contains_key(&life.successor)
    }
}

fn is_succeeded(error: &StoreError) -> bool {
    matches!(error, StoreError::Succeeded { .. })
}

struct World {
    _scratch: Scratch,
    store: Store,
    model: Model,
}

impl World {
    fn new() -> Self {
        let scratch = Scratch::new();
        let store = scratch.store_with(quick());
        let mut world = World { _scratch: scratch, store, model: Model::default() };
        for _ in 0..2 {
            let session = world.model.fresh();
            let new = NewSession { name: Some(name(&session)), ..NewSession::default() };
            drop(world.store.create(&new).expect("it can be created"));
            world.model.lives.insert(session, Life::default());
        }
        world
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Append(at) => self.append(*at),
            Step::Rollback(at, n) => self.rollback(*at, *n),
            Step::Fork(at, n) => self.fork(*at, *n),
            Step::Compact(at) => self.compact(*at),
            Step::Rename(at) => self.rename(*at),
            Step::Trash(at, force) => self.trash(*at, *force),
            Step::Restore(at) => self.restore(*at),
            Step::Rewind(at, n) => self.rewind(*at, *n),
            Step::Undo(at, force) => self.undo(*at, *force),
        }
    }

    /// A session that is opened, under the name that opening leads to, and whether it can be written.
    fn open(&self, at: usize) -> Option<(session_store::Session, String, bool)> {
        let last = self.model.last(&self.model.pick(at)?);
        let session = self.store.open(&name(&self.model.pick(at)?)).expect("it is there");
        assert_eq!(session.name(), last);
        let is_open = self.model.lives[&last].successor.is_empty();
        Some((session, last, is_open))
    }

    fn append(&mut self, at: usize) {
        let Some((session, last, is_open)) = self.open(at) else { return };
        self.model.count += 1;
        let text = format!("message {}", self.model.count);
        match session.append_messages([Message::user(&text)]) {
            Ok(_) => assert!(is_open),
            Err(error) => {
                assert!(!is_open && is_succeeded(&error), "{error}");
                return;
            }
        }
        self.life(&last).push(text);
    }

    fn rollback(&mut self, at: usize, n: u8) {
        let Some((session, last, is_open)) = self.open(at) else { return };
        if !is_open || !self.store.has_history(&name(&last)) {
            return;
        }
        session.rollback(n.into()).expect("nothing forbids it");
        let life = self.life(&last);
        let left = life.live.len().saturating_sub(n.into());
        life.cut(left);
    }

    fn fork(&mut self, at: usize, n: u8) {
        let Some(source) = self.model.pick(at) else { return };
        let new = self.model.fresh();
        let wanted = NewFork { name: Some(name(&new)), at: Some(Point::Turn(n.into())), over_damage: false };
        let life = self.model.lives[&source].clone();
        let kept = match usize::from(n).checked_sub(1) {
            None => Some(Vec::new()),
            Some(turn) => life.turns.get(turn).map(|(then, _)| then.clone()),
        };
        match (self.store.fork(&name(&source), &wanted, None), kept) {
            (Ok(forked), Some(kept)) => {
                assert_eq!(forked.messages as usize, kept.len());
                let mut fork = Life { parent: source, ..Life::default() };
                kept.into_iter().for_each(|text| fork.push(text));
                self.model.lives.insert(new, fork);
            }
            (Err(StoreError::Cut { .. }), None) => {}
            (other, kept) => panic!("{other:?} {kept:?}"),
        }
    }

    fn compact(&mut self, at: usize) {
        let Some((session, last, is_open)) = self.open(at) else { return };
        let new = self.model.fresh();
        let lock = session.lock().expect("it is free");
        let plan = Compaction { name: Some(name(&new)), summary: format!("summary of {last}") };
        match self.store.compact(&session, &lock, &plan, None) {
            Ok(_) => assert!(is_open),
            Err(error) => {
                assert!(!is_open && is_succeeded(&error), "{error}");
                return;
            }
        }
        let mut life = Life { parent: last.clone(), ..Life::default() };
        life.push(plan.summary);
        self.life(&last).successor = new.clone();
        self.model.lives.insert(new, life);
    }

    fn rename(&mut self, at: usize) {
        let Some(old) = self.model.pick(at) else { return };
        let new = self.model.fresh();
        self.store.rename(&name(&old), &name(&new)).expect("nothing forbids it");
        let life = self.model.lives.remove(&old).expect("it was picked");
        self.model.lives.insert(new.clone(), life);
        for life in self.model.lives.values_mut() {
            for link in [&mut life.parent, &mut life.successor] {
                if *link == old {
                    link.clone_from(&new);
                }
            }
        }
    }

    fn trash(&mut self, at: usize, force: bool) {
        let Some(session) = self.model.pick(at) else { return };
        let deletion = if force { Deletion::Forced } else { Deletion::Careful };
        let is_middle = self.model.is_middle(&session);
        match self.store.trash(&name(&session), "", deletion) {
            Ok(entry) => {
                assert!(force || !is_middle, "{session} leads from one session to the next");
                let life = self.model.lives.remove(&session).expect("it was picked");
                self.model.trash.insert(entry.id, (session, life));
            }
            Err(StoreError::InChain { .. }) => assert!(!force && is_middle, "{session} is at an end"),
            Err(error) => panic!("{error}"),
        }
    }

    fn restore(&mut self, at: usize) {
        let ids: Vec<&String> = self.model.trash.keys().collect();
        if ids.is_empty() {
            return;
        }
        let id = ids[at % ids.len()].clone();
        self.store.restore_from_trash(&id).expect("names are never given twice");
        let (session, life) = self.model.trash.remove(&id).expect("it was picked");
        self.model.lives.insert(session, life);
    }

    fn rewind(&mut self, at: usize, n: u8) {
        let Some((session, last, is_open)) = self.open(at) else { return };
        let lock = session.lock().expect("it is free");
        let rewind = Rewind { to: Point::Turn(n.into()), parts: RewindParts::Chat, force: RewindForce::Careful };
        let life = &self.model.lives[&last];
        let kept = match usize::from(n).checked_sub(1) {
            None => Some(Vec::new()),
            Some(turn) => life.turns.get(turn).filter(|(_, stands)| *stands).map(|(then, _)| then.clone()),
        };
        match (session.rewind(Some(&lock), &rewind, None), kept) {
            (Err(error), _) if !is_open => assert!(is_succeeded(&error), "{error}"),
            (Ok(rewound), Some(kept)) => {
                let life = self.life(&last);
                assert_eq!(rewound.messages as usize, life.live.len() - kept.len());
                if rewound.messages > 0 {
                    let before = life.live.clone();
                    life.cut(kept.len());
                    life.fewest = kept.len();
                    life.rewound = Some((before, kept));
                }
            }
            (Err(StoreError::Cut { .. }), None) => {}
            (other, kept) => panic!("{other:?} {kept:?}"),
        }
    }

    fn undo(&mut self, at: usize, force: bool) {
        let Some((session, last, is_open)) = self.open(at) else { return };
        if !is_open {
            return;
        }
        let lock = session.lock().expect("it is free");
        let policy = if force { RewindForce::Forced } else { RewindForce::Careful };
        let undone = session.undo_rewind(Some(&lock), policy, None);
        let life = self.life(&last);
        let possible = life.rewound.clone().filter(|(_, after)| life.fewest >= after.len());
        match (undone, possible) {
            (Ok(_), Some((before, after))) => {
                assert!(force || life.live.len() == after.len());
                life.cut(after.len());
                let came_back = before[after.len()..].to_vec();
                came_back.into_iter().for_each(|text| life.push(text));
                life.rewound = None;
            }
            (Err(StoreError::RewindRefused { .. }), Some((_, after))) => {
                assert!(!force && life.live.len() > after.len());
            }
            (Err(StoreError::NothingToUndo { .. }), None) => {}
            (other, possible) => panic!("{other:?} {possible:?}"),
        }
    }

    fn life(&mut self, session: &str) -> &mut Life {
        self.model.lives.get_mut(session).expect("it was picked")
    }

    fn compare(&self) {
        let names: Vec<SessionName> = self.store.names().expect("it can be read");
        let mut names: Vec<String> = names.iter().map(ToString::to_string).collect();
        names.sort();
        let mut wanted: Vec<String> = self.model.lives.keys().cloned().collect();
        wanted.sort();
        assert_eq!(names, wanted);
        for (session, life) in &self.model.lives {
            let loaded = self.store.load(&name(session)).expect("it can be read");
            assert_eq!(texts(&loaded), life.live, "{session}");
            let meta = self.store.read_meta(&name(session)).expect("it can be read").meta;
            assert_eq!((&meta.name, &meta.parent, &meta.succeeded_by), (session, &life.parent, &life.successor));
        }
        assert_eq!(self.store.trash_list().expect("it can be read").len(), self.model.trash.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: session_testing::usually(64, 1_000),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_happens_to_sessions_each_says_what_the_model_says(steps in steps()) {
        let mut world = World::new();
        for step in &steps {
            world.step(step);
            world.compare();
        }
    }
}
