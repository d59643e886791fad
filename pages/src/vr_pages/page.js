"use strict";
// Search: what has all of the words stays, and each of them is marked.
{
  const UNITS = ".view :is(p, li, tbody tr, dl > div, figure, pre, blockquote, .unit, h1)";
  const APART = ".search, .stage, .more, .follow, .mine"; // and what belongs to none
  const SHEETS = 10; // pages of a document that a search opens; others are opened by hand
  const fold = (text) => Array.from(text.toLowerCase(), (sign) => {
    const plain = sign.normalize("NFD")[0];
    return plain.length === sign.length ? plain : sign;
  }).join("");

  function searched(view) {
    const box = view.querySelector(".search"), find = box.querySelector("input"), count = box.querySelector("output");
    const units = [...view.querySelectorAll(UNITS)].filter((unit) => !unit.parentElement.closest(UNITS) && !unit.closest(APART) && !(unit.matches("h1") && unit.closest(".side")));
    const sections = [...view.querySelectorAll("section:not(.stage)")].reverse(), folded = new WeakMap(), opened = new Set();
    const said = (element) => {
      if (!folded.has(element)) folded.set(element, fold(written(element)));
      return folded.get(element);
    };
    const written = (element) => {
      if (!element.querySelector(APART)) return element.textContent;
      const copy = element.cloneNode(true);
      copy.querySelectorAll(APART).forEach((part) => part.remove());
      return copy.textContent;
    };
    const isFixed = (unit) => !unit.closest("section"); // the head of the page
    let pattern = null;

    function unmark() {
      for (const mark of view.querySelectorAll("mark.hit")) {
        const parent = mark.parentNode;
        mark.replaceWith(...mark.childNodes);
        parent.normalize();
      }
    }

    function mark(element, pattern) {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), nodes = [];
      while (walker.nextNode()) nodes.push(walker.currentNode);
      for (const node of nodes) {
        const text = node.data, parts = [], plain = fold(text);
        if (plain.length !== text.length || node.parentElement.closest(APART)) continue;
        let at = 0;
        for (const found of plain.matchAll(pattern)) {
          const hit = document.createElement("mark");
          hit.className = "hit";
          hit.textContent = text.slice(found.index, found.index + found[0].length);
          parts.push(text.slice(at, found.index), hit);
          at = found.index + found[0].length;
        }
        if (at) node.replaceWith(...parts, text.slice(at));
      }
    }

    function search() {
      const words = fold(find.value).split(/\s+/).filter(Boolean), sought = words.length > 0;
      const has = (element) => words.every((word) => said(element).includes(word));
      pattern = sought && new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|"), "gu");
      let found = 0, sheets = 0;
      unmark();
      view.classList.toggle("searching", sought);
      for (const details of opened) details.open = false;
      opened.clear();
      for (const unit of units) {
        const hit = sought && has(unit);
        unit.hidden = sought && !hit && !isFixed(unit);
        found += hit;
        if (!hit || (unit.matches(".sheet") && (sheets += 1) > SHEETS && !unit.open)) continue;
        mark(unit, pattern);
        for (let details; (details = unit.closest("details:not([open])"));) { details.open = true; opened.add(details); }
      }
      for (const section of sections) {
        const heading = section.querySelector("h2, h3, h4, h5, h6"), named = sought && heading?.closest("section") === section && has(heading);
        const within = units.filter((unit) => section.contains(unit)), isEmpty = within.every((unit) => unit.hidden);
        if (named) { mark(heading, pattern); found += 1; }
        if (named && isEmpty) for (const unit of within) unit.hidden = false; // only its name was found: it is there as a whole
        section.hidden = sought && !named && isEmpty;
      }
      count.textContent = sought ? `${found || "nothing"} found` : "";
      view.dispatchEvent(new CustomEvent("searched", { detail: sought }));
    }

    find.addEventListener("input", search);
    view.addEventListener("toggle", ({ target }) => { // a page that is opened while words are sought
      if (pattern && target.open && target.matches(".sheet") && !target.querySelector("mark.hit")) mark(target, pattern);
    }, true);
    find.addEventListener("keydown", (event) => { // to the first that was found
      if (event.key !== "Enter" || !find.value) return;
      const shown = units.filter((unit) => !unit.hidden && !isFixed(unit)), first = shown.find((unit) => !unit.closest(".said")) ?? shown[0];
      const link = first?.querySelector("a, summary, [tabindex]") ?? first;
      if (link === first) first?.setAttribute("tabindex", "-1");
      link?.focus();
    });
    addEventListener("keydown", (event) => {
      if (event.key === "Escape" && find.value) { find.value = ""; search(); }
      const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) { find.focus(); event.preventDefault(); }
    });
    box.hidden = false;
  }

  document.querySelectorAll(".view").forEach(searched);
}
// Pages of a document: links to places in it go to its pages here, and #page-7 opens one.
{
  const leaf = (number) => document.getElementById(`page-${number}`);

  for (const view of document.querySelectorAll(".view")) {
    const source = view.querySelector(":scope > header .about a")?.href;
    if (!source || !view.querySelector(".leaf")) continue;
    for (const link of view.querySelectorAll('a[href*="#page="]')) {
      const [address, number] = link.href.split("#page=");
      if (address === source && leaf(number)) Object.assign(link, { href: `#page-${number}`, target: "_self" });
    }
    view.addEventListener("toggle", ({ target }) => { // the way to the file itself
      const inside = target.matches(".sheet") && target.open && target.querySelector(".leaf");
      if (!inside || !/\.pdf$/i.test(source) || inside.querySelector(".mine")) return;
      const line = document.createElement("p"), link = document.createElement("a");
      Object.assign(link, { href: `${source}#page=${inside.dataset.page}`, rel: "noopener noreferrer", textContent: `Page ${inside.dataset.page} in the file` });
      line.className = "mine source";
      line.append(link);
      inside.lastElementChild.append(line);
    }, true);
  }

  function show() {
    const sheet = /^#page-\d+$/.test(location.hash) && document.querySelector(location.hash)?.closest(".sheet");
    if (!sheet) return;
    sheet.hidden = sheet.closest("section").hidden = false; // a search may have left it out
    sheet.open = true;
    sheet.scrollIntoView();
    sheet.firstElementChild.focus({ preventScroll: true });
  }
  addEventListener("hashchange", show);
  show();
}
