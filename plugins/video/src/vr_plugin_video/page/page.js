"use strict";
const byId = (id) => document.getElementById(id), all = (query) => [...document.querySelectorAll(query)];
const main = document.querySelector("main"), lanes = byId("lanes"), hint = byId("hint"), words = byId("words"), follow = byId("follow"), find = byId("find");
const duration = Number(main.dataset.duration), share = (seconds) => 100 * Math.min(1, Math.max(0, seconds / duration)) + "%";
const items = all("[data-kind]"), spoken = all("#words [data-start]"), texts = all("[data-kind] .words");
const start = (element) => Number(element.dataset.start), slides = items.filter((item) => item.dataset.kind === "slide");
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
let player = document.querySelector("video, audio"), sought = "";

function clock(seconds) {
  const whole = Math.floor(seconds), two = (number) => String(number).padStart(2, "0"), hours = Math.floor(whole / 3600);
  return (hours ? hours + ":" : "") + two(Math.floor(whole / 60) % 60) + ":" + two(whole % 60);
}

function make(tag, text, kind) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  if (kind) element.className = kind;
  return element;
}

function seek(seconds) {
  player.currentTime = Math.min(duration, Math.max(0, seconds));
  player.play().catch(() => {}); // a browser may want a click first; the place is right then too
}

function lose() { // links lead to the media itself from now on
  if (!player) return;
  player.hidden = true; player = null;
  byId("lost").hidden = false; words.classList.remove("live"); main.classList.add("still");
  for (const name of ["role", "tabindex"]) byId("bar")?.removeAttribute(name);
}

// The timeline: chapters in the bar, moments above it, slides below.
const marks = items.filter((item) => item.dataset.start && item.dataset.kind !== "said").map((item) => {
  const time = item.querySelector(".at"), label = item.querySelector(".label")?.textContent || item.dataset.kind;
  const mark = make("a", item.dataset.kind === "chapter" ? label : "", "mark " + item.dataset.kind);
  Object.assign(mark, { href: time.href, item, tabIndex: -1, words: time.textContent + "  " + label });
  mark.dataset.at = item.dataset.start; mark.style.left = share(start(item));
  if (item.dataset.end) mark.style.width = share(Number(item.dataset.end) - start(item));
  mark.setAttribute("aria-label", item.dataset.kind + " " + mark.words);
  return mark;
}).sort((a, b) => a.dataset.at - b.dataset.at);

function legend() {
  hint.replaceChildren(...["chapter", "moment", "slide"].filter((kind) => marks.some((mark) => mark.item.dataset.kind === kind)).map((kind) => {
    const entry = make("span"); entry.append(make("i", "", kind), kind + "s"); return entry;
  }));
}

function draw() {
  const bar = make("div"), done = make("div");
  bar.id = "bar"; done.id = "done";
  if (player) {
    Object.assign(bar, { tabIndex: 0, role: "slider", ariaLabel: "Position", ariaValueMin: "0", ariaValueMax: String(duration), ariaValueNow: "0" });
    bar.onclick = (event) => { const box = bar.getBoundingClientRect(); if (player) seek(duration * (event.clientX - box.left) / box.width); };
    bar.onkeydown = (event) => {
      const to = player && { ArrowLeft: player.currentTime - 5, ArrowRight: player.currentTime + 5, Home: 0, End: duration }[event.key];
      if (typeof to === "number") { seek(to); event.preventDefault(); }
    };
  }
  lanes.append(bar, ...marks, done);
  if (marks.length) marks[0].tabIndex = 0;
  byId("timeline").hidden = false; legend();
}

for (const kind of ["pointerover", "focusin"]) lanes.addEventListener(kind, (event) => { if (event.target.words) hint.textContent = event.target.words; });
for (const kind of ["pointerleave", "focusout"]) lanes.addEventListener(kind, legend);
lanes.addEventListener("keydown", (event) => {
  const at = marks.indexOf(event.target), next = marks[at + { ArrowRight: 1, ArrowLeft: -1 }[event.key]];
  if (at < 0 || !next) return;
  event.target.tabIndex = -1; next.tabIndex = 0; next.focus(); event.preventDefault();
});

// Every time is a link to the media itself; with a player it goes there instead.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-at], #words [data-start]");
  if (!player || !link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (!link.href && !getSelection().isCollapsed) return; // words are being selected
  event.preventDefault();
  follow.checked = true; seek(Number(link.dataset.at ?? link.dataset.start));
});

// What is said and shown now.
function point(elements, now) {
  for (const element of elements) if (element !== now && element.classList.contains("now")) element.classList.remove("now");
  now?.classList.add("now");
}

function tick() {
  const time = player.currentTime, before = (element) => start(element) <= time + 0.05, said = spoken.findLast(before);
  byId("done").style.width = share(time);
  byId("bar").ariaValueNow = time.toFixed(1); byId("bar").ariaValueText = clock(time);
  const changed = said && !said.classList.contains("now");
  point(spoken, said); point(slides, slides.findLast(before));
  if (changed && follow.checked && !sought) words.scrollTo({ top: said.offsetTop - words.clientHeight / 3, behavior: calm ? "auto" : "smooth" });
}

if (player) {
  words.classList.add("live"); follow.parentElement.hidden = false;
  for (const kind of ["timeupdate", "seeking"]) player.addEventListener(kind, () => player && tick());
  player.addEventListener("error", lose);
  player.lastElementChild.addEventListener("error", lose);
  addEventListener("load", () => { if (player?.networkState === HTMLMediaElement.NETWORK_NO_SOURCE) lose(); }); // it failed before the lines above
  for (const kind of ["wheel", "touchmove"]) words.addEventListener(kind, () => { follow.checked = false; }, { passive: true });
}

// Search: what has all of the words stays, and each of them is marked.
function search() {
  const asked = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  const pattern = new RegExp(`(${asked.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|")})`, "giu");
  sought = asked.join(" ");
  document.body.classList.toggle("searching", !!sought);
  let found = 0;
  for (const item of items) {
    const has = item.textContent.toLowerCase();
    item.hidden = !asked.every((word) => has.includes(word));
    found += !item.hidden && !item.closest(".twice");
  }
  for (const section of all("article section:not(.fixed)")) section.hidden = !section.querySelector("[data-kind]:not([hidden])");
  for (const text of texts) {
    const whole = text.textContent, parts = sought && !text.closest("[hidden]") ? whole.split(pattern) : [whole];
    if (parts.length > 1 || text.firstElementChild) text.replaceChildren(...parts.map((part, n) => (n % 2 ? make("mark", part) : part)));
  }
  for (const mark of marks) mark.classList.toggle("off", mark.item.hidden);
  byId("count").textContent = sought ? `${found} found` : "";
  words.scrollTop = 0;
  byId("nothing").hidden = !sought || found > 0;
}

find.addEventListener("input", search);
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && sought) { find.value = ""; search(); }
  if (event.key === "/" && document.activeElement !== find) { find.focus(); event.preventDefault(); }
});
byId("search").hidden = false;
if (duration) draw();
const asked = /^#t=(\d+(\.\d+)?)$/.exec(location.hash); // page.html#t=93
if (player && asked) player.currentTime = Number(asked[1]);
