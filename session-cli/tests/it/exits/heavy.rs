//! Every row of the table is run, in every state, in every form.

use super::scene::{Scene, Template};
use super::table::{Cell, Form, Prints, Row, State, table};
use super::verbs::verb_of;
use crate::schemas;
use crate::support::{Ran, json};
use crate::terminal::on_a_terminal;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The exit status where there is no such session.
const NOT_FOUND: i32 = 4;
/// How the files begin that describe what verbs of the feature `remote` print.
const OF_COPIES: [&str; 4] = ["push.", "pull.", "sync.", "remote-"];
/// How many tries are made at once.
const AT_ONCE: usize = 4;

#[test]
fn every_verb_in_every_state_and_form_exits_as_the_table_says() {
    let (template, rows) = (Template::new(), table());
    let tries: Vec<(&Row, State)> = rows.iter().flat_map(|row| State::ALL.map(|state| (row, state))).collect();
    let (next, wrong, seen) = (AtomicUsize::new(0), Mutex::new(Vec::new()), Mutex::new(BTreeSet::new()));
    let work = || {
        while let Some((row, state)) = tries.get(next.fetch_add(1, Ordering::Relaxed)) {
            let index = State::ALL.iter().position(|one| one == state).expect("it is one of them");
            let Cell::Exit(codes) = row.cells[index] else { continue };
            let mut scene = None;
            for (form, code) in Form::ALL.into_iter().zip(codes) {
                let tried = Try { row, state: *state, form, code };
                let now = scene.take().unwrap_or_else(|| tried.scene(&template));
                match tried.run(&now) {
                    Ok(files) => seen.lock().expect("nobody panics with it").extend(files),
                    Err(why) => wrong.lock().expect("nobody panics with it").push(why),
                }
                scene = (!tried.changes()).then_some(now);
            }
        }
    };
    thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(work))));
    let mut wrong = wrong.into_inner().expect("nobody panics with it");
    wrong.sort();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let seen = seen.into_inner().expect("nobody panics with it");
    let is_built = |name: &str| cfg!(feature = "remote") || !OF_COPIES.iter().any(|verb| name.starts_with(verb));
    let documents = schemas::files().keys().filter(|name| name.ends_with(".v1.json") && is_built(name));
    let unseen: Vec<&String> = documents.filter(|name| !seen.contains(*name)).collect();
    assert!(unseen.is_empty(), "no row prints what these files in docs/schemas describe: {unseen:?}");
}

/// One row in one state and form.
struct Try<'a> {
    row: &'a Row,
    state: State,
    form: Form,
    code: i32,
}

impl Try<'_> {
    fn scene<'t>(&self, template: &'t Template) -> Scene<'t> {
        // Nothing has to come before a call that does not get so far.
        let before = if self.code == NOT_FOUND { &[] } else { self.row.before };
        Scene::new(template, before, self.state)
    }

    /// Whether the scene may be another one after it.
    fn changes(&self) -> bool {
        let has_done_something = self.code == 0 || self.code == 3;
        has_done_something && self.state != State::ReadOnly && !self.row.looks
    }

    /// Runs it, and gives the files of the documents that it printed, or what is wrong with it.
    fn run(&self, scene: &Scene<'_>) -> Result<Vec<String>, String> {
        let mut words = scene.words(self.row.words, self.state.session());
        if self.form == Form::Json {
            words.insert(0, "--json".to_owned());
        }
        let ran = match self.form {
            Form::Terminal => on_a_terminal(scene.command(&words), self.row.input),
            Form::Pipe | Form::Json => self.in_a_pipe(scene, &words),
        };
        if ran.code != self.code {
            return Err(self.told(&format!("exit status {} and not {}", ran.code, self.code), &ran));
        }
        if ran.code > 1 && self.form != Form::Terminal && ran.stderr.is_empty() && !self.is_told_in(&ran) {
            return Err(self.told("nothing says why", &ran));
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if self.form == Form::Terminal {
            return Ok(Vec::new());
        }
        schemas::hold(&words, &ran.stdout);
        let files = schemas::documents(&ran.stdout);
        if self.form == Form::Json { self.judged(&ran, files) } else { Ok(files) }
    }

    /// In JSON, what is wrong stands in the document, or on a line of its own.
    fn is_told_in(&self, ran: &Ran) -> bool {
        (self.form == Form::Json || self.row.prints == Prints::Lines) && !ran.stdout.is_empty()
    }

    fn in_a_pipe(&self, scene: &Scene<'_>, words: &[String]) -> Ran {
        let mut command = scene.command(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program was built");
        // One that does not read its input closes it.
        drop(child.stdin.take().expect("it is piped").write_all(self.row.input.as_bytes()));
        Ran::of(&child.wait_with_output().expect("it ends"))
    }

    /// Whether a document is there where one has to be, and says of itself what the exit status says.
    fn judged(&self, ran: &Ran, files: Vec<String>) -> Result<Vec<String>, String> {
        let Prints::Document(name) = self.row.prints else { return Ok(files) };
        let verb = verb_of(self.row.words).join("-");
        let wanted = format!("{}.v1.json", name.unwrap_or(&verb));
        match &files[..] {
            [] if ran.code > 1 => return Ok(files),
            [] if ran.code == 0 && wanted != "transcript.v1.json" => return Err(self.told("there is no document", ran)),
            [] => return Ok(files),
            [one] if *one == wanted => {}
            _ => return Err(self.told(&format!("these documents, and not {wanted}: {files:?}"), ran)),
        }
        let complete = json(&ran.stdout)["complete"] == true;
        match (ran.code, complete) {
            (0, false) | (3, true) => Err(self.told(&format!("`complete` is {complete}"), ran)),
            _ => Ok(files),
        }
    }

    fn told(&self, what: &str, ran: &Ran) -> String {
        let Try { row, state, form, .. } = self;
        format!("{} {} {state:?} {form:?}: {what}\n  {}{}", row.words, row.when, ran.stdout, ran.stderr)
    }
}
