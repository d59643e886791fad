"use strict";
const { nodes, edges } = JSON.parse(document.getElementById("data").textContent);
const canvas = document.getElementById("graph"), side = document.getElementById("side");
const pen = canvas.getContext("2d"), style = () => getComputedStyle(document.documentElement);
const TYPES = { enables: "#2f9e6e", builds_on: "#3b82d0", example_of: "#9a6dd7", contradicts: "#d9485f", related_to: "#98a2b3" };
const STATES = ["know", "fuzzy", "unknown"], SPREAD = 95 * Math.sqrt(nodes.length + 4);
const view = { x: 0, y: 0, scale: 1 };
let chosen = null, hovered = null, held = null, colours = {};

const most = Math.max(...nodes.map((node) => node.score), 1e-9);
nodes.forEach((node, number) => {
  Object.assign(node, { number, x: node.at[0] * SPREAD * 1.2, y: node.at[1] * SPREAD, near: new Set(), edges: [] });
  node.size = 7 + 15 * Math.sqrt(node.score / most);
});
edges.forEach((edge) => {
  edge.a = nodes[edge.from]; edge.b = nodes[edge.to];
  for (const [one, other] of [[edge.a, edge.b], [edge.b, edge.a]]) { one.near.add(other); one.edges.push(edge); }
});
const byScore = [...nodes].sort((a, b) => b.seed - a.seed || b.score - a.score);

function part() { // nodes that lie upon each other are pushed apart
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
        const dx = other.x - node.x || 0.1, dy = other.y - node.y || 0.1, apart = Math.hypot(dx, dy);
        const missing = (Math.min(80, node.size + other.size + 40) - apart) / apart / 2;
        if (missing > 0) { node.x -= dx * missing; node.y -= dy * missing; other.x += dx * missing; other.y += dy * missing; }
      }
    }
  }
}

function fit(some) {
  const box = canvas.getBoundingClientRect(), xs = some.map((n) => n.x), ys = some.map((n) => n.y);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  view.scale = Math.min(1.6, (box.width - 170) / (right - left + 1), (box.height - 100) / (bottom - top + 1));
  view.scale = Math.max(view.scale, 0.02);
  view.x = (left + right) / 2; view.y = (top + bottom) / 2;
  draw();
}

const place = (node) => [(node.x - view.x) * view.scale + canvas.clientWidth / 2, (node.y - view.y) * view.scale + canvas.clientHeight / 2];
const radius = (node) => node.size * Math.min(1.4, Math.max(0.35, Math.sqrt(view.scale)));

function arrow(edge, focus) {
  const [ax, ay] = place(edge.a), [bx, by] = place(edge.b), shown = !focus || edge.a === focus || edge.b === focus;
  const length = Math.hypot(bx - ax, by - ay);
  if (length < 1) return;
  const ux = (bx - ax) / length, uy = (by - ay) / length, end = length - radius(edge.b) - 2;
  const bend = Math.min(26, length / 9), mx = ax + ux * length / 2 - uy * bend, my = ay + uy * length / 2 + ux * bend;
  const tx = ax + ux * end - uy * bend * 0.12, ty = ay + uy * end + ux * bend * 0.12;
  pen.globalAlpha = shown ? (focus ? 0.95 : edges.length > 400 ? 0.25 : 0.55) : 0.06;
  pen.strokeStyle = pen.fillStyle = TYPES[edge.type] || TYPES.related_to;
  pen.lineWidth = (focus && shown ? 2 : 1.2) + Math.min(2, (edge.sources.length - 1) * 0.4);
  pen.beginPath(); pen.moveTo(ax, ay); pen.quadraticCurveTo(mx, my, tx, ty); pen.stroke();
  if (view.scale > 0.25 && edge.type !== "related_to" && edge.type !== "contradicts") {
    const turn = Math.atan2(ty - my, tx - mx), at = (angle) => [tx - 8 * Math.cos(turn + angle), ty - 8 * Math.sin(turn + angle)];
    pen.beginPath(); pen.moveTo(tx, ty); pen.lineTo(...at(0.42)); pen.lineTo(...at(-0.42)); pen.fill();
  }
  if (focus && shown && length > 110) {
    pen.globalAlpha = 1; label(edge.type.replaceAll("_", " "), (ax + bx) / 2 - uy * bend / 2, (ay + by) / 2 + ux * bend / 2 + 4, 11, pen.fillStyle);
  }
}

function label(text, x, y, size, colour) {
  pen.font = `${size}px system-ui, sans-serif`; pen.textAlign = "center";
  pen.lineWidth = 4; pen.lineJoin = "round"; pen.strokeStyle = colours.paper; pen.strokeText(text, x, y);
  pen.fillStyle = colour; pen.fillText(text, x, y);
}

function draw() {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
  }
  pen.setTransform(ratio, 0, 0, ratio, 0, 0); pen.clearRect(0, 0, width, height);
  const focus = hovered || chosen, bright = (node) => !focus || node === focus || focus.near.has(node);
  edges.forEach((edge) => { if (edge.a !== edge.b) arrow(edge, focus); });
  for (const node of [...byScore].reverse()) {
    const [x, y] = place(node), size = radius(node);
    pen.globalAlpha = bright(node) ? 1 : 0.15;
    pen.fillStyle = colours[node.state] || colours.unknown;
    pen.beginPath(); pen.arc(x, y, size, 0, 7); pen.fill();
    pen.lineWidth = 2; pen.strokeStyle = colours.paper; pen.stroke();
    if (node.seed || node === chosen) {
      pen.lineWidth = 2.5; pen.strokeStyle = colours.accent; pen.beginPath(); pen.arc(x, y, size + 3.5, 0, 7); pen.stroke();
    }
  }
  const crosses = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3], taken = [];
  const discs = nodes.filter(bright).map((node) => { const [x, y] = place(node), r = radius(node) - 1; return [x - r, y - r, x + r, y + r]; });
  for (const node of new Set(focus ? [focus, ...focus.near] : byScore)) { // the closest first, none on another
    const [x, y] = place(node), size = node === focus || node.seed ? 14 : 12.5, words = node.name.length > 34 ? node.name.slice(0, 33) + "…" : node.name;
    pen.font = `${size}px system-ui, sans-serif`;
    const half = pen.measureText(words).width / 2 + 3, away = radius(node) + 4;
    const tops = [[x, y + away], [x, y - away - size - 3], [x + half + away, y - size / 2 - 2], [x - half - away, y - size / 2 - 2]];
    const found = tops.map(([cx, top]) => [cx - half, top, cx + half, top + size + 3]).find((box) => box[0] > -6 && box[2] < width + 6 && !(nodes.length > 150 && taken.length < 12 ? taken : [...taken, ...discs]).some((other) => crosses(box, other)));
    const box = found || ((node === focus || node.seed) && [x - half, y + away, x + half, y + away + size + 3]);
    if (box) { taken.push(box); pen.globalAlpha = 1; label(words, (box[0] + box[2]) / 2, box[3] - 4, size, colours.ink); }
  }
}

function make(tag, text, kind) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  if (kind) element.className = kind;
  return element;
}

function row(node, before, after) {
  const button = make("button", "", "row");
  if (before) button.append(make("em", before + " "));
  button.append(node.name);
  if (after) button.append(make("em", " " + after));
  button.type = "button"; button.onclick = () => choose(node, true);
  return button;
}

function quotes(sources) {
  return sources.filter((source) => source.quote || source.link).map((source) => {
    const quote = make("blockquote", source.quote), safe = /^https?:\/\//i.test(source.link), link = make(safe ? "a" : "span", source.label || source.link || source.record);
    if (safe) { link.href = source.link; link.rel = "noreferrer noopener"; link.target = "_blank"; }
    quote.append(link);
    return quote;
  });
}

function choose(node, move) {
  chosen = node;
  side.replaceChildren(); side.scrollTop = 0;
  if (!node) {
    side.append(make("h2", "Concepts"), make("p", "The closest first. Click one here or in the graph.", "soft"));
    byScore.slice(0, 400).forEach((each) => side.append(row(each)));
  } else {
    const back = make("button", "← All concepts", "soft row"), badge = make("span", node.state, "badge");
    back.type = "button"; back.onclick = () => choose(null);
    badge.style.background = colours[node.state] || colours.unknown;
    side.append(back, make("h2", node.name), badge);
    if (node.aliases.length) side.append(make("p", "Also " + node.aliases.join(", "), "soft"));
    if (node.about) side.append(make("p", node.about));
    if (node.edges.length) side.append(make("h3", "Relationships"));
    for (const edge of node.edges) {
      const word = edge.type.replaceAll("_", " ");
      side.append(edge.a === node ? row(edge.b, word) : row(edge.a, "", word + " this"));
      side.append(...quotes(edge.sources.slice(0, 1)));
    }
    if (node.sources.length) side.append(make("h3", "Sources"), ...quotes(node.sources));
    if (move) { view.x = node.x; view.y = node.y; view.scale = Math.max(view.scale, 0.8); }
  }
  draw();
}

function under(event) {
  const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  return byScore.find((node) => { const [nx, ny] = place(node); return Math.hypot(nx - x, ny - y) < radius(node) + 4; }) || null;
}

function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const before = view.scale;
  view.scale = Math.min(6, Math.max(0.02, before * factor));
  const change = 1 / before - 1 / view.scale;
  view.x += (x - canvas.clientWidth / 2) * change; view.y += (y - canvas.clientHeight / 2) * change;
  draw();
}

function find(text) {
  const wanted = text.trim().toLowerCase(), named = (node) => [node.name, ...node.aliases].map((name) => name.toLowerCase());
  if (!wanted) return choose(null);
  const found = byScore.find((node) => named(node).includes(wanted)) || byScore.find((node) => named(node).some((name) => name.includes(wanted)));
  if (found) choose(found, true);
}

function paint() {
  const read = style();
  for (const name of ["paper", "ink", "accent", ...STATES]) colours[name] = read.getPropertyValue("--" + name).trim();
  const legend = document.getElementById("legend"), entry = (text, colour, kind) => {
    const line = make("span"), mark = make("i", "", kind);
    mark.style.background = colour; line.append(mark, text.replaceAll("_", " ")); return line;
  };
  const types = Object.keys(TYPES).filter((type) => edges.some((edge) => edge.type === type));
  const states = STATES.filter((state) => nodes.some((node) => node.state === state));
  legend.replaceChildren(...types.map((type) => entry(type, TYPES[type])), ...states.map((state) => entry(state, colours[state], "dot")));
  draw();
}

canvas.onpointerdown = (event) => { held = { x: event.clientX, y: event.clientY, node: under(event), moved: false }; canvas.setPointerCapture(event.pointerId); };
canvas.onpointermove = (event) => {
  if (!held) { const found = under(event); if (found !== hovered) { hovered = found; canvas.classList.toggle("over", !!found); draw(); } return; }
  const dx = (event.clientX - held.x) / view.scale, dy = (event.clientY - held.y) / view.scale;
  if (!held.moved && Math.hypot(dx, dy) * view.scale < 4) return;
  held.moved = true; held.x = event.clientX; held.y = event.clientY;
  if (held.node) { held.node.x += dx; held.node.y += dy; } else { view.x -= dx; view.y -= dy; }
  draw();
};
canvas.onpointerup = () => { if (held && !held.moved) choose(held.node); held = null; };
canvas.addEventListener("wheel", (event) => { event.preventDefault(); const box = canvas.getBoundingClientRect(); zoom(Math.exp(-event.deltaY / 500), event.clientX - box.left, event.clientY - box.top); }, { passive: false });
document.getElementById("closer").onclick = () => zoom(1.3);
document.getElementById("farther").onclick = () => zoom(1 / 1.3);
document.getElementById("whole").onclick = () => fit(nodes);
document.getElementById("find").oninput = (event) => find(event.target.value);
addEventListener("keydown", (event) => { if (event.key === "Escape") { document.getElementById("find").value = ""; choose(null); fit(nodes); } });
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);

document.getElementById("count").textContent = `${nodes.length} concepts, ${edges.length} relationships`;
document.getElementById("names").append(...byScore.slice(0, 500).map((node) => { const option = make("option"); option.value = node.name; return option; }));
part(); paint(); choose(null);
if (nodes.length) fit(nodes);
if (location.hash) find(decodeURIComponent(location.hash.slice(1))); // page.html#concept
