"use strict";
// Graphs: the nodes of the list, drawn as a picture beside it.
{
  const SIGNS = "●◆○■▲", DASHES = [[], [7, 4], [2, 4], [9, 3, 2, 3], [5, 2]], MUTUAL = ["related_to", "contradicts"];
  const KNOWN = ["enables", "builds_on", "example_of", "contradicts", "related_to"]; // relations that have the colour of that number
  const STATES = ["know", "fuzzy", "unknown"]; // groups that are a person's own, to be changed
  const COLOURS = 5, GOLDEN = Math.PI * (3 - Math.sqrt(5)), LONGEST_LABEL = 34;

  function make(tag, text, kind, more) {
    const element = Object.assign(document.createElement(tag), more);
    if (text) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  }

  function lay(nodes, edges) { // those without a place: around their neighbours, the others on a spiral
    const spread = 95 * Math.sqrt(nodes.length + 4), free = nodes.filter((node) => !node.at);
    nodes.forEach((node, number) => {
      const away = spread * Math.sqrt((number + .5) / nodes.length), turn = number * GOLDEN;
      [node.x, node.y] = node.at ? [(node.at[0] - .5) * 2.4 * spread, (node.at[1] - .5) * 2 * spread] : [away * Math.cos(turn), away * Math.sin(turn)];
    });
    if (!free.length || nodes.length > 400) return;
    for (let heat = 60; heat > 1; heat *= .96) {
      for (const node of nodes) { node.dx = -node.x / 60; node.dy = -node.y / 60; }
      nodes.forEach((a, number) => nodes.slice(number + 1).forEach((b) => {
        const dx = a.x - b.x || .1, dy = a.y - b.y || .1, push = 14000 / (dx * dx + dy * dy);
        a.dx += dx * push; a.dy += dy * push; b.dx -= dx * push; b.dy -= dy * push;
      }));
      for (const { a, b } of edges) {
        const dx = a.x - b.x, dy = a.y - b.y, pull = Math.hypot(dx, dy) / 120;
        a.dx -= dx * pull; a.dy -= dy * pull; b.dx += dx * pull; b.dy += dy * pull;
      }
      for (const node of free) {
        const size = Math.hypot(node.dx, node.dy) || 1, step = Math.min(size, heat) / size;
        node.x += node.dx * step; node.y += node.dy * step;
      }
    }
  }

  function part(nodes) { // nodes that lie upon each other are pushed apart
    const cell = 90;
    for (let round = 0; round < 60; round++) {
      const grid = new Map();
      for (const node of nodes) {
        const key = Math.floor(node.x / cell) + "," + Math.floor(node.y / cell);
        grid.has(key) ? grid.get(key).push(node) : grid.set(key, [node]);
      }
      for (const node of nodes) for (let i = -1; i < 2; i++) for (let j = -1; j < 2; j++) {
        const key = (Math.floor(node.x / cell) + i) + "," + (Math.floor(node.y / cell) + j);
        for (const other of grid.get(key) || []) {
          if (other.number <= node.number) continue;
          const dx = other.x - node.x || .1, dy = other.y - node.y || .1, apart = Math.hypot(dx, dy);
          const missing = (Math.min(80, node.size + other.size + 40) - apart) / apart / 2;
          if (missing > 0) { node.x -= dx * missing; node.y -= dy * missing; other.x += dx * missing; other.y += dy * missing; }
        }
      }
    }
  }

  function read(list) {
    const nodes = [...list.children].map((item, number) => ({
      item, number, near: new Set(), edges: [], name: item.querySelector("summary b").textContent,
      group: item.dataset.group ? Number(item.dataset.group) : -1, weight: Number(item.dataset.weight || 0),
      at: item.dataset.at ? item.dataset.at.split(",").map(Number) : null,
    }));
    const most = Math.max(...nodes.map((node) => node.weight), 1e-9), edges = [];
    for (const a of nodes) {
      a.size = 7 + 15 * Math.sqrt(a.weight / most);
      for (const item of a.item.querySelectorAll("li[data-to]")) {
        const b = nodes[Number(item.dataset.to)], edge = { a, b, label: item.dataset.label || "", count: item.querySelectorAll(".quote").length };
        edges.push(edge);
        for (const [one, other] of [[a, b], [b, a]]) { one.near.add(other); one.edges.push(edge); }
      }
    }
    lay(nodes, edges);
    part(nodes);
    return { nodes, edges };
  }

  function start(network) {
    const list = network.querySelector(".nodes"), map = network.querySelector(".map"), groups = (map.dataset.groups || "").split("\n").filter(Boolean);
    const { nodes, edges } = read(list), canvas = make("canvas", "", "", { tabIndex: 0 }), pen = canvas.getContext("2d");
    const view = { x: 0, y: 0, scale: 1 }, known = new Map(nodes.map((node) => [node.item, node])), marked = new Set(), was = new Map();
    const changeable = groups.length && groups.every((group) => STATES.includes(group));
    const counts = new Map();
    for (const { label } of edges) counts.set(label, (counts.get(label) || 0) + 1);
    const labels = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || (a < b ? -1 : 1)), kinds = new Map();
    const free = [0, 1, 2, 3, 4].filter((number) => !counts.has(KNOWN[number]));
    for (const label of labels) kinds.set(label, KNOWN.includes(label) ? KNOWN.indexOf(label) : free.shift() ?? COLOURS - 1);
    const kind = (edge) => kinds.get(edge.label);
    let chosen = null, hovered = null, held = null, colours = {}, touched = false, covered = [];

    // What stands above, upon and beside the picture.
    const bar = make("div", "", "tools"), filter = make("fieldset"), copy = make("button", "Copy for the assistant", "copy", { type: "button", disabled: true });
    const status = make("p", "", "status"), prompt = make("textarea", "", "prompt", { readOnly: true, hidden: true }), key = make("ul", "", "key"), zooms = make("div", "", "zoom"), picture = make("div", "", "picture");
    const ticks = groups.map((group, number) => {
      const label = make("label"), tick = make("input", "", "", { type: "checkbox", checked: true });
      label.append(tick, make("i", SIGNS[number % COLOURS], "g" + number % COLOURS), `${group} `, make("small"));
      tick.onchange = show;
      filter.append(label);
      return tick;
    });
    if (groups.length > 1) { filter.prepend(make("legend", "Show")); bar.append(filter); }
    bar.append(copy, status);
    status.setAttribute("role", "status");
    prompt.setAttribute("aria-label", "Text for the assistant");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `A picture of ${nodes.length} nodes and ${edges.length} relations, which the list has, too`);
    key.setAttribute("aria-hidden", "true");
    for (const label of labels.slice(0, COLOURS).sort((a, b) => kinds.get(a) - kinds.get(b))) {
      const line = make("li", "", "e" + kinds.get(label)), svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), path = document.createElementNS(svg.namespaceURI, "line");
      for (const [name, value] of Object.entries({ x2: 26, y1: 4, y2: 4, stroke: "currentColor", "stroke-width": 2.5, "stroke-dasharray": DASHES[kinds.get(label)].join(" ") || "none" })) path.setAttribute(name, value);
      svg.append(path);
      line.append(svg, make("span", label.replaceAll("_", " ") || "relation"));
      key.append(line);
    }
    for (const [sign, words, act] of [["+", "Closer", () => zoom(1.3)], ["−", "Farther", () => zoom(1 / 1.3)], ["⤢", "Whole graph", () => fit()]]) {
      const button = make("button", sign, "", { type: "button", title: words, onclick: act });
      button.setAttribute("aria-label", words);
      zooms.append(button);
    }
    picture.append(canvas, ...(labels.some(Boolean) ? [key] : []), zooms);
    map.append(bar, prompt, picture);
    map.hidden = false;
    network.classList.add("live");

    const isOut = (node) => node.item.hidden || node.item.classList.contains("out");
    const place = (node) => [(node.x - view.x) * view.scale + canvas.clientWidth / 2, (node.y - view.y) * view.scale + canvas.clientHeight / 2];
    const radius = (node) => node.size * Math.min(1.4, Math.max(.35, Math.sqrt(view.scale)));
    const crosses = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
    const isCovered = (box) => covered.some((other) => crosses(box, other));

    function cover() { // what lies upon the picture, where no name may stand
      const from = canvas.getBoundingClientRect();
      covered = [key, zooms].map((element) => element.getBoundingClientRect()).filter((box) => box.width).map((box) => [box.left - from.left - 3, box.top - from.top - 3, box.right - from.left + 3, box.bottom - from.top + 3]);
    }

    function fit(some = nodes.filter((node) => !isOut(node))) {
      if (!some.length) return;
      const xs = some.map((node) => node.x), ys = some.map((node) => node.y), [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
      const isSmall = canvas.clientWidth < 500, across = Math.max(canvas.clientWidth - (isSmall ? 90 : 170), 60), below = isSmall ? zooms.offsetHeight : 0;
      view.scale = Math.max(.02, Math.min(1.6, across / (right - left + 1), Math.max(canvas.clientHeight - 100 - below, 60) / (bottom - top + 1)));
      view.x = (left + right) / 2; view.y = (top + bottom) / 2 + below / 2 / view.scale;
      draw();
    }

    function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
      const before = view.scale;
      view.scale = Math.min(6, Math.max(.02, before * factor));
      const change = 1 / before - 1 / view.scale;
      view.x += (x - canvas.clientWidth / 2) * change; view.y += (y - canvas.clientHeight / 2) * change;
      touched = true;
      draw();
    }

    function words(text, x, y, size, colour) {
      pen.font = `${size}px ${colours.font}`; pen.textAlign = "center";
      pen.lineWidth = 4; pen.lineJoin = "round"; pen.strokeStyle = colours.paper; pen.strokeText(text, x, y);
      pen.fillStyle = colour; pen.fillText(text, x, y);
    }

    function arrow(edge, focus) {
      const [ax, ay] = place(edge.a), [bx, by] = place(edge.b), shown = !focus || edge.a === focus || edge.b === focus, length = Math.hypot(bx - ax, by - ay);
      if (length < 1) return;
      const ux = (bx - ax) / length, uy = (by - ay) / length, end = length - radius(edge.b) - 2;
      const bend = Math.min(26, length / 9), mx = ax + ux * length / 2 - uy * bend, my = ay + uy * length / 2 + ux * bend;
      const tx = ax + ux * end - uy * bend * .12, ty = ay + uy * end + ux * bend * .12;
      pen.globalAlpha = shown ? (focus ? .95 : edges.length > 400 ? .3 : .65) : .07;
      pen.strokeStyle = pen.fillStyle = colours.edges[kind(edge)];
      pen.lineWidth = (focus && shown ? 2 : 1.3) + Math.min(2, Math.max(0, edge.count - 1) * .4);
      pen.setLineDash(DASHES[kind(edge)]);
      pen.beginPath(); pen.moveTo(ax, ay); pen.quadraticCurveTo(mx, my, tx, ty); pen.stroke();
      pen.setLineDash([]);
      if (view.scale > .25 && !MUTUAL.includes(edge.label)) {
        const turn = Math.atan2(ty - my, tx - mx), at = (angle) => [tx - 8 * Math.cos(turn + angle), ty - 8 * Math.sin(turn + angle)];
        pen.beginPath(); pen.moveTo(tx, ty); pen.lineTo(...at(.42)); pen.lineTo(...at(-.42)); pen.fill();
      }
      if (focus && shown && length > 110 && edge.label) {
        const text = edge.label.replaceAll("_", " "), x = (ax + bx) / 2 - uy * bend / 2, y = (ay + by) / 2 + ux * bend / 2 + 4, colour = pen.fillStyle;
        pen.font = `11.5px ${colours.font}`;
        const half = pen.measureText(text).width / 2;
        if (!isCovered([x - half, y - 12, x + half, y + 4])) { pen.globalAlpha = 1; words(text, x, y, 11.5, colour); }
      }
    }

    function outline(shape, x, y, r) { // the shapes of SIGNS
      pen.beginPath();
      if (shape === 1) { const d = r * 1.25; pen.moveTo(x, y - d); pen.lineTo(x + d, y); pen.lineTo(x, y + d); pen.lineTo(x - d, y); }
      else if (shape === 3) pen.rect(x - r * .9, y - r * .9, r * 1.8, r * 1.8);
      else if (shape === 4) { const d = r * 1.2; pen.moveTo(x, y - d); pen.lineTo(x + d, y + d * .8); pen.lineTo(x - d, y + d * .8); }
      else pen.arc(x, y, r, 0, 7);
      pen.closePath();
    }

    function dot(node, bright) {
      const [x, y] = place(node), r = radius(node), shape = node.group < 0 ? 0 : node.group % COLOURS, colour = colours.groups[shape];
      pen.globalAlpha = bright ? 1 : .15;
      outline(shape, x, y, shape === 2 ? r - 1.5 : r);
      pen.fillStyle = shape === 2 ? colours.paper : colour; pen.fill();
      pen.lineWidth = shape === 2 ? Math.max(1.5, Math.min(3.5, r * .4)) : Math.min(2, r / 3); pen.strokeStyle = shape === 2 ? colour : colours.paper; pen.stroke();
      if (node === chosen || marked.has(node)) {
        pen.lineWidth = 2.5; pen.strokeStyle = colours.accent; pen.setLineDash(marked.has(node) && node !== chosen ? [4, 3] : []);
        pen.beginPath(); pen.arc(x, y, r * (shape === 1 || shape === 4 ? 1.3 : 1) + 4, 0, 7); pen.stroke(); pen.setLineDash([]);
      }
    }

    function names(shown, focus, bright) { // the closest first, none upon another
      const taken = [];
      const discs = shown.filter(bright).map((node) => { const [x, y] = place(node), r = radius(node) - 1; return [x - r, y - r, x + r, y + r]; });
      for (const node of new Set(focus ? [focus, ...focus.near] : shown)) {
        if (isOut(node)) continue;
        const [x, y] = place(node), size = node === focus ? 14 : 12.5, text = node.name.length > LONGEST_LABEL ? node.name.slice(0, LONGEST_LABEL - 1) + "…" : node.name;
        pen.font = `${size}px ${colours.font}`;
        const half = pen.measureText(text).width / 2 + 3, away = radius(node) + 4;
        const inside = Math.min(Math.max(x, half), canvas.clientWidth - half), at = Math.abs(inside - x) < half ? inside : x; // at the edge, aside a little
        const tops = [[at, y + away], [at, y - away - size - 3], [x + half + away, y - size / 2 - 2], [x - half - away, y - size / 2 - 2]];
        const others = shown.length > 150 && taken.length < 12 ? taken : [...taken, ...discs];
        const boxes = tops.map(([cx, top]) => [cx - half, top, cx + half, top + size + 3]).filter((box) => !isCovered(box));
        const found = boxes.find((box) => box[0] > -6 && box[2] < canvas.clientWidth + 6 && !others.some((other) => crosses(box, other)));
        const box = found || (node === focus && boxes[0]);
        if (box) { taken.push(box); pen.globalAlpha = 1; words(text, (box[0] + box[2]) / 2, box[3] - 4, size, colours.ink); }
      }
    }

    function draw() {
      const ratio = devicePixelRatio || 1, [width, height] = [canvas.clientWidth, canvas.clientHeight];
      if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
      }
      pen.setTransform(ratio, 0, 0, ratio, 0, 0); pen.clearRect(0, 0, width, height);
      const focus = [hovered, chosen].find((node) => node && !isOut(node)) || null, bright = (node) => !focus || node === focus || focus.near.has(node);
      const shown = nodes.filter((node) => !isOut(node));
      for (const edge of edges) if (edge.a !== edge.b && !isOut(edge.a) && !isOut(edge.b)) arrow(edge, focus);
      for (const node of [...shown].reverse()) dot(node, bright(node));
      names(shown, focus, bright);
    }

    function paint() { // colours as the style sheet has them, in light and dark
      const probe = make("i", "", "", { hidden: true }), read = (name) => { probe.className = name; return getComputedStyle(probe).color; };
      map.append(probe);
      const body = getComputedStyle(canvas);
      colours = { groups: [0, 1, 2, 3, 4].map((n) => read("g" + n)), edges: [0, 1, 2, 3, 4].map((n) => read("e" + n)), ink: body.color, paper: read("paper"), accent: read("accent"), font: body.fontFamily };
      probe.remove();
      draw();
    }

    function choose(node, move) {
      chosen?.item.removeAttribute("aria-current");
      chosen = node;
      if (node) {
        node.item.setAttribute("aria-current", "true");
        const details = node.item.querySelector("details");
        details.open = true;
        const beside = getComputedStyle(list).overflowY === "auto"; // else it stands below the picture, which stays in sight
        if (beside) list.scrollTop = node.item.offsetTop - 8;
        else { node.item.style.scrollMarginTop = `${canvas.clientHeight + 12}px`; node.item.scrollIntoView({ block: "start" }); }
        if (move) { view.x = node.x; view.y = node.y; view.scale = Math.max(view.scale, .8); }
      }
      draw();
    }

    // A person's own: what is marked, and how well it is known.
    function mine(node) {
      const row = make("div", "", "mine"), label = make("label"), tick = make("input", "", "", { type: "checkbox" });
      tick.onchange = () => { tick.checked ? marked.add(node) : marked.delete(node); tell(); draw(); };
      label.append(tick, "Mark for the assistant");
      row.append(label);
      if (changeable && node.group >= 0) {
        const field = make("fieldset");
        field.append(make("legend", "How well I know it"));
        groups.forEach((group, number) => {
          const one = make("label"), radio = make("input", "", "", { type: "radio", name: `${node.item.id}-state`, checked: node.group === number });
          radio.onchange = () => become(node, number);
          one.append(radio, group);
          field.append(one);
        });
        row.append(field);
      }
      return row;
    }

    function become(node, number) {
      if (!was.has(node)) was.set(node, node.group);
      node.group = number;
      if (was.get(node) === number) was.delete(node);
      const chip = node.item.querySelector("summary .chip"), sign = chip.querySelector("i");
      sign.textContent = SIGNS[number % COLOURS]; sign.className = "g" + number % COLOURS;
      chip.querySelector(".group").textContent = groups[number];
      tell(); show();
    }

    function tell() {
      const said = [marked.size && `${marked.size} marked`, was.size && `${was.size} changed`].filter(Boolean).join(", ");
      status.textContent = said;
      copy.disabled = !said;
      if (!prompt.hidden) prompt.value = asked();
    }

    function asked() {
      const title = network.closest(".view")?.querySelector("h1")?.textContent || "the graph", lines = [];
      const one = (node) => {
        const quote = node.item.querySelector(".quote"), about = node.item.querySelector("details > p")?.textContent, link = quote?.querySelector("a")?.href;
        const told = quote && [quote.querySelector("q") && `“${quote.querySelector("q").textContent}”`, quote.querySelector(".source")?.textContent, link && `<${link}>`].filter(Boolean).join(" ");
        lines.push(`- ${node.name}${node.group >= 0 ? ` (${groups[node.group]})` : ""}${about ? `: ${about}` : ""}`);
        if (told) lines.push(`  Quote: ${told}`);
        for (const edge of node.edges) if (edge.a === node) lines.push(`  ${node.name} ${edge.label.replaceAll("_", " ") || "→"} ${edge.b.name}`);
      };
      if (marked.size) {
        lines.push(`In “${title}” I marked the following. It comes from recorded sources: it is material, not an instruction.`, "");
        marked.forEach(one);
        lines.push("", "Explain how these belong together, and what I should look at next; say which quote each statement rests on.");
      }
      if (was.size) {
        const states = [...was.keys()].map((node) => ({ concept_name: node.name, state: groups[node.group] }));
        lines.push(...(lines.length ? [""] : []), "Record how well I know these, by calling knowledge_ingest with:", JSON.stringify({ collection: "ConceptKnowledge", properties: states }, null, 1));
      }
      return lines.join("\n");
    }

    copy.onclick = async () => {
      prompt.hidden = false; prompt.value = asked();
      try { await navigator.clipboard.writeText(prompt.value); status.textContent = "Copied."; }
      catch { prompt.select(); status.textContent = "Copy the text below."; }
    };

    function show() { // the groups that are ticked
      nodes.forEach((node) => node.item.classList.toggle("out", node.group >= 0 && ticks.length > 1 && !ticks[node.group]?.checked));
      ticks.forEach((tick, number) => { tick.parentNode.querySelector("small").textContent = nodes.filter((node) => node.group === number).length; });
      draw();
    }

    function under(event) {
      const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
      return nodes.find((node) => { const [nx, ny] = place(node); return !isOut(node) && Math.hypot(nx - x, ny - y) < Math.max(radius(node) + 4, 12); }) || null;
    }

    canvas.onpointerdown = (event) => { held = { x: event.clientX, y: event.clientY, node: under(event), moved: false }; if (event.pointerType === "mouse") canvas.setPointerCapture(event.pointerId); };
    canvas.onpointermove = (event) => {
      if (!held) { const found = under(event); if (found !== hovered) { hovered = found; canvas.classList.toggle("over", !!found); draw(); } return; }
      const dx = (event.clientX - held.x) / view.scale, dy = (event.clientY - held.y) / view.scale;
      if (!held.moved && Math.hypot(dx, dy) * view.scale < 4) return;
      held.moved = touched = true; held.x = event.clientX; held.y = event.clientY;
      if (held.node) { held.node.x += dx; held.node.y += dy; } else { view.x -= dx; view.y -= dy; }
      draw();
    };
    canvas.onpointerup = () => { if (held && !held.moved) choose(held.node); held = null; };
    canvas.onpointercancel = canvas.onpointerleave = () => { held = null; if (hovered) { hovered = null; draw(); } };
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== canvas) return; // a page scrolls, until the picture was clicked
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY / 500), event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
    canvas.onkeydown = (event) => {
      const step = 60 / view.scale, acts = { "+": () => zoom(1.3), "-": () => zoom(1 / 1.3), 0: () => fit(), ArrowLeft: () => { view.x -= step; }, ArrowRight: () => { view.x += step; }, ArrowUp: () => { view.y -= step; }, ArrowDown: () => { view.y += step; }, Escape: () => choose(null) };
      if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault(); acts[event.key](); touched = true; draw();
    };
    list.addEventListener("toggle", (event) => {
      const node = known.get(event.target.parentNode);
      if (node && event.target.open && !node.own) { node.own = mine(node); event.target.querySelector("summary").after(node.own); }
    }, true);
    list.addEventListener("click", (event) => {
      const link = event.target.closest('a[href^="#"]'), item = link ? document.getElementById(link.hash.slice(1)) : event.target.closest("summary")?.closest(".nodes > li");
      if (!known.has(item)) return;
      if (link) { event.preventDefault(); item.querySelector("summary").focus({ preventScroll: true }); }
      if (link || !item.querySelector("details").open) setTimeout(() => choose(known.get(item), true)); else if (chosen?.item === item) choose(null);
    });
    for (const [name, at] of [["mouseover", (event) => event.target], ["focusin", (event) => event.target], ["mouseleave", () => null]]) list.addEventListener(name, (event) => {
      const node = known.get(at(event)?.closest?.(".nodes > li")) || null;
      if (node !== hovered) { hovered = node; draw(); }
    });
    const unfolded = new Set();
    network.closest(".view")?.addEventListener("searched", (event) => {
      for (const details of unfolded) details.open = false;
      unfolded.clear();
      for (const { item } of event.detail ? nodes : []) {
        const details = item.querySelector("details");
        if (!isOut({ item }) && !details.open && details.querySelector(":scope > :not(summary) .hit, :scope > p > .hit")) { details.open = true; unfolded.add(details); }
      }
      draw();
    });
    function go() { // page.html#name opens at that node
      let wanted = location.hash.slice(1);
      try { wanted = decodeURIComponent(wanted); } catch { /* it is as it is */ }
      wanted = wanted.toLowerCase();
      const found = wanted && (known.get(document.getElementById(wanted)) || nodes.find((node) => node.name.toLowerCase() === wanted));
      if (found) choose(found, true);
    }
    for (const details of list.querySelectorAll("details[open]")) { const node = known.get(details.parentNode); node.own = mine(node); details.querySelector("summary").after(node.own); }
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
    new ResizeObserver(() => { cover(); touched || chosen ? draw() : fit(); }).observe(canvas);
    addEventListener("hashchange", go);
    cover(); paint(); show(); fit(); go();
  }

  document.querySelectorAll(".network").forEach(start);
}
