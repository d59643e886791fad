"use strict";
// A film: times go to it, lanes show where things are, the transcript follows.
{
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const start = (element) => Number(element.dataset.start), isPlain = (event) => !event.ctrlKey && !event.metaKey && !event.shiftKey;

  function clock(seconds) {
    const whole = Math.floor(seconds), two = (number) => String(number).padStart(2, "0"), hours = Math.floor(whole / 3600);
    return (hours ? hours + ":" : "") + (hours ? two(Math.floor(whole / 60) % 60) : Math.floor(whole / 60)) + ":" + two(whole % 60);
  }

  function make(tag, kind, text) {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    if (text) element.textContent = text;
    return element;
  }

  function played(view, stage) {
    const duration = Number(stage.dataset.duration), share = (seconds) => 100 * Math.min(1, Math.max(0, seconds / duration)) + "%";
    const words = view.querySelector(".said .words"), spoken = words ? [...words.querySelectorAll("[data-start]")] : [];
    const lists = [...view.querySelectorAll("[data-lane]")].map((section) => ({ section, items: [...section.querySelectorAll("[data-start]")].sort((a, b) => start(a) - start(b)) })).filter((lane) => lane.items.length);
    const timeline = make("div", "timeline"), hint = make("p", "hint"), done = make("i", "done");
    const bar = make("div", "bar"), follow = make("input");
    let player = stage.querySelector("video, audio"), isSought = false;

    function seek(seconds) {
      player.currentTime = Math.min(duration || seconds, Math.max(0, seconds));
      player.play().catch(() => {}); // a browser may want a click first; the place is right then too
    }

    function lose() { // links lead to the media itself from now on
      if (!player) return;
      player.hidden = true; player = null;
      stage.querySelector(".lost").hidden = false;
      view.classList.remove("live"); bar.hidden = true; follow.parentElement?.remove();
    }

    const described = (item) => `${item.querySelector(".at")?.textContent ?? ""}  ${item.querySelector(".label")?.textContent ?? ""}`.trim();
    const open = (item) => (player ? seek(start(item)) : item.querySelector("a.at")?.click());

    // A lane: one control, in which the arrow keys go from mark to mark.
    function lane({ section, items }, number) {
      const track = make("div", `lane lane${number % 4}`), marks = new Map();
      let at = 0, last = -1;
      for (const item of items) {
        const from = start(item), to = Number(item.dataset.end ?? from), isLong = to > from;
        if (items.length > 500 && !isLong && (from - last) / duration < 0.001) continue; // nobody can tell them apart
        const mark = make("i", isLong ? "span" : "dot", isLong ? item.querySelector(".label")?.textContent : "");
        mark.style.left = share(from);
        if (isLong) mark.style.width = share(to - from);
        marks.set(item, mark); last = from;
      }
      track.append(...marks.values());
      const show = (index, aloud) => {
        at = index;
        for (const mark of marks.values()) mark.classList.remove("at");
        marks.get(items[at])?.classList.add("at");
        hint.textContent = described(items[at]);
        if (aloud) Object.assign(track, { ariaValueNow: String(start(items[at])), ariaValueText: described(items[at]) });
      };
      const nearest = (event) => {
        const box = track.getBoundingClientRect(), time = duration * (event.clientX - box.left) / box.width;
        let best = 0, least = Infinity;
        items.forEach((item, index) => {
          const from = start(item), to = Number(item.dataset.end ?? from), far = item.hidden ? Infinity : time < from ? from - time : time > to ? time - to : 0;
          if (far <= least) { least = far; best = index; }
        });
        return best;
      };
      const next = (step) => {
        let index = at + step;
        while (items[index]?.hidden) index += step;
        return items[index] ? index : at;
      };
      Object.assign(track, { tabIndex: 0, role: "slider", ariaLabel: section.dataset.lane, ariaValueMin: "0", ariaValueMax: String(duration), ariaValueNow: String(start(items[0])), ariaValueText: described(items[0]) });
      track.addEventListener("pointermove", (event) => show(nearest(event)));
      track.addEventListener("focus", () => show(at, true));
      track.addEventListener("click", (event) => { show(nearest(event), true); open(items[at]); });
      track.addEventListener("keydown", (event) => {
        const to = { ArrowRight: next(1), ArrowUp: next(1), ArrowLeft: next(-1), ArrowDown: next(-1), Home: 0, End: items.length - 1 }[event.key];
        if (to !== undefined) show(to, true);
        else if (event.key === "Enter" || event.key === " ") open(items[at]);
        else return;
        event.preventDefault();
      });
      for (const kind of ["pointerleave", "blur"]) track.addEventListener(kind, () => {
        hint.textContent = ""; marks.get(items[at])?.classList.remove("at");
      });
      view.addEventListener("searched", () => marks.forEach((mark, item) => mark.classList.toggle("off", item.hidden)));
      timeline.append(make("span", "name", section.dataset.lane), track);
    }

    function draw() {
      if (player) {
        Object.assign(bar, { tabIndex: 0, role: "slider", ariaLabel: "Position", ariaValueMin: "0", ariaValueMax: String(duration), ariaValueNow: "0", ariaValueText: clock(0) });
        bar.addEventListener("click", (event) => { const box = bar.getBoundingClientRect(); if (player) seek(duration * (event.clientX - box.left) / box.width); });
        bar.addEventListener("keydown", (event) => {
          const to = player && { ArrowLeft: player.currentTime - 5, ArrowRight: player.currentTime + 5, Home: 0, End: duration }[event.key];
          if (typeof to === "number") { seek(to); event.preventDefault(); }
        });
        bar.append(done);
        timeline.append(make("span", "name", "Position"), bar);
      }
      lists.forEach(lane);
      hint.ariaLive = "polite";
      stage.append(timeline, hint);
    }

    // What is said and shown now.
    function point(elements, now) {
      for (const element of elements) if (element !== now && element.classList.contains("now")) element.classList.remove("now");
      now?.classList.add("now");
    }

    function tick() {
      const time = player.currentTime, before = (element) => start(element) <= time + 0.05, said = spoken.findLast(before);
      done.style.width = share(time);
      Object.assign(bar, { ariaValueNow: time.toFixed(1), ariaValueText: clock(time) });
      const changed = said && !said.classList.contains("now");
      point(spoken, said);
      for (const { items } of lists) point(items, items.findLast(before));
      if (changed && follow.checked && !isSought) words.scrollTo({ top: said.offsetTop - words.clientHeight / 3, behavior: calm ? "auto" : "smooth" });
    }

    if (duration) draw();
    view.addEventListener("searched", (event) => { isSought = event.detail; if (words) words.scrollTop = 0; });
    // Every time is a link to the media itself; with a player it goes there instead.
    view.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-at], .said [data-start]");
      if (!player || !link || !isPlain(event)) return;
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
    const asked = /^#t=(\d+(\.\d+)?)$/.exec(location.hash); // page.html#t=93
    if (asked) player.currentTime = Number(asked[1]);
  }

  for (const view of document.querySelectorAll(".view")) {
    const stage = view.querySelector(".stage");
    if (stage) played(view, stage);
  }
}
