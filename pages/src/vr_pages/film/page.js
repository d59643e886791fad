"use strict";
// A film: times go to it, lanes show where things are, the transcript follows.
{
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const start = (item) => Number(item.dataset.start), end = (item) => Math.max(start(item), Number(item.dataset.end || 0));

  function make(tag, kind, text) {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    if (text) element.textContent = text;
    return element;
  }

  // The words of a paragraph lie on lines; their times are tenths of a second, each from the one before.
  function split(words) {
    const starts = words.dataset.starts.split(" ").map(Number).values();
    let at = 0;
    return [...words.children].flatMap((paragraph) => {
      const spans = paragraph.lastChild.data.slice(1).split("\n").map((line) => {
        const span = make("span", "", line);
        span.dataset.start = (at += starts.next().value) / 10;
        return span;
      });
      paragraph.lastChild.replaceWith(" ", ...spans.flatMap((span) => [span, " "]));
      const link = paragraph.querySelector("a.at");
      if (link?.dataset.at === "") link.dataset.at = spans[0].dataset.start;
      return spans;
    });
  }

  function played(view, stage) {
    const duration = Number(stage.dataset.duration), share = (seconds) => 100 * Math.min(1, Math.max(0, seconds / duration)) + "%";
    const words = view.querySelector(".said .words"), spoken = words ? split(words) : [];
    for (const link of view.querySelectorAll('[data-start] > a[data-at=""]')) link.dataset.at = link.parentElement.dataset.start;
    const lists = [...view.querySelectorAll("[data-lane]")].map((section) => ({ section, items: [...section.querySelectorAll("[data-start]")].sort((a, b) => start(a) - start(b)) })).filter((lane) => lane.items.length);
    const timeline = make("div", "timeline"), hint = make("p", "hint"), follow = make("input");
    let player = stage.querySelector("video, audio"), isSought = false;

    function seek(seconds) {
      player.currentTime = Math.min(duration || seconds, Math.max(0, seconds));
      player.play().catch(() => {}); // a browser may want a click first; the place is right then too
    }

    function lose() { // links lead to the media itself from now on
      if (!player) return;
      player.hidden = true; player = null;
      stage.querySelector(".lost").hidden = false;
      view.classList.remove("live"); follow.parentElement?.remove();
    }

    const told = (item) => ["a.at, .at", ".label"].map((query) => item.querySelector(query)?.textContent).filter(Boolean).join("  ");
    const open = (item) => (player ? seek(start(item)) : item.querySelector("a.at")?.click());

    // A lane is one control, in which the arrow keys go from mark to mark.
    function lane({ section, items }, number) {
      const track = make("div", `lane lane${number % 4}`), marks = new Map(), isLabelled = section.matches(".moments");
      let at = 0, last = -1;
      for (const item of items) {
        const isLong = end(item) > start(item);
        if (items.length > 500 && !isLong && (start(item) - last) / duration < 0.001) continue; // nobody can tell them apart
        const mark = make("i", isLong ? "span" : "dot", isLong && isLabelled ? item.querySelector(".label")?.textContent : "");
        mark.style.left = share(start(item));
        if (isLong) mark.style.width = share(end(item) - start(item));
        marks.set(item, mark); last = start(item);
      }
      track.append(...marks.values());
      const leave = () => { hint.textContent = ""; marks.get(items[at])?.classList.remove("on"); };
      const show = (index) => {
        leave();
        at = index; hint.textContent = told(items[at]); marks.get(items[at])?.classList.add("on");
        Object.assign(track, { ariaValueNow: String(start(items[at])), ariaValueText: told(items[at]) });
      };
      const nearest = (event) => {
        const box = track.getBoundingClientRect(), time = duration * (event.clientX - box.left) / box.width;
        const far = (item) => (item.hidden ? Infinity : Math.max(start(item) - time, time - end(item), 0));
        return items.reduce((best, item, index) => (far(item) <= far(items[best]) ? index : best), 0);
      };
      const next = (step) => {
        let index = at + step;
        while (items[index]?.hidden) index += step;
        return items[index] ? index : at;
      };
      Object.assign(track, { tabIndex: 0, role: "slider", ariaLabel: section.dataset.lane, ariaValueMin: "0", ariaValueMax: String(duration), ariaValueNow: String(start(items[0])), ariaValueText: told(items[0]) });
      track.addEventListener("pointermove", (event) => show(nearest(event)));
      track.addEventListener("focus", () => show(at));
      track.addEventListener("click", (event) => { show(nearest(event)); open(items[at]); });
      track.addEventListener("keydown", (event) => {
        const to = { ArrowRight: next(1), ArrowUp: next(1), ArrowLeft: next(-1), ArrowDown: next(-1), Home: 0, End: items.length - 1 }[event.key];
        if (to !== undefined) show(to);
        else if (event.key === "Enter" || event.key === " ") open(items[at]);
        else return;
        event.preventDefault();
      });
      for (const kind of ["pointerleave", "blur"]) track.addEventListener(kind, leave);
      view.addEventListener("searched", () => marks.forEach((mark, item) => mark.classList.toggle("off", item.hidden)));
      timeline.append(make("span", "name", section.dataset.lane), track);
    }

    // What is said and shown now.
    function point(elements, now) {
      for (const element of elements) if (element !== now && element.classList.contains("now")) element.classList.remove("now");
      now?.classList.add("now");
    }

    function tick() {
      const time = player.currentTime, before = (element) => start(element) <= time + 0.05, said = spoken.findLast(before);
      const changed = said && !said.classList.contains("now");
      timeline.style.setProperty("--now", share(time));
      point(spoken, said);
      for (const { items } of lists) point(items, items.findLast(before));
      if (changed && follow.checked && !isSought) words.scrollTo({ top: said.offsetTop - words.clientHeight / 3, behavior: calm ? "auto" : "smooth" });
    }

    if (duration && lists.length) {
      lists.forEach(lane);
      stage.append(timeline, hint);
    }
    const fit = () => stage.parentElement.style.setProperty("--above", Math.max(0, stage.parentElement.parentElement.getBoundingClientRect().top - 16) + "px");
    for (const kind of ["scroll", "resize"]) addEventListener(kind, fit, { passive: true });
    fit();
    view.addEventListener("searched", (event) => { isSought = event.detail; if (words) words.scrollTop = 0; });
    // Every time is a link to the media itself; with a player it goes there instead.
    view.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-at], .said [data-start]");
      if (!player || !link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (!link.href && !getSelection().isCollapsed) return; // words are being selected
      event.preventDefault();
      follow.checked = true; seek(Number(link.dataset.at ?? link.dataset.start));
    });
    if (!player) return;
    view.classList.add("live");
    if (words) {
      const label = make("label", "follow", "follow");
      Object.assign(follow, { type: "checkbox", checked: true });
      label.prepend(follow);
      words.before(label);
      for (const kind of ["wheel", "touchmove"]) words.addEventListener(kind, () => { follow.checked = false; }, { passive: true });
    }
    for (const kind of ["timeupdate", "seeking"]) player.addEventListener(kind, () => player && tick());
    player.addEventListener("error", lose);
    player.lastElementChild.addEventListener("error", lose);
    addEventListener("load", () => { if (player?.networkState === HTMLMediaElement.NETWORK_NO_SOURCE) lose(); }); // it failed before the lines above
    const asked = /^#t=(\d+(\.\d+)?)$/.exec(location.hash)?.[1] ?? player.dataset.begin; // page.html#t=93
    if (asked) player.currentTime = Number(asked);
  }

  for (const view of document.querySelectorAll(".view")) {
    const stage = view.querySelector(".stage");
    if (stage) played(view, stage);
  }
}
