//! Every verb, and its exit status in every state.
//!
//! A row is a call: `%` is the session, `{work}` the directory that it is run in, `{garden}` the one that the sessions
//! work in, `{claim}` the id of a message that was taken. A new verb gets a row here, and a file in `docs/schemas` if
//! `--json` makes it print a document.

/// What a store and a session are like when a verb is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing is in the way.
    Ok,
    /// There is no session of the name.
    NotFound,
    /// The name is the start of two.
    Ambiguous,
    /// A line of its history cannot be read.
    Damaged,
    /// Another process runs a turn in it.
    Busy,
    /// The store cannot be written to.
    ReadOnly,
}

impl State {
    pub(super) const ALL: [State; 6] =
        [State::Ok, State::NotFound, State::Ambiguous, State::Damaged, State::Busy, State::ReadOnly];

    /// The session that is named.
    pub(super) fn session(self) -> &'static str {
        match self {
            State::NotFound => "birches",
            State::Ambiguous => "oa",
            State::Ok | State::Damaged | State::Busy | State::ReadOnly => "oaks",
        }
    }
}

/// Where the output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Terminal,
    Pipe,
    Json,
}

impl Form {
    pub(super) const ALL: [Form; 3] = [Form::Terminal, Form::Pipe, Form::Json];
}

/// What is expected in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell {
    /// The exit status on a terminal, in a pipe, and with `--json`.
    Exit([i32; 3]),
    /// It cannot be: why.
    Never(&'static str),
}

impl From<i32> for Cell {
    fn from(code: i32) -> Self {
        Cell::Exit([code; 3])
    }
}

impl From<[i32; 3]> for Cell {
    fn from(codes: [i32; 3]) -> Self {
        Cell::Exit(codes)
    }
}

impl From<&'static str> for Cell {
    fn from(why: &'static str) -> Self {
        Cell::Never(why)
    }
}

/// What is printed with `--json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prints {
    /// One document. `None`: it is named as the verb is.
    Document(Option<&'static str>),
    /// Lines, each as `schemas::LINES` says.
    Lines,
    /// Neither: what it is.
    Text(&'static str),
}

/// A call, and what comes of it.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) words: &'static str,
    /// What else there is to say about the call, where it has several rows.
    pub(super) when: &'static str,
    /// What happens first.
    pub(super) before: &'static [&'static str],
    /// What is on standard input.
    pub(super) input: &'static str,
    pub(super) prints: Prints,
    /// Whether it leaves everything as it is.
    pub(super) looks: bool,
    pub(super) cells: [Cell; 6],
}

fn row<A, B, C, D, E, F>(words: &'static str, (ok, none, several, damaged, busy, fixed): (A, B, C, D, E, F)) -> Row
where
    Cell: From<A> + From<B> + From<C> + From<D> + From<E> + From<F>,
{
    let cells = [ok.into(), none.into(), several.into(), damaged.into(), busy.into(), fixed.into()];
    Row { words, when: "", before: &[], input: "", prints: Prints::Document(None), looks: false, cells }
}

impl Row {
    fn when(self, when: &'static str) -> Self {
        Row { when, ..self }
    }

    fn before(self, before: &'static [&'static str]) -> Self {
        Row { before, ..self }
    }

    fn input(self, input: &'static str) -> Self {
        Row { input, ..self }
    }

    fn prints(self, prints: Prints) -> Self {
        Row { prints, ..self }
    }

    fn looks(self) -> Self {
        Row { looks: true, ..self }
    }

    /// Prints a document that is not named as the verb is.
    fn document(self, name: &'static str) -> Self {
        self.prints(Prints::Document(Some(name)))
    }

    fn lines(self) -> Self {
        self.prints(Prints::Lines)
    }

    fn text(self, what: &'static str) -> Self {
        self.prints(Prints::Text(what))
    }
}

const MESSAGE: &str = "{\"role\":\"user\",\"content\":\"water them\"}\n";
const CHAT: &str =
    "{\"messages\":[{\"role\":\"user\",\"content\":\"plant\"},{\"role\":\"assistant\",\"content\":\"digging\"}]}\n";
const SECRET: &[&str] = &["notice % ghp_Zk3vQ9xT7mB2wL5nR8cY1dH6sJ4aE0uFgP2i"];
/// Without `-y` somebody says no on a terminal, and elsewhere nobody is there to ask.
const ASKS: [i32; 3] = [1, 6, 6];

const ALL: &str = "names no session";
const MAKES: &str = "makes a session";
const TRASHED: &str = "is in the trash";

/// The table: exit statuses where nothing is in the way, without such a session, with two, with a damaged one, while a turn
/// of another process runs in it, and in a store that cannot be written to.
pub(super) fn table() -> Vec<Row> {
    let mut rows = everywhere();
    rows.extend(if cfg!(feature = "remote") { remote() } else { Vec::new() });
    rows
}

/// The rows of a build without features.
pub(super) fn everywhere() -> Vec<Row> {
    [listing(), conversations(), life(), upkeep(), plumbing(), processes(), checkpoints()]
        .into_iter()
        .flatten()
        .collect()
}

fn listing() -> Vec<Row> {
    vec![
        row("list", (0, ALL, ALL, 3, 0, 0)).looks(),
        row("active", (0, ALL, ALL, 0, 0, 0)).looks(),
        row("show %", (0, 4, 4, 3, 0, 0)).looks(),
        row("show % --last 2", (0, 4, 4, 0, 0, 0)).looks(),
        row("tail %", (0, 4, 4, 3, 0, 0)).looks().lines(),
        row("search oak %", (0, 4, 4, 3, 0, 0)).looks(),
        row("search elm %", (1, 4, 4, 1, 1, 1)).looks(),
        row("search oak", (0, ALL, ALL, 3, 0, 0)).looks(),
        row("lineage %", (0, 4, 4, 0, 0, 0)).looks(),
        row("stats %", (0, 4, 4, 3, 0, 0)).looks(),
        row("stats", (0, ALL, ALL, 3, 0, 0)).looks(),
        row("du %", (0, 4, 4, 0, 0, 0)).looks(),
        row("doctor %", (0, 4, 4, 1, 0, 0)).looks(),
        row("scan %", (0, 4, 4, 0, 0, 0)).looks(),
        row("scan %", (1, 4, 4, 1, 1, 1)).looks().when("with a secret in it").before(SECRET),
        row("demo", (0, ALL, ALL, "has a store of its own", "has a store of its own", "has a store of its own"))
            .looks()
            .text("a tour"),
        row("completions bash", (0, ALL, ALL, 0, 0, 0)).looks().text("a script for a shell"),
        row("man", (0, ALL, ALL, 0, 0, 0)).looks().text("a manual page"),
    ]
}

fn conversations() -> Vec<Row> {
    let made = ("reads no session", "writes to none that is there");
    vec![
        row("export % -o {work}/oaks.md --force", (0, 4, 4, 3, 0, 0)),
        row("export %", ([0, 0, 2], 4, 4, [3, 3, 2], [0, 0, 2], [0, 0, 2]))
            .looks()
            .text("the conversation, not what was written"),
        row("export % --format bundle -o {work}/oaks.tar.zst --force", (0, 4, 4, 0, 0, 0)).document("export-bundle"),
        row("export % --format json", ([0, 0, 2], 4, 4, [3, 3, 2], [0, 0, 2], [0, 0, 2]))
            .looks()
            .document("transcript"),
        row("import -", (0, ALL, ALL, made.0, made.1, 5)).input(CHAT),
        row("import - -n", (0, ALL, ALL, made.0, made.1, 0)).looks().input(CHAT),
        row("import -", (2, ALL, ALL, made.0, made.1, 2)).when("of no known format").input("{\"weather\":\"rain\"}\n"),
        row("rewind %", (0, 4, 4, 3, 0, 0)).looks().document("rewind-turns"),
        row("rewind % --to 0 --chat -y", (0, 4, 4, 6, 5, 5)),
        row("rewind % --to 0 --chat", (ASKS, 4, 4, 6, 5, 5)),
        row("rewind % --to 0 --chat -n", (0, 4, 4, 0, 0, 0)).looks(),
        row("rewind % --undo -y", (0, 4, 4, 0, 5, 5)).before(&["rewind % --to 0 --chat -y"]),
        row("rewind % --undo -y", (1, 4, 4, 1, 5, 5)).when("without a rewind"),
    ]
}

fn life() -> Vec<Row> {
    vec![
        row("new elms", (0, MAKES, MAKES, MAKES, MAKES, 5)),
        row("new %", (5, 0, 0, 5, 5, 5)),
        row("fork % elms", (0, 4, 4, 6, 0, 5)),
        row("compact % elms --summary -", (0, 4, 4, 0, 5, 5)).input("three oaks stand\n"),
        row("rename % elms", (0, 4, 4, 0, 5, 5)),
        row("title %", (0, 4, 4, 0, 0, 0)).looks(),
        row("title % Trees", (0, 4, 4, 0, 0, 5)),
        row("rm % -y", (0, 4, 4, 0, 5, 5)),
        row("rm %", (ASKS, 4, 4, ASKS, ASKS, ASKS)),
        row("rm % -n", (0, 4, 4, 0, 0, 0)).looks(),
        row("trash list", (0, ALL, ALL, TRASHED, TRASHED, 0)).looks().before(&["rm % -y"]),
        row("trash restore %", (0, 4, 4, TRASHED, TRASHED, 5)).before(&["rm % -y"]),
        row("trash empty -y", (0, ALL, ALL, TRASHED, TRASHED, 3)).before(&["rm % -y"]),
        row("trash empty", (ASKS, ALL, ALL, TRASHED, TRASHED, ASKS)).before(&["rm % -y"]),
    ]
}

fn upkeep() -> Vec<Row> {
    const BOTH: &[&str] = &[
        "meta oaken workspace={work}",
        "checkpoint create oaken",
        "meta oaks workspace={work}",
        "checkpoint create oaks",
    ];
    vec![
        row("pin %", (0, 4, 4, 0, 0, 5)),
        row("unpin %", (0, 4, 4, 0, 0, 5)).before(&["pin %"]),
        row("prune --keep 1 -y", (0, ALL, ALL, 0, 0, 3)),
        row("prune --keep 1", (ASKS, ALL, ALL, ASKS, ASKS, ASKS)),
        row("prune --keep 1 -n", (0, ALL, ALL, 0, 0, 0)).looks(),
        row("prune --keep 9 -y", (1, ALL, ALL, 1, 1, 1)),
        row("prune --only checkpoints --keep 1 -y", (0, ALL, ALL, 0, 0, 3)).before(BOTH).document("prune-part"),
        row("prune --only proc -y", (1, ALL, ALL, 1, 1, 1)).when("just ended").document("prune-part"),
        row("relocate {garden} {work} -y", (0, ALL, ALL, 0, 3, 3)),
        row("relocate {garden} {work}", (ASKS, ALL, ALL, ASKS, ASKS, ASKS)),
        row("relocate /nowhere {work} -y", (1, ALL, ALL, 1, 1, 1)),
        row("doctor % --fix", (0, 4, 4, 0, 0, 0)),
        row("scrub % -y", (1, 4, 4, 1, 1, 1)),
        row("scrub % -y", (0, 4, 4, 0, 5, 5)).when("with a secret in it").before(SECRET),
        row("scrub %", (ASKS, 4, 4, ASKS, ASKS, ASKS)).when("with a secret in it").before(SECRET),
    ]
}

fn plumbing() -> Vec<Row> {
    let command = "what the command prints";
    vec![
        row("append %", (0, 4, 4, 0, 0, 5)).input(MESSAGE),
        row("append % --create", (0, 0, 0, 0, 0, 5)).input(MESSAGE),
        row("append %", (2, 2, 2, 2, 2, 2)).when("no JSON").input("{\"role\":\n"),
        row("load %", (0, 4, 4, 3, 0, 0)).looks().lines(),
        row("events %", (0, 4, 4, 3, 0, 0)).looks().lines(),
        row("rollback % 1", (0, 4, 4, 0, 0, 5)),
        row("notice % rain", (0, 4, 4, 0, 0, 5)),
        row("settings % --model m2", (0, 4, 4, 0, 0, 5)),
        row("usage % --cost 0.25", (0, 4, 4, 0, 0, 5)),
        row("meta %", (0, 4, 4, 0, 0, 0)).looks(),
        row("meta % model=m2", (0, 4, 4, 0, 0, 5)),
        row("lock % -- true", (0, 4, 4, 0, 5, 125)).text(command),
        row("turn % -- true", (0, 4, 4, 0, 5, 125)).text(command),
        row("spill %", (0, 4, 4, 0, 0, 5)).input("hole\n"),
        row("inbox % list", (0, 4, 4, 0, 0, 0)).looks(),
        row("inbox % drain", (0, 4, 4, 0, 5, 5)).lines(),
        row("inbox % ack {claim}", (0, 4, 4, 0, 0, 5)),
        row("inbox % ack none", (1, 4, 4, 1, 1, 1)),
        row("report %", (0, 4, 4, 0, 0, 0)).looks(),
        row("last-model %", (0, 4, 4, 0, 0, 0)).looks(),
        row("run-id %", (0, 4, 4, 0, 0, 0)).looks(),
        row("path %", (0, 4, 4, 0, 0, 0)).looks(),
    ]
}

fn processes() -> Vec<Row> {
    vec![
        row("run % -- true", (0, 4, 4, 0, 0, 5)),
        row("ps %", (0, 4, 4, 0, 0, 0)).looks(),
        row("ps", (0, ALL, ALL, 0, 0, 0)).looks(),
        row("wait % bg1", (0, 4, 4, 0, 0, 0)).looks(),
        row("wait % bg9", (4, 4, 4, 4, 4, 4)),
        row("logs % bg1", (0, 4, 4, 0, 0, 0)).looks().lines(),
        row("kill % bg1 -y", (0, 4, 4, 0, 0, 0)),
        row("kill % bg1", (ASKS, 4, 4, ASKS, ASKS, ASKS)),
        row("steer -s % rain", (5, 4, 4, 5, 0, 5)),
        row("steer -s % --queue rain", (0, 4, 4, 0, 0, 5)),
        row("steer rain", (5, ALL, ALL, 5, 0, 5)),
        row("steer -s % --list", (0, 4, 4, 0, 0, 0)).looks().document("steer-list"),
        row("steer -s % --cancel waiting", (0, 4, 4, 0, 0, 5)).document("steer-cancel"),
        row("steer -s % --cancel none", (1, 4, 4, 1, 1, 1)).document("steer-cancel"),
    ]
}

fn checkpoints() -> Vec<Row> {
    const NONE: &[&str] = &["meta % workspace={work}"];
    const TWO: &[&str] = &[
        "meta % workspace={work}",
        "!echo one > oak",
        "checkpoint create %",
        "!echo two > oak",
        "checkpoint create %",
    ];
    const UNDO: &[&str] = &[
        "meta % workspace={work}",
        "!echo one > oak",
        "checkpoint create %",
        "!echo two > oak",
        "checkpoint create %",
        "checkpoint restore % 1 -y",
    ];
    const PINNED: &[&str] = &["meta % workspace={work}", "checkpoint create %", "checkpoint pin % 1"];
    vec![
        row("checkpoint create %", (0, 4, 4, 0, 0, 5)).before(NONE),
        row("checkpoint list %", (0, 4, 4, 0, 0, 0)).looks().before(TWO),
        row("checkpoint show % 2", (0, 4, 4, 0, 0, 0)).looks().before(TWO),
        row("checkpoint show % 9", (1, 4, 4, 1, 1, 1)).before(TWO),
        row("checkpoint diff % 1 2", (0, 4, 4, 0, 0, 0)).looks().before(TWO),
        row("checkpoint restore % 1 -y", (0, 4, 4, 0, 5, 5)).before(TWO),
        row("checkpoint restore % 1", (ASKS, 4, 4, ASKS, 5, 5)).before(TWO),
        row("checkpoint restore % 1 -n", (0, 4, 4, 0, 0, 0)).looks().before(TWO),
        row("checkpoint undo % -y", (0, 4, 4, 0, 5, 5)).before(UNDO),
        row("checkpoint undo % -y", (1, 4, 4, 1, 1, 1)).when("without a restore"),
        row("checkpoint pin % 1", (0, 4, 4, 0, 0, 5)).before(TWO),
        row("checkpoint unpin % 1", (0, 4, 4, 0, 0, 5)).before(PINNED),
        row("checkpoint prune % --keep 1 -y", (0, 4, 4, 0, 0, 5)).before(TWO),
        row("checkpoint prune % --keep 1", (ASKS, 4, 4, ASKS, ASKS, ASKS)).before(TWO),
        row("checkpoint du %", (0, 4, 4, 0, 0, 0)).looks().before(TWO),
        row("checkpoint verify %", (0, 4, 4, 0, 0, 0)).looks().before(TWO),
    ]
}

/// The rows of a build with the feature `remote`: copies are in a directory.
fn remote() -> Vec<Row> {
    const PUSHED: &[&str] = &["push % --remote {work}/copies --machine oak"];
    let copy = "is of copies";
    vec![
        row("push % --remote {work}/copies --machine oak", (0, 4, 4, 0, 0, 0)),
        row("push % --remote {work}/copies --machine oak -n", (0, 4, 4, 0, 0, 0)).looks(),
        row("push %", (2, 4, 4, 2, 2, 2)).when("without a place"),
        row("pull % --remote {work}/copies --machine oak", (0, 4, 4, 6, 5, 5)).before(PUSHED),
        row("sync % --remote {work}/copies --machine oak", (0, 4, 4, 0, 0, 0)).before(PUSHED),
        row("remote list --remote {work}/copies", (0, ALL, ALL, 0, 0, 0)).looks().before(PUSHED),
        row("remote show % --remote {work}/copies", (0, 4, copy, 0, 0, 0)).looks().before(PUSHED),
        row("remote verify % --remote {work}/copies", (0, 4, copy, 0, 0, 0)).looks().before(PUSHED),
        row("remote gc -n --remote {work}/copies", (0, ALL, ALL, 0, 0, 0)).looks().before(PUSHED),
        row("remote gc -y --remote {work}/copies", (5, ALL, ALL, 5, 5, 5)).before(PUSHED),
        row("remote rm % -y --remote {work}/copies", (0, 4, copy, 0, 0, copy)).before(PUSHED),
        row("remote rm % --remote {work}/copies", (ASKS, 4, copy, ASKS, ASKS, ASKS)).before(PUSHED),
    ]
}
