//! Giving the sessions of a bundle their names, and each other's.

use super::imported::ImportedFromBundle;
use crate::chain::Member;
use crate::meta::{self, Update};
use crate::staging::Staged;
use crate::{Result, Store, StoreError};
use session_core::{MAX_NAME_BYTES, Meta, SessionName};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

/// Nobody else knows of a session in staging, so that there is nothing to wait for.
const UPDATE_WAIT: Duration = Duration::from_secs(1);
/// How many names are tried for a session whose own is taken.
const MAX_NAMES: u32 = 10_000;
/// How often all names are chosen anew, because somebody else took one of them.
const MAX_TRIES: u32 = 64;

/// Places what came with a bundle, under the names that it had there where they are free, and tells what it was called in
/// the order of the bundle. `newcomers` are whole, by their places in the bundle; `known` are those that were there before.
///
/// A session comes after the one that goes on with it, so that no link leads nowhere when this is cut short.
pub(super) fn place(
    store: &Store,
    was: &[SessionName],
    known: &BTreeMap<usize, SessionName>,
    mut newcomers: Vec<(usize, Staged<'_>)>,
    wanted: Option<&SessionName>,
) -> Result<Vec<ImportedFromBundle>> {
    let mut links = HashMap::new();
    for (place, staged) in &newcomers {
        let meta = meta::read(staged.paths(), was[*place].as_str(), store.options().limits)?.meta;
        links.insert(*place, Links { parent: meta.parent, succeeded_by: meta.succeeded_by });
    }
    newcomers.sort_by_key(|(place, _)| steps_to_the_last(*place, was, &links));
    let mut tries = 1;
    loop {
        let mut names = known.clone();
        let placed = Placing { store, was, links: &links, wanted }.all(&mut newcomers, &mut names);
        if placed.is_err() {
            // All or nothing. What cannot even be taken back is whole where it is.
            newcomers.iter_mut().for_each(|(_, staged)| drop(staged.take_back()));
        }
        match placed {
            Err(StoreError::Exists { .. }) if wanted.is_none() && tries < MAX_TRIES => tries += 1,
            Err(error) => return Err(error),
            Ok(()) => {
                let told = |(place, name): (usize, SessionName)| ImportedFromBundle {
                    name,
                    was: was[place].clone(),
                    is_known: known.contains_key(&place),
                };
                return Ok(names.into_iter().map(told).collect());
            }
        }
    }
}

/// Whom a session names, by the names in the bundle.
#[derive(Debug)]
struct Links {
    parent: String,
    succeeded_by: String,
}

/// How many newcomers come after one in its chain.
fn steps_to_the_last(place: usize, was: &[SessionName], links: &HashMap<usize, Links>) -> usize {
    let next = |at: &usize| {
        let successor = &links.get(at)?.succeeded_by;
        was.iter().position(|name| name.as_str() == successor)
    };
    // A chain that comes back to where it was has no last one.
    std::iter::successors(Some(place), next).take(was.len()).count()
}

struct Placing<'a> {
    store: &'a Store,
    was: &'a [SessionName],
    links: &'a HashMap<usize, Links>,
    wanted: Option<&'a SessionName>,
}

impl Placing<'_> {
    /// Chooses all names, tells them to whom they concern, and gives them. They are added to `names`.
    fn all(&self, newcomers: &mut [(usize, Staged<'_>)], names: &mut BTreeMap<usize, SessionName>) -> Result<()> {
        let mut chosen: HashSet<SessionName> = HashSet::new();
        for (place, _) in newcomers.iter() {
            let name = match self.wanted {
                Some(wanted) => {
                    self.store.refuse_taken(wanted)?;
                    wanted.clone()
                }
                None => self.free_name(&self.was[*place], &chosen)?,
            };
            chosen.insert(name.clone());
            names.insert(*place, name);
        }
        for (place, staged) in newcomers.iter() {
            self.tell(*place, staged, names)?;
        }
        for (place, staged) in newcomers.iter_mut() {
            staged.place_as(&names[place])?;
        }
        Ok(())
    }

    /// The name that a session had, or if that is taken the same with a number.
    fn free_name(&self, was: &SessionName, chosen: &HashSet<SessionName>) -> Result<SessionName> {
        for number in 1..MAX_NAMES {
            let name = if number == 1 { was.clone() } else { numbered(was, number) };
            if chosen.contains(&name) {
                continue;
            }
            match self.store.refuse_taken(&name) {
                Ok(()) => return Ok(name),
                // A link that has the name is somebody's too.
                Err(StoreError::Exists { .. } | StoreError::Escapes { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::Exists { name: was.clone() })
    }

    /// Makes the metadata of a session name it, and those that came with it, as they are called here. Where everybody
    /// keeps their names, nothing is touched.
    fn tell(&self, place: usize, staged: &Staged<'_>, names: &BTreeMap<usize, SessionName>) -> Result<()> {
        let here = |was: &str| {
            let place = self.was.iter().position(|name| name.as_str() == was);
            place.and_then(|place| names.get(&place)).map_or(was, SessionName::as_str).to_owned()
        };
        let (name, links) = (&names[&place], &self.links[&place]);
        let (parent, succeeded_by) = (here(&links.parent), here(&links.succeeded_by));
        let goes_on_elsewhere = succeeded_by != links.succeeded_by;
        if *name == self.was[place] && parent == links.parent && !goes_on_elsewhere {
            return Ok(());
        }
        let store = self.store;
        let update = Update {
            paths: staged.paths(),
            name: name.as_str(),
            limits: store.options().limits,
            durability: store.options().durability,
            now: store.clock().utc(),
            wait: UPDATE_WAIT,
        };
        meta::update(&update, |meta: &mut Meta| {
            name.as_str().clone_into(&mut meta.name);
            (meta.parent, meta.succeeded_by) = (parent, succeeded_by.clone());
            Ok(())
        })?;
        match SessionName::new(succeeded_by) {
            Ok(successor) if goes_on_elsewhere => {
                let member = Member { name: name.clone(), paths: staged.paths().clone(), dangling: None };
                store.session(member)?.tell_successor(&successor)
            }
            _ => Ok(()),
        }
    }
}

/// A name with a number at its end, cut in between where it would be too long.
fn numbered(name: &SessionName, number: u32) -> SessionName {
    let end = format!("-{number}");
    let cut = name.as_str().floor_char_boundary(MAX_NAME_BYTES - end.len());
    let name = format!("{}{end}", &name.as_str()[..cut]);
    SessionName::new(name).expect("the beginning of a name, a dash and a number are a name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_number_is_a_name_however_long_it_was() {
        let name = |text: &str| SessionName::new(text).expect("it is a name");
        assert_eq!(numbered(&name("oaks"), 2), name("oaks-2"));
        let long = name(&"木".repeat(42));
        assert_eq!(numbered(&long, 10), name(&format!("{}-10", "木".repeat(41))));
    }

    #[test]
    fn who_goes_on_comes_first() {
        let was: Vec<SessionName> =
            ["a", "b", "c"].iter().map(|name| SessionName::new(*name).expect("it is a name")).collect();
        let link = |succeeded_by: &str| Links { parent: String::new(), succeeded_by: succeeded_by.to_owned() };
        let links = HashMap::from([(0, link("c")), (1, link("nobody")), (2, link("b"))]);
        let steps: Vec<usize> = (0..3).map(|place| steps_to_the_last(place, &was, &links)).collect();
        assert_eq!(steps, [3, 1, 2]);
        let loops = HashMap::from([(0, link("b")), (1, link("a"))]);
        assert_eq!(steps_to_the_last(0, &was, &loops), 3);
    }
}
