"use strict";
// The page of heddle serve. What runs comes by server-sent events; the list of results is asked
// for again when an event says that there is another version of it.

const at = (id) => document.getElementById(id);
const chosen = new Map(); // ids of results to compare, in the order of their choice
const asked = { q: "", sort: "when", rows: [], matching: 0, version: -1, number: 0 };
const step = 100; // rows asked for at a time

// make is an element with text and children; everything from results gets in as text alone.
function make(kind, className, ...children) {
  const e = document.createElement(kind);
  if (className) e.className = className;
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}

function span(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

function short(x) { // four significant digits
  if (!x) return "";
  if (x >= 1e9) return `${(x / 1e9).toPrecision(3)} G`;
  if (x >= 1e6) return `${(x / 1e6).toPrecision(3)} M`;
  if (x >= 1e4) return `${(x / 1e3).toPrecision(3)} k`;
  return x >= 1000 ? x.toFixed(0) : String(Number(x.toPrecision(4)));
}

function bar(part) {
  const inside = make("i");
  inside.style.width = `${Math.max(0, Math.min(100, 100 * part))}%`;
  return make("div", "bar", inside);
}

// --- what runs ---

function runLine(r) {
  let speed = r.cycles_per_s ? `${short(r.cycles_per_s)} cycles/s` : "";
  if (r.max_cycles > r.cycle && r.cycles_per_s > 0) speed += `, ${span((r.max_cycles - r.cycle) / r.cycles_per_s)} left`;
  return make("div", "run", make("span", "name", r.label + (r.alone ? " alone" : "")), make("span", "speed", speed),
    bar(r.max_cycles ? r.cycle / r.max_cycles : 0));
}

function list(title, items, className) {
  const d = make("details", className, make("summary", "", title), make("ul", "", ...items));
  return d;
}

// together makes one of the tasks that the nodes of a cluster tell of.
function together(processes) {
  const tasks = processes.filter((p) => p.kind === "task" && !p.lost);
  const rest = processes.filter((p) => p.kind !== "task");
  if (tasks.length === 0) return rest;
  const hosts = new Set(tasks.map((t) => t.host));
  return [...rest, {
    id: "tasks", kind: "tasks", title: `${tasks.length} on ${hosts.size} ${hosts.size === 1 ? "computer" : "computers"} of a cluster`,
    host: "", running: tasks.flatMap((t) => t.running), failed: tasks.flatMap((t) => t.failed),
    todo: 0, finished: 0, kept: 0, left_s: 0, begun: tasks.map((t) => t.begun).sort()[0], updated: tasks[0].updated,
  }];
}

function process(p) {
  const state = p.lost ? "lost" : p.ended ? "ended" : "";
  const box = make("div", `process ${state} ${p.failed.length > 0 ? "broken" : ""}`);
  box.dataset.id = p.id;
  box.append(make("h3", "", `${p.kind} ${p.title}`));
  const words = [];
  if (p.todo > 0 || p.kept > 0) words.push(`${p.finished} of ${p.todo} runs done`);
  if (p.kept > 0) words.push(`${p.kept} kept from before`);
  if (p.lost) words.push(`died without a word, last heard of ${when(p.updated)}`);
  else if (p.ended) words.push(`ended ${when(p.updated)}`);
  else if (p.left_s > 0) words.push(`about ${span(p.left_s)} left`);
  else if (p.running.length > 0 && p.kind !== "tasks") words.push("time left unknown");
  const speed = p.running.reduce((sum, r) => sum + r.cycles_per_s, 0);
  if (speed > 0 && !state) words.push(`${short(speed)} cycles/s`);
  if (p.host) words.push(`on ${p.host}`);
  box.append(make("p", "progress", words.join(", ")));
  if (p.todo > 0 && !p.ended) box.append(bar(p.finished / p.todo));
  if (p.where && !state) box.append(make("p", "hint", p.where));
  if (!state) {
    box.append(...p.running.slice(0, 8).map(runLine));
    if (p.running.length > 8) box.append(list(`${p.running.length - 8} more run`, p.running.slice(8).map(runLine)));
    const waits = p.todo - p.finished - p.running.length;
    if (p.queue && waits > 0) box.append(list(`${waits} wait`, p.queue.map((l) => make("li", "", l)), "queue"));
  }
  if (p.failed.length > 0) {
    const d = list(`${p.failed.length} failed`, p.failed.map((f) =>
      make("li", "message", make("b", "", f.label), `: ${f.message}`)), "failed failures");
    d.open = true;
    box.append(d);
  }
  return box;
}

function showProcesses(processes) {
  const open = new Set([...document.querySelectorAll("#processes details[open]")].map(
    (d) => d.closest(".process").dataset.id + d.className));
  const shut = new Set([...document.querySelectorAll("#processes details:not([open])")].map(
    (d) => d.closest(".process").dataset.id + d.className));
  const boxes = together(processes).map(process);
  at("processes").replaceChildren(...boxes);
  for (const d of document.querySelectorAll("#processes details")) {
    const key = d.closest(".process").dataset.id + d.className;
    if (open.has(key)) d.open = true;
    if (shut.has(key)) d.open = false;
  }
  at("idle").hidden = boxes.length > 0;
}

// --- results ---

function when(text) {
  const t = new Date(text), now = new Date();
  const two = (n) => String(n).padStart(2, "0");
  const clock = `${two(t.getHours())}:${two(t.getMinutes())}`;
  if (t.toDateString() === now.toDateString()) return clock;
  return `${t.getFullYear()}-${two(t.getMonth() + 1)}-${two(t.getDate())} ${clock}`;
}

function name(r) { return r.apps && r.apps.length > 0 ? r.apps.join(" + ") : r.kind; }

function row(r) {
  const box = make("input");
  box.type = "checkbox";
  box.checked = chosen.has(r.id);
  box.setAttribute("aria-label", `compare ${name(r)}`);
  const tr = make("tr", `${r.kind} ${box.checked ? "chosen" : ""}`);
  box.addEventListener("change", () => {
    if (box.checked) chosen.set(r.id, r); else chosen.delete(r.id);
    tr.classList.toggle("chosen", box.checked);
    showChosen();
  });
  const cell = (className, title, ...inside) => {
    const td = make("td", className, ...inside.filter((x) => x !== ""));
    if (title) td.dataset.name = title;
    tr.append(td);
    return td;
  };
  const readable = r.kind === "result" || (r.kind === "failed" && r.cycles > 0);
  cell("pick", "", readable ? box : "");
  cell("when", "", when(r.when)).title = r.when;
  const link = make("a", "", name(r));
  link.href = `page?id=${r.id}`;
  const what = cell("text apps", "", r.kind === "malformed" ? name(r) : link);
  if (r.detail) what.append(make("span", "place", r.detail));
  if (r.place) what.append(make("span", "place", r.place));
  cell("text", "", r.machine || "");
  const governed = (r.policies || []).filter((p) => !r.sharing.includes(p));
  cell("text", "", [r.sharing, ...governed].filter(Boolean).join(", "));
  cell("", "cycles", r.cycles ? String(r.cycles) : "");
  cell("", "STP", r.stp ? r.stp.toFixed(3) : "");
  cell("", "ANTT", r.antt ? r.antt.toFixed(3) : "");
  cell("", "IPC", (r.ipc || []).map(short).join(", "));
  cell("", "cycles/s", short(r.cycles_per_s));
  const bad = r.kind !== "result" ? r.kind : r.complete ? "" : "partial";
  cell(`text state ${bad ? "failed" : ""}`, "", [bad || "complete", r.problem].filter(Boolean).join(": "));
  return tr;
}

function showChosen() {
  at("compare").disabled = chosen.size < 2;
  at("compare").textContent = chosen.size > 0 ? `compare ${chosen.size}` : "compare";
  at("clear").hidden = chosen.size === 0;
}

function showRows() {
  document.querySelector("#results tbody").replaceChildren(...asked.rows.map(row));
  at("none").hidden = asked.rows.length > 0;
  at("more").hidden = asked.rows.length >= asked.matching;
  for (const b of document.querySelectorAll("#results th button")) {
    b.classList.toggle("by", asked.sort.replace("-", "") === b.dataset.sort);
    b.classList.toggle("back", asked.sort === `-${b.dataset.sort}`);
  }
}

// ask fetches rows: the first ones again, or more of them.
async function ask(more) {
  const number = ++asked.number;
  const have = more ? asked.rows.length : 0;
  const limit = more ? step : Math.min(1000, Math.max(step, asked.rows.length));
  const words = new URLSearchParams({ q: asked.q, sort: asked.sort, offset: have, limit });
  let answer;
  try {
    const reply = await fetch(`api/results?${words}`);
    if (number !== asked.number) return; // somebody has asked for something else meanwhile
    at("problem").hidden = reply.ok;
    if (!reply.ok) {
      at("problem").textContent = (await reply.text()).trim();
      return;
    }
    answer = await reply.json();
  } catch {
    return; // the state says that the server is gone
  }
  if (number !== asked.number) return;
  asked.rows = more ? asked.rows.concat(answer.rows) : answer.rows;
  asked.matching = answer.matching;
  asked.version = answer.version;
  const reading = answer.pending > 0 ? `, ${answer.pending} files still to be read` : "";
  at("count").textContent = asked.q ? `${answer.matching} of ${answer.total}${reading}` : `${answer.total}${reading}`;
  showRows();
  document.body.dataset.version = String(answer.version);
}

// askStudies lists the studies whose figures lie in the folders given.
async function askStudies() {
  let studies;
  try {
    const reply = await fetch("api/studies");
    if (!reply.ok) return;
    studies = await reply.json();
  } catch {
    return; // the state says that the server is gone
  }
  at("reproduced").hidden = studies.length === 0;
  at("studies").replaceChildren(...studies.map((s) => {
    const link = make("a", "", `${s.name}, scale ${s.scale}`);
    link.href = `study?id=${s.id}`;
    const words = [`${s.figures} figures`, ...s.verdicts.map((v) => `${v.claims} ${v.verdict}`)];
    if (s.problems > 0) words.push(`${s.problems} runs failed`);
    return make("li", "", link, ` ${words.join(", ")} `, make("span", "hint", `${s.place}, ${when(s.when)}`));
  }));
}

function remember() {
  const words = new URLSearchParams();
  if (asked.q) words.set("q", asked.q);
  if (asked.sort !== "when") words.set("sort", asked.sort);
  history.replaceState(null, "", words.size > 0 ? `?${words}` : location.pathname);
}

let typing = 0;
at("search").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => {
    asked.q = at("search").value.trim();
    asked.rows = [];
    remember();
    ask(false);
  }, 120);
});
for (const b of document.querySelectorAll("#results th button")) {
  b.addEventListener("click", () => {
    asked.sort = asked.sort === b.dataset.sort ? `-${b.dataset.sort}` : b.dataset.sort;
    remember();
    ask(false);
  });
}
at("more").addEventListener("click", () => ask(true));
at("compare").addEventListener("click", () => {
  location.href = `page?${new URLSearchParams([...chosen.keys()].map((id) => ["id", id]))}`;
});
at("clear").addEventListener("click", () => {
  chosen.clear();
  showChosen();
  showRows();
});

const start = new URLSearchParams(location.search);
asked.q = at("search").value = start.get("q") || "";
asked.sort = start.get("sort") || "when";
ask(false);
askStudies();

const events = new EventSource("events");
events.addEventListener("message", (e) => {
  const now = JSON.parse(e.data);
  at("state").className = "";
  at("state").textContent = now.pending > 0 ? `live, ${now.pending} files still to be read` : "live";
  showProcesses(now.processes);
  if (now.version !== asked.version) {
    ask(false);
    askStudies();
  }
  document.body.dataset.ready = "yes";
});
events.addEventListener("error", () => {
  at("state").className = "lost";
  at("state").textContent = "heddle serve does not answer; trying again";
});
