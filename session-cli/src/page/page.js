"use strict";
(() => {
  const $ = (selector, within = document) => within.querySelector(selector);
  const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
  const main = $("main");
  const input = $("#find");
  const found = $("#found");
  const isShown = (element) => !element.closest("[hidden]");
  $(".bar").hidden = false;

  // Going to a place: what is folded around it opens, and it gets the focus, so that the keyboard goes on from there.
  const unfold = (element) => {
    for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  };
  const goTo = (element) => {
    if (!element) return;
    if (element.parentElement) unfold(element.parentElement);
    element.scrollIntoView({ block: "start", behavior: "instant" });
    if (element.tabIndex < 0 && !element.hasAttribute("tabindex")) element.tabIndex = -1;
    element.focus({ preventScroll: true });
  };
  const current = () => document.activeElement?.closest?.(".message, .turn, .timeline") ?? null;

  // The next of some elements, in reading order, from where the focus is, or else from the top of the window.
  const step = (selector, forwards) => {
    const all = $$(selector, main).filter(isShown);
    const here = document.activeElement;
    const from = here && main.contains(here) && here !== main ? here : null;
    const isBehind = from
      ? (element) => from.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING
      : (element) => element.getBoundingClientRect().top > 1;
    const isBefore = from
      ? (element) => from.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING && !element.contains(from)
      : (element) => element.getBoundingClientRect().top < -1;
    return forwards ? all.find(isBehind) : all.findLast(isBefore);
  };

  // Search.
  let hits = [];
  let at = -1;
  const limit = 20000;
  const paint = () => {
    if (!CSS.highlights) return;
    CSS.highlights.set("hits", new Highlight(...hits.filter((_, index) => index !== at)));
    CSS.highlights.set("hit", new Highlight(...(at < 0 ? [] : [hits[at]])));
  };
  const tell = () => {
    const more = hits.length >= limit ? "+" : "";
    found.textContent = input.value ? (hits.length ? `${at + 1} of ${hits.length}${more}` : "no hit") : "";
  };
  const search = () => {
    const wanted = input.value.toLowerCase();
    hits = [];
    at = -1;
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); wanted && node && hits.length < limit; node = walker.nextNode()) {
      if (!node.parentElement.closest(".turn") || !isShown(node.parentElement)) continue;
      const lower = node.data.toLowerCase();
      const text = lower.length === node.data.length ? lower : node.data;
      for (let from = text.indexOf(wanted); from >= 0 && hits.length < limit; from = text.indexOf(wanted, from + wanted.length)) {
        const range = new Range();
        range.setStart(node, from);
        range.setEnd(node, from + wanted.length);
        hits.push(range);
      }
    }
    paint();
    tell();
  };
  const toHit = (by) => {
    if (!hits.length) return;
    at = (at + by + hits.length) % hits.length;
    const element = hits[at].startContainer.parentElement;
    unfold(element);
    const box = hits[at].getBoundingClientRect();
    window.scrollBy({ top: box.top - innerHeight / 3, behavior: "instant" });
    paint();
    tell();
  };
  let soon = 0;
  input.addEventListener("input", () => {
    clearTimeout(soon);
    soon = setTimeout(search, 120);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      clearTimeout(soon);
      if (at < 0) search();
      toHit(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      input.value = "";
      search();
      input.blur();
    }
  });
  $("#next").addEventListener("click", () => toHit(1));
  $("#previous").addEventListener("click", () => toHit(-1));

  // Filters.
  for (const button of $$("[data-filter]")) {
    const parts = $$(`[data-kind="${button.dataset.filter}"]`, main);
    $(".count", button).textContent = parts.length;
    button.hidden = parts.length === 0;
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      for (const part of parts) part.hidden = !on;
      search();
    });
  }

  // Folds.
  const toggle = (folds) => {
    const open = folds.some((fold) => !fold.open);
    for (const fold of folds) fold.open = open;
    return open;
  };
  const all = $("#unfold");
  all.addEventListener("click", () => {
    all.textContent = toggle($$(".turn details")) ? "Close all" : "Open all";
  });
  addEventListener("beforeprint", () => {
    for (const fold of $$("details:not([open])")) {
      fold.open = true;
      fold.dataset.closed = "";
    }
  });
  addEventListener("afterprint", () => {
    for (const fold of $$("[data-closed]")) {
      fold.open = false;
      delete fold.dataset.closed;
    }
  });

  // The drawing leads to its turns.
  main.addEventListener("click", (event) => {
    const mark = event.target.closest("svg [data-turn]");
    if (mark) goTo($(`#turn-${mark.dataset.turn}`));
  });
  const reveal = () => {
    const place = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (place) unfold(place);
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Keys. None of them is held with another, and none is taken from where text is typed.
  const help = $("#help");
  $("#keys").addEventListener("click", () => help.showModal());
  $("#close").addEventListener("click", () => help.close());
  const keys = {
    "/": () => input.select(),
    j: () => goTo(step(".message", true)),
    k: () => goTo(step(".message", false)),
    n: () => (hits.length ? toHit(1) : goTo(step(".turn", true))),
    p: () => (hits.length ? toHit(-1) : goTo(step(".turn", false))),
    e: () => {
      const failed = step(".call.failed > summary", true) ?? $$(".call.failed > summary", main).find(isShown);
      goTo(failed);
    },
    o: () => {
      const place = current();
      toggle($$("details", place ?? main));
    },
    t: () => goTo($("#timeline")),
    "?": () => help.showModal(),
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || help.open) return;
    if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
    const act = Object.hasOwn(keys, event.key) && keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
})();
