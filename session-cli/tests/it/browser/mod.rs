//! Pages in a real browser that reaches no other machine. Where there is none, these tests do nothing, and the first one
//! says so; `.ci/run` installs one and lets its absence be a failure.

mod chromium;

use crate::support::Scratch;
use chromium::{Browser, is_here};
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[test]
fn there_is_a_browser_or_the_tests_of_pages_say_that_they_are_skipped() {
    if !is_here() {
        let skipped = "skipped: the tests of pages need chromium, and it is not on the PATH";
        writeln!(std::io::stderr(), "{skipped}").expect("there is a standard error");
    }
}

/// A history of these events, exported as a page and loaded.
fn opened(scratch: &Scratch, events: &[Value]) -> (Browser, PathBuf) {
    let mut history = Vec::new();
    for (number, event) in events.iter().enumerate() {
        let mut event = event.clone();
        let (minutes, seconds) = (number / 60 % 60, number % 60);
        event["ts"] = json!(format!("2026-01-02T03:{minutes:02}:{seconds:02}Z"));
        writeln!(history, "{event}").expect("writing to memory cannot fail");
    }
    let dir = scratch.store().join("oaks");
    fs::create_dir_all(&dir).expect("a directory of this test");
    fs::write(dir.join("history.jsonl"), history).expect("a file of this test");
    scratch.ok(&["-q", "export", "oaks", "-o", "oaks.html"]);
    let path = scratch.work().join("oaks.html");
    let mut browser = Browser::start(scratch);
    browser.load(&path);
    (browser, path)
}

fn message(message: &Value) -> Value {
    json!({ "kind": "message", "message": message })
}

fn user(text: &str) -> Value {
    message(&json!({ "role": "user", "content": text }))
}

fn assistant(text: &str) -> Value {
    message(&json!({ "role": "assistant", "content": text, "reasoning_content": "let me *think*" }))
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    let call = json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
    message(&json!({ "role": "assistant", "tool_calls": [call] }))
}

fn result(id: &str, name: &str, text: &str) -> Value {
    json!({ "kind": "tool_result", "tool": name, "ms": 1200,
            "message": { "role": "tool", "name": name, "tool_call_id": id, "content": text } })
}

/// A conversation with something of everything.
fn garden() -> Vec<Value> {
    let long: String = (1..=90).map(|line| format!("line {line} of many\n")).collect();
    vec![
        json!({ "kind": "x.title", "x": { "title": "Plant three oaks", "by": "user" } }),
        json!({ "kind": "settings", "model": "oak-1" }),
        user("plant three oaks\n\nand water them"),
        assistant(
            "# Plan\n\n1. *dig*\n2. `plant`\n\n| tree | holes |\n| --- | --- |\n| oak | 3 |\n\n```sh\ndig --deep\n```",
        ),
        call("c1", "Shell", r#"{"command":"dig --deep","timeout":5}"#),
        result("c1", "Shell", "\u{1b}[1;31merror\u{1b}[0m: a root\nexit code: 1"),
        call("c2", "Edit", r#"{"file_path":"bed.txt","old_string":"elm","new_string":"oak"}"#),
        result("c2", "Edit", &long),
        json!({ "kind": "x.usage", "x": { "model": "oak-1", "input": 1200, "output": 80, "cost": 0.0125 } }),
        json!({ "kind": "notice", "text": "it rains" }),
        user("and a birch"),
        assistant("wrong"),
        json!({ "kind": "rollback", "dropped": 1 }),
        assistant("It stands by the [fence](https://example.org/fence)."),
        json!({ "kind": "x.checkpoint", "x": { "action": "taken", "turn": 2 } }),
    ]
}

/// What must not do anything, whatever it stands in.
const HOSTILE: [&str; 12] = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "<svg onload=alert(4)><animate onbegin=alert(5) attributeName=x dur=1s></svg>",
    "\"><iframe srcdoc=\"<script>parent.alert(6)</script>\">",
    "' onmouseover='alert(7)' style='background:url(https://example.org/a)'",
    "[x](javascript:alert(8)) <javascript:alert(9)> [y](data:text/html,<script>alert(10)</script>)",
    "![p](https://example.org/pixel.png) <link rel=stylesheet href=https://example.org/s.css>",
    "</textarea></style></title></pre></details><style>*{background:url(https://example.org/b)}</style>",
    "<meta http-equiv=refresh content='0;url=https://example.org'><base href=https://example.org>",
    "a\u{202e}evil\u{2066}b\u{1b}]0;title\u{7}\u{0}c",
    "<form action=https://example.org><button autofocus onfocus=alert(11)>x</button></form>",
];

fn hostile() -> Vec<Value> {
    let all = HOSTILE.join("\n");
    let mut events = vec![json!({ "kind": "x.title", "x": { "title": all, "by": "user" } })];
    events.push(json!({ "kind": "settings", "model": all }));
    for text in HOSTILE {
        let svg = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIG9ubG9hZD0iYWxlcnQoMTIpIi8+";
        let picture = json!({ "type": "image_url", "image_url": { "url": svg } });
        events.extend([
            json!({ "kind": "x.turn", "x": { "id": text, "phase": "start" } }),
            user(text),
            message(&json!({ "role": "user", "content": [{ "type": "text", "text": text }, picture] })),
            message(&json!({ "role": "user", "content": "", "images": [{ "path": text, "media_type": text }] })),
            message(&json!({ "role": "assistant", "content": text, "reasoning_content": text })),
            call(text, text, &json!({ text: text }).to_string()),
            result(text, text, text),
            call(text, text, text),
            result("of nothing", text, text),
            message(&json!({ "role": text, "content": text })),
            json!({ "kind": "notice", "text": text }),
            json!({ "kind": "x.checkpoint", "x": { "action": text, "turn": 1, "note": text } }),
            json!({ "kind": "x.turn", "x": { "id": text, "phase": "end", "outcome": text } }),
        ]);
    }
    events.push(assistant(&"<b>".repeat(350_000)));
    events.push(result("none", "Shell", &"x<".repeat(500_000)));
    events
}

#[test]
fn e02_a_hostile_session_runs_nothing_loads_nothing_and_breaks_no_rule() {
    if !is_here() {
        return;
    }
    let scratch = Scratch::new();
    let (mut browser, _) = opened(&scratch, &hostile());
    browser.eval("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })");
    browser.eval(
        "document.querySelectorAll('*').forEach((e) => e.dispatchEvent(new Event('mouseover', {bubbles: true})))",
    );
    browser.eval("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))");
    browser.assert_calm();
    let strangers = "script:not(:last-child), iframe, form, img, link:not([rel=icon]), base, [onload], [onerror], [style], \
                     [onmouseover], article style, a[href^='javascript:'], a[href^='data:']";
    assert_eq!(browser.eval(&format!("document.querySelectorAll(\"{strangers}\").length")), 0);
    assert_eq!(browser.eval("document.querySelectorAll('body script').length"), 1);
    // What reorders text is shown, not obeyed; only the page's own words are there.
    assert_eq!(
        browser.eval("/[\\u202a-\\u202e\\u2066-\\u2069\\u001b\\u0007]/.test(document.documentElement.outerHTML)"),
        false
    );
}

#[test]
fn without_a_script_all_of_the_text_is_there() {
    if !is_here() {
        return;
    }
    let scratch = Scratch::new();
    let (mut browser, path) = opened(&scratch, &garden());
    browser.ask("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    browser.load(&path);
    let root = browser.ask("DOM.getDocument", &json!({ "depth": 0 }))["root"]["nodeId"].clone();
    let page = browser.ask("DOM.getOuterHTML", &json!({ "nodeId": root }))["outerHTML"].to_string();
    for text in [
        "plant three oaks",
        "dig --deep",
        "a root",
        "line 1 of many",
        "line 45 of many",
        "line 90 of many",
        "it rains",
        "let me",
        "$0.01",
        "1,200",
        "1 message that was taken back is left out",
        "Checkpoint 2 taken",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("wrong"));
    // Folds are the browser's own.
    let folds =
        browser.ask("DOM.querySelectorAll", &json!({ "nodeId": root, "selector": "details > summary:first-child" }));
    assert!(folds["nodeIds"].as_array().is_some_and(|folds| folds.len() >= 6), "{folds}");
    let bars = browser.ask("DOM.querySelectorAll", &json!({ "nodeId": root, "selector": ".bar:not([hidden])" }));
    assert_eq!(bars["nodeIds"], json!([]), "what needs a script is not shown");
}

#[test]
fn the_keys_lead_through_the_page() {
    if !is_here() {
        return;
    }
    let scratch = Scratch::new();
    let (mut browser, _) = opened(&scratch, &garden());
    let here = "document.activeElement.id";
    browser.press("j");
    let first = browser.eval(here);
    browser.press("j");
    assert_ne!(browser.eval(here), first);
    browser.press("k");
    assert_eq!(browser.eval(here), first);
    browser.press("n");
    assert_eq!(browser.eval(here), "turn-2");
    browser.press("p");
    assert_eq!(browser.eval(here), "turn-1");
    browser.press("e");
    assert_eq!(browser.eval("document.activeElement.parentElement.matches('.call.failed')"), true);
    assert_eq!(browser.eval("document.activeElement.parentElement.open"), true);
    browser.press("o");
    assert_eq!(browser.eval("document.activeElement.parentElement.open"), false);
    browser.press("o");
    assert_eq!(browser.eval("document.activeElement.parentElement.open"), true);
    browser.press("t");
    assert_eq!(browser.eval(here), "timeline");
    browser.key("j", "", 2);
    assert_eq!(browser.eval(here), "timeline", "a chord is the browser's");
    browser.press("?");
    assert_eq!(browser.eval("document.querySelector('#help').open"), true);
    browser.key("Escape", "", 0);
    browser.until("!document.querySelector('#help').open");
    browser.press("/");
    assert_eq!(browser.eval(here), "find");
    browser.press("jk");
    assert_eq!(browser.eval("document.activeElement.value"), "jk", "where text is typed, keys are text");
    browser.assert_calm();
}

#[test]
fn a_search_opens_what_is_folded_around_a_hit() {
    if !is_here() {
        return;
    }
    let scratch = Scratch::new();
    let (mut browser, _) = opened(&scratch, &garden());
    let text = "[...document.querySelectorAll('.more')].some((fold) => fold.open)";
    assert_eq!(browser.eval(text), false);
    browser.press("/");
    browser.press("LINE 45 of");
    browser.key("Enter", "\r", 0);
    browser.until("document.querySelector('#found').textContent === '1 of 1'");
    assert_eq!(browser.eval(text), true);
    assert_eq!(browser.eval("CSS.highlights.get('hit').size"), 1);
    browser.key("Escape", "", 0);
    assert_eq!(browser.eval("document.querySelector('#found').textContent"), "");
    browser.press("/");
    browser.press("of many");
    browser.until("document.querySelector('#found').textContent === '0 of 90'");
    browser.key("Enter", "\r", 0);
    browser.eval("document.activeElement.blur()");
    browser.press("nnp");
    assert_eq!(browser.eval("document.querySelector('#found').textContent"), "2 of 90");
    browser.assert_calm();
}

#[test]
fn filters_say_how_much_there_is_and_hide_it() {
    if !is_here() {
        return;
    }
    let scratch = Scratch::new();
    let (mut browser, _) = opened(&scratch, &garden());
    let counts = "[...document.querySelectorAll('[data-filter]')].map((b) => b.dataset.filter + ' ' + b.querySelector('.count').textContent)";
    assert_eq!(browser.eval(counts), json!(["user 2", "assistant 2", "reasoning 2", "tool 2", "note 3"]));
    let shown = "[...document.querySelectorAll('.call')].filter((call) => call.checkVisibility()).length";
    assert_eq!(browser.eval(shown), 2);
    browser.eval("document.querySelector('[data-filter=tool]').click()");
    assert_eq!(browser.eval(shown), 0);
    assert_eq!(browser.eval("document.querySelector('[data-filter=tool]').getAttribute('aria-pressed')"), "false");
    // A message of which nothing is left goes too.
    assert_eq!(browser.eval("[...document.querySelectorAll('.message')].filter((m) => m.checkVisibility()).length"), 4);
    browser.eval("document.querySelector('[data-filter=tool]').click()");
    assert_eq!(browser.eval(shown), 2);
    browser.assert_calm();
}

#[test]
fn a_page_is_accessible_light_and_dark_wide_and_narrow_folded_and_open() {
    if !is_here() {
        return;
    }
    let scratch = Scratch::new();
    let (mut browser, path) = opened(&scratch, &garden());
    assert_accessible(&mut browser, &path);
}

#[test]
fn an_index_says_what_all_of_it_came_to_and_is_accessible() {
    if !is_here() {
        return;
    }
    let scratch = Scratch::new();
    let usage = |day: u32, model: &str, cost: f64| {
        json!({ "ts": format!("2026-01-{day:02}T04:00:00Z"), "kind": "x.usage",
                "x": { "response": format!("{day}{model}"), "model": model, "input": 1200, "output": 80, "cost": cost } })
    };
    for (name, day) in [("oaks", 2), ("elms", 5)] {
        let dir = scratch.store().join(name);
        fs::create_dir_all(&dir).expect("a directory of this test");
        let mut events = hostile();
        events.extend(garden().into_iter().filter(|event| event["kind"] != "x.usage"));
        events.iter_mut().for_each(|event| event["ts"] = json!(format!("2026-01-{day:02}T03:00:00Z")));
        events.extend([usage(day, "sol", 0.75), usage(day, "<script>alert(1)</script>", 0.5)]);
        let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
        fs::write(dir.join("history.jsonl"), lines).expect("a file of this test");
    }
    scratch.ok(&["-q", "export", "oaks", "elms", "--format", "html", "-o", "pages/"]);
    let path = scratch.work().join("pages/index.html");
    let mut browser = Browser::start(&scratch);
    browser.load(&path);
    assert_eq!(browser.eval("document.querySelector('h1').textContent"), "2 conversations");
    // Four days from the first to the last, two of them with a bar.
    let bars = "[...document.querySelectorAll('svg.bars rect.spent')].map((bar) => Number(bar.getAttribute('height')))";
    assert_eq!(browser.eval(bars), json!([100, 0, 0, 100]));
    let label = "document.querySelector('svg.bars').getAttribute('aria-label')";
    assert_eq!(browser.eval(label), "Cost a day, up to $1.25");
    let models = "[...document.querySelectorAll('[aria-labelledby=models-head] tbody tr')].slice(0, 2).map((row) => row.querySelector('th').textContent.trim() + ' ' + row.querySelector('td:last-child').textContent)";
    assert_eq!(browser.eval(models), json!(["sol $1.50", "<script>alert(1)</script> $1.00"]));
    browser.assert_calm();
    assert_accessible(&mut browser, &path);
}

/// By the rules of axe-core, and without scrolling sideways: light and dark, wide and narrow, folded and open.
fn assert_accessible(browser: &mut Browser, path: &Path) {
    let axe = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/axe-core/axe.min.js");
    let axe = fs::read_to_string(axe).expect("it is in the repository");
    for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 360)] {
        let feature = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.ask("Emulation.setEmulatedMedia", &feature);
        let metrics = json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false });
        browser.ask("Emulation.setDeviceMetricsOverride", &metrics);
        browser.load(path);
        browser.eval(&axe);
        for fold in ["", "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"] {
            browser.eval(fold);
            let found = "axe.run().then((all) => all.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.target + ' ' + n.failureSummary)))";
            assert_eq!(browser.eval(found), json!([]), "{scheme} {width} {fold}");
            let wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(browser.eval(wide), 0, "{scheme} {width} {fold}: it scrolls sideways");
        }
    }
}
