"use strict";
// The plots of a run share one range of cycles: who zooms one zooms all. The owners'
// map is drawn here, the curves by uPlot.
(function () {
  const runs = JSON.parse(document.getElementById("data").textContent);
  const left = 70, right = 24;

  const si = (v) => {
    if (v == null) return "";
    const a = Math.abs(v);
    for (const [n, s] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) if (a >= n) return +(v / n).toFixed(3) + s;
    return String(+v.toPrecision(4));
  };
  const width = (el) => Math.max(320, el.clientWidth);

  // stepped data: an epoch's value holds from the end of the one before.
  const withStart = (x, ys) => [[0, ...x], ...ys.map((y) => [y[0], ...y])];

  class Group {
    constructor(run) {
      this.run = run;
      this.full = [0, Math.max(1, run.cycles)];
      this.range = this.full;
      this.views = [];
    }
    set(lo, hi) {
      lo = Math.max(this.full[0], lo);
      hi = Math.min(this.full[1], hi);
      if (!(hi > lo) || (lo === this.range[0] && hi === this.range[1])) return;
      this.range = [lo, hi];
      for (const v of this.views) v(lo, hi);
    }
    reset() { this.set(this.full[0], this.full[1]); }
  }

  // unit labels the axis on the left; second, where given, that of series of scale "cpu" on the right.
  function curves(el, group, data, series, key, unit, second) {
    const range = (u, lo, hi) => [Math.min(0, lo || 0), hi > 0 ? hi * 1.05 : 1];
    const opts = {
      width: width(el), height: 210,
      scales: { x: { time: false, min: group.range[0], max: group.range[1] }, y: { range }, cpu: { range } },
      axes: [{ values: (u, t) => t.map(si), label: "core cycle", labelSize: 20 }, { size: left - 20, values: (u, t) => t.map(si), label: unit, labelSize: 20 }],
      cursor: { sync: { key: key }, drag: { x: true, y: false, setScale: false } },
      padding: [8, second ? 0 : right, 0, 0],
      series: [{ label: "cycle", value: (u, v) => (v == null ? "" : String(v)) }, ...series],
      hooks: { setSelect: [(u) => {
        if (u.select.width > 2) group.set(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
        u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
      }] },
    };
    if (second) opts.axes.push({ scale: "cpu", side: 1, grid: { show: false }, size: 44, values: (u, t) => t.map(si), label: second, labelSize: 20 });
    const u = new uPlot(opts, data, el);
    u.over.addEventListener("dblclick", () => group.reset());
    group.views.push((lo, hi) => u.setScale("x", { min: lo, max: hi }));
    window.addEventListener("resize", () => u.setSize({ width: width(el), height: 210 }));
    el.uplot = u;
    return u;
  }

  const stepped = uPlot.paths.stepped({ align: -1 });
  const line = (label, color, dash) => ({ label, stroke: color, width: 1.6, dash, paths: stepped, points: { show: false }, value: (u, v) => si(v) });

  // Columns of a stack are drawn from the highest to the lowest; the legend tells their parts.
  function pages(el, group, run, key) {
    const m = run.marks.filter((d) => d.changed), x = m.map((d) => d.cycle);
    const sum = [m.map((d) => d.touched + d.swept + d.gained), m.map((d) => d.touched + d.swept), m.map((d) => d.touched)];
    const parts = [m.map((d) => d.gained), m.map((d) => d.swept), m.map((d) => d.touched)];
    const column = uPlot.paths.bars({ size: [0.5, 24] });
    const style = [["gained by the new owner", "#009e73"], ["left in the background", "#56b4e9"], ["left because touched", "#d55e00"]];
    curves(el, group, [x, ...sum], style.map(([label, color], i) => ({
      label, stroke: color, fill: color, paths: column, points: { show: false },
      value: (u, v, s, at) => (at == null ? "" : String(parts[i][at])),
    })), key, "pages");
  }

  function owners(el, group, run) {
    const canvas = el.querySelector("canvas"), tip = el.querySelector(".tip");
    const sms = run.tracks.filter((t) => t.name.startsWith("SM ")).length;
    const smRow = sms > 100 ? 3 : sms > 40 ? 5 : 9, grpRow = 9, gap = 8, foot = 22;
    const tops = [];
    let y = 4;
    run.tracks.forEach((t, i) => {
      if (i === sms && sms > 0) y += gap;
      tops.push(y);
      y += i < sms ? smRow : grpRow;
    });
    const bottom = y, height = bottom + foot;
    const rowHeight = (i) => (i < sms ? smRow : grpRow);
    let w = 0;
    const toX = (c) => left + (c - group.range[0]) / (group.range[1] - group.range[0]) * (w - left - right);
    const toCycle = (x) => group.range[0] + (x - left) / (w - left - right) * (group.range[1] - group.range[0]);
    const color = (b) => (b.tenant >= 0 ? run.colors[b.tenant] : "#777777");

    function hatch(g, x0, y0, dx, dy, paint) {
      g.fillStyle = "#ffffff";
      g.fillRect(x0, y0, dx, dy);
      g.save();
      g.beginPath(); g.rect(x0, y0, dx, dy); g.clip();
      g.strokeStyle = paint; g.lineWidth = 1.6;
      g.beginPath();
      const from = Math.floor((x0 - dy) / 4) * 4; // on a grid of the canvas, so that rows join
      for (let x = from; x < x0 + dx + dy; x += 4) { g.moveTo(x + bottom - y0, y0); g.lineTo(x + bottom - y0 - dy, y0 + dy); }
      for (let x = from - bottom; x < x0 + dx; x += 4) { g.moveTo(x + bottom - y0, y0); g.lineTo(x + bottom - y0 - dy, y0 + dy); }
      g.stroke(); g.restore();
    }

    function axis(g) {
      g.fillStyle = "#333"; g.strokeStyle = "#bbb"; g.lineWidth = 1;
      g.font = "12px system-ui, sans-serif"; g.textAlign = "center"; g.textBaseline = "top";
      const span = group.range[1] - group.range[0], raw = span / 7, p = Math.pow(10, Math.floor(Math.log10(raw)));
      const step = Math.max(1, [1, 2, 5, 10].map((k) => k * p).find((s) => s >= raw));
      for (let c = Math.ceil(group.range[0] / step) * step; c <= group.range[1]; c += step) {
        g.beginPath(); g.moveTo(toX(c), bottom); g.lineTo(toX(c), bottom + 4); g.stroke();
        g.fillText(si(c), Math.min(toX(c), w - 12), bottom + 6);
      }
      g.textAlign = "right"; g.textBaseline = "middle";
      run.tracks.forEach((t, i) => {
        const n = t.name.split(" ").pop(), first = i === 0 || i === sms;
        if (first) g.fillText(i < sms ? "SM " + Number(n) : "group " + n, left - 6, tops[i] + rowHeight(i) / 2 + 2);
        else if (i < sms ? Number(n) % 10 === 0 : (i - sms) % 2 === 0) g.fillText(i < sms ? Number(n) : n, left - 6, tops[i] + rowHeight(i) / 2);
      });
    }

    function draw() {
      w = width(el);
      const ratio = window.devicePixelRatio || 1;
      canvas.width = w * ratio; canvas.height = height * ratio; canvas.style.height = height + "px";
      const g = canvas.getContext("2d");
      g.scale(ratio, ratio);
      g.fillStyle = "#ffffff"; g.fillRect(0, 0, w, height);
      run.tracks.forEach((t, i) => {
        const h = rowHeight(i) - 1;
        for (const b of t.spans) {
          const x0 = Math.max(left, toX(b.start)), x1 = Math.min(w - right, toX(b.end));
          if (x1 <= left || x0 >= w - right) continue;
          const dx = Math.max(x1 - x0, 0.5);
          if (b.state === "gated") { g.fillStyle = "#333333"; g.fillRect(x0, tops[i] + h / 2 - 0.5, dx, 1); continue; }
          if (b.state) { hatch(g, x0, tops[i], dx, h, color(b)); continue; }
          g.fillStyle = color(b);
          g.fillRect(x0, tops[i], dx, h);
        }
      });
      g.strokeStyle = "#000"; g.setLineDash([3, 3]); g.lineWidth = 0.7;
      for (const m of run.marks) {
        if (!m.changed || m.cycle < group.range[0] || m.cycle > group.range[1]) continue;
        g.beginPath(); g.moveTo(toX(m.cycle), 0); g.lineTo(toX(m.cycle), bottom); g.stroke();
      }
      g.setLineDash([]);
      axis(g);
    }

    function at(e) {
      const r = canvas.getBoundingClientRect(), x = e.clientX - r.left, yy = e.clientY - r.top;
      const i = tops.findIndex((t, k) => yy >= t && yy < t + rowHeight(k));
      const c = toCycle(x);
      return { x, y: yy, c, track: i < 0 || x < left ? null : run.tracks[i] };
    }
    let start = null;
    canvas.addEventListener("mousemove", (e) => {
      const p = at(e);
      tip.hidden = !p.track;
      if (!p.track) return;
      const b = p.track.spans.find((s) => p.c >= s.start && p.c < s.end);
      const who = !b ? "nobody" : b.state ? b.state + (b.tenant >= 0 ? " (" + run.tenants[b.tenant] + ")" : "") : run.tenants[b.tenant];
      tip.textContent = p.track.name + " at cycle " + Math.round(p.c) + ": " + who + (b ? ", " + b.start + " to " + b.end : "");
      tip.style.left = Math.min(p.x + 12, w - tip.offsetWidth - 4) + "px";
      tip.style.top = p.y + 14 + "px";
    });
    canvas.addEventListener("mouseleave", () => { tip.hidden = true; });
    canvas.addEventListener("mousedown", (e) => { start = at(e).c; });
    window.addEventListener("mouseup", (e) => {
      if (start === null) return;
      const end = at(e).c, lo = Math.min(start, end), hi = Math.max(start, end);
      start = null;
      if (toX(hi) - toX(lo) > 3) group.set(lo, hi);
    });
    canvas.addEventListener("dblclick", () => group.reset());
    group.views.push(draw);
    window.addEventListener("resize", draw);
    draw();
  }

  // What each DRAM channel moved in each epoch: white for nothing, dark for the most of all.
  function memory(el, group, run) {
    const canvas = el.querySelector("canvas"), tip = el.querySelector(".tip");
    const number = (k) => (k < run.fast ? "f" + k : "" + (k - run.fast));
    const channel = (k) => "channel " + number(k);
    const rows = run.memory.length, row = rows > 64 ? 3 : rows > 32 ? 5 : rows > 12 ? 7 : 12, top = 4, bottom = top + rows * row, height = bottom + 22;
    const most = Math.max(1e-9, ...run.memory.map((r) => Math.max(...r)));
    let w = 0;
    const toX = (c) => left + (c - group.range[0]) / (group.range[1] - group.range[0]) * (w - left - right);
    const start = (i) => (i === 0 ? 0 : run.x[i - 1]);
    function draw() {
      w = width(el);
      const ratio = window.devicePixelRatio || 1;
      canvas.width = w * ratio; canvas.height = height * ratio; canvas.style.height = height + "px";
      const g = canvas.getContext("2d");
      g.scale(ratio, ratio);
      g.fillStyle = "#ffffff"; g.fillRect(0, 0, w, height);
      run.x.forEach((end, i) => {
        const x0 = Math.max(left, toX(start(i))), x1 = Math.min(w - right, toX(end));
        if (x1 <= x0) return;
        run.memory.forEach((r, k) => {
          g.fillStyle = "rgb(0 60 120 / " + (r[i] / most).toFixed(3) + ")";
          g.fillRect(x0, top + k * row, x1 - x0, row);
        });
      });
      g.fillStyle = "#333"; g.font = "12px system-ui, sans-serif"; g.textBaseline = "middle"; g.textAlign = "right";
      for (let k = 0; k < rows; k += Math.max(1, Math.ceil(14 / row))) g.fillText(k === 0 ? channel(k) : number(k), left - 6, top + k * row + row / 2 + 2);
      g.textBaseline = "top"; g.textAlign = "left";
      g.fillText(si(group.range[0]), left, bottom + 6);
      g.textAlign = "center";
      g.fillText("core cycle; white: nothing, dark: " + si(most) + " GB/s" + (run.fast ? "; f: fast tier" : ""), (left + w - right) / 2, bottom + 6);
      g.textAlign = "right";
      g.fillText(si(group.range[1]), w - right, bottom + 6);
    }
    canvas.addEventListener("mousemove", (e) => {
      const r = canvas.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
      const k = Math.floor((y - top) / row), c = group.range[0] + (x - left) / (w - left - right) * (group.range[1] - group.range[0]);
      const i = run.x.findIndex((end) => c < end);
      tip.hidden = k < 0 || k >= rows || x < left || i < 0;
      if (tip.hidden) return;
      tip.textContent = channel(k) + ", cycles " + start(i) + " to " + run.x[i] + ": " + si(run.memory[k][i]) + " GB/s";
      tip.style.left = Math.min(x + 12, w - tip.offsetWidth - 4) + "px";
      tip.style.top = y + 14 + "px";
    });
    canvas.addEventListener("mouseleave", () => { tip.hidden = true; });
    canvas.addEventListener("dblclick", () => group.reset());
    group.views.push(draw);
    window.addEventListener("resize", draw);
    draw();
  }

  const dashes = [undefined, [8, 3], [2, 3], [8, 3, 2, 3]];

  runs.forEach((run, i) => {
    const group = new Group(run), key = "run" + i;
    const el = (name) => document.getElementById(name + "-" + i);
    const both = run.on_cpu.includes(true) && run.on_cpu.includes(false);
    // Dashes let a line be seen under another that runs along it.
    const series = run.tenants.map((t, k) => line(t, run.colors[k], both ? undefined : dashes[k % 4]));
    const unit = run.on_cpu.every((c) => c) ? "insts / CPU cycle" : "thread insts / cycle";
    const ipc = series.map((s, k) => (both && run.on_cpu[k] ? Object.assign({}, s, { scale: "cpu", dash: [6, 3] }) : s));
    if (el("ipc")) curves(el("ipc"), group, withStart(run.x, run.ipc), ipc, key, unit, both && "CPU IPC (dashed)");
    if (el("bandwidth")) curves(el("bandwidth"), group, withStart(run.x, run.bandwidth), series, key, "GB/s");
    if (el("memory")) memory(el("memory"), group, run);
    if (el("owners")) owners(el("owners"), group, run);
    if (el("pages")) pages(el("pages"), group, run, key);
    document.getElementById("run-" + i).group = group;
  });

  const palette = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#444444", "#999999"];
  const all = new Group({ cycles: Math.max(...runs.map((r) => r.cycles)) });
  for (const el of document.querySelectorAll("[id^=overlay-]")) {
    const tables = [], series = [];
    runs.forEach((r, i) => {
      const k = r.tenants.indexOf(el.dataset.tenant);
      if (k < 0 || r.x.length === 0) return;
      tables.push(withStart(r.x, [r.ipc[k]]));
      series.push(Object.assign(line(r.label, palette[i % 8], dashes[i % 4]), { spanGaps: true }));
    });
    curves(el, all, tables.length > 1 ? uPlot.join(tables) : tables[0], series, "overlay", "IPC");
  }

  for (const box of document.querySelectorAll("input.only"))
    box.addEventListener("change", () => box.closest("section").querySelector(".decisions").classList.toggle("changes", box.checked));
  document.body.dataset.ready = "yes";
})();
