"use strict";
// Hovering, axis switches and the choice of problems and methods. The page is complete without it.
(() => {
  const panels = JSON.parse(document.getElementById("data").textContent);
  const figures = [...document.querySelectorAll("figure[data-panel]")];
  const form = document.querySelector(".controls");
  const tip = document.getElementById("tip");
  if (!form) return;
  const SVG = "http://www.w3.org/2000/svg";
  const dataOf = (figure) => panels[figure.dataset.panel];
  const state = { logX: true, logY: true, off: new Set() };

  // A scale maps [low, high] to [from, to]; linear axes of counts and accuracies start at zero.
  const scale = (low, high, from, to, log) => {
    const f = log ? Math.log : (v) => v;
    const a = f(low), b = f(high);
    return (v) => from + (to - from) * Math.min(1, Math.max(0, (f(Math.max(v, log ? Number.MIN_VALUE : -Infinity)) - a) / (b - a)));
  };
  const scales = (panel) => {
    const [left, top, width, height] = panel.area;
    const [x0, x1, y0, y1] = panel.ends;
    const logY = panel.log && state.logY;
    const low = [state.logX ? x0 : 0, panel.log && !logY ? 0 : y0];
    return {
      logX: state.logX, logY, xEnds: [low[0], x1], yEnds: [low[1], y1],
      x: scale(low[0], x1, left, left + width, state.logX),
      y: scale(low[1], y1, top + height, top, logY),
    };
  };

  const superscript = (n) => String(n).replace(/[-0-9]/g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);
  const plain = (v) => (v !== 0 && (Math.abs(v) < 1e-3 || Math.abs(v) >= 1e6) ? v.toExponential(1) : String(+v.toPrecision(4)));
  const count = (v) => (v >= 1e6 ? plain(v / 1e6) + "M" : v >= 1e3 ? plain(v / 1e3) + "k" : plain(v));
  const power = (v) => {
    const e = Math.floor(Math.log10(v) + 1e-9), m = Math.round(v / 10 ** e);
    return (m > 1 ? m + "×" : "") + "10" + superscript(e);
  };
  const ticks = ([low, high], log, wanted) => {
    const list = [];
    if (!log) {
      const rough = (high - low) / wanted, base = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map((m) => m * base).find((s) => s >= rough);
      for (let v = Math.ceil(low / step) * step; v <= high && list.length < 12; v += step) list.push(v);
      return list;
    }
    const decades = Math.log10(high / low), stride = Math.max(1, Math.ceil(decades / wanted));
    const multiples = decades < 1 ? [1, 2, 3, 5, 7] : decades < 1.6 ? [1, 2, 5] : decades < 2.2 ? [1, 3] : [1];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++)
      if (e % stride === 0) multiples.forEach((m) => { const v = m * 10 ** e; if (v >= low && v <= high) list.push(v); });
    return list;
  };

  const element = (parent, name, attributes, text) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  };

  const draw = (figure) => {
    const panel = dataOf(figure), s = scales(panel);
    const [left, top, width, height] = panel.area;
    const axes = figure.querySelector(".axes");
    axes.replaceChildren();
    const line = (points, ink) => element(axes, "polyline", { class: "ln " + ink, points, fill: "none", "stroke-width": 1 });
    const label = (x, y, anchor, text) => element(axes, "text", { class: "fl ink-muted", x, y, "font-size": 11, "text-anchor": anchor }, text);
    for (const v of ticks(s.yEnds, s.logY, 6)) {
      const y = s.y(v);
      line(`${left},${y} ${left + width},${y}`, "ink-grid");
      label(left - 6, y + 4, "end", s.logY ? power(v) : plain(v));
    }
    for (const v of ticks(s.xEnds, s.logX, 5)) {
      const x = s.x(v);
      line(`${x},${top} ${x},${top + height}`, "ink-grid");
      label(x, top + height + 15, "middle", count(v));
    }
    line(`${left},${top} ${left},${top + height} ${left + width},${top + height}`, "ink-muted");
    figure.querySelectorAll(".curve").forEach((group, k) => {
      const c = panel.curves[k];
      const along = (values) => c.x.map((x, i) => s.x(x).toFixed(1) + "," + s.y(values[i]).toFixed(1));
      group.querySelector(".median").setAttribute("points", along(c.mid).join(" "));
      group.querySelector(".band").setAttribute("points", [...along(c.low), ...along(c.high).reverse()].join(" "));
      const dot = group.querySelector(".end");
      dot.setAttribute("cx", s.x(c.end[0]));
      dot.setAttribute("cy", s.y(c.end[1]));
    });
  };

  const hide = () => {
    tip.hidden = true;
    document.querySelectorAll(".cross").forEach((c) => c.remove());
  };
  // Shows the values of every visible curve at a number of evaluations.
  const show = (figure, evals, at) => {
    hide();
    const panel = dataOf(figure), s = scales(panel), [, top, , height] = panel.area;
    const x = s.x(evals);
    element(figure.querySelector("svg"), "line", { class: "cross", x1: x, x2: x, y1: top, y2: top + height });
    const lines = [`${figure.dataset.problem}: ${Math.round(evals).toLocaleString("en")} evaluations`];
    panel.curves.forEach((c) => {
      if (state.off.has(c.name)) return;
      let i = 0;
      while (i + 1 < c.x.length && c.x[i + 1] <= evals) i++;
      if (c.x[i] <= evals) lines.push(`${c.name}: ${c.mid[i].toExponential(2)} (${c.low[i].toExponential(1)} to ${c.high[i].toExponential(1)})`);
    });
    tip.replaceChildren(...lines.flatMap((text) => [document.createTextNode(text), document.createElement("br")]));
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(at.x + 14, innerWidth - box.width - 4)) + "px";
    tip.style.top = Math.max(4, at.y + 16 + box.height > innerHeight ? at.y - box.height - 12 : at.y + 16) + "px";
  };
  const evalsAt = (panel, share) => {
    const [low, high] = scales(panel).xEnds;
    return state.logX ? low * (high / low) ** share : low + (high - low) * share;
  };

  for (const figure of figures) {
    const svg = figure.querySelector("svg"), panel = dataOf(figure);
    let share = 0.5;
    svg.setAttribute("tabindex", "0");
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const x = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
      share = Math.min(1, Math.max(0, (x - panel.area[0]) / panel.area[2]));
      show(figure, evalsAt(panel, share), { x: event.clientX, y: event.clientY });
    });
    svg.addEventListener("pointerleave", hide);
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -0.02, ArrowRight: 0.02 }[event.key];
      if (event.key === "Escape") hide();
      if (!step) return;
      event.preventDefault();
      share = Math.min(1, Math.max(0, share + step));
      const box = svg.getBoundingClientRect();
      show(figure, evalsAt(panel, share), { x: box.left + box.width * 0.3, y: box.bottom - 10 });
    });
  }

  const problemBoxes = [...form.querySelectorAll("[name=problem]")];
  const chooseProblems = () => {
    const chosen = new Set(problemBoxes.filter((b) => b.checked).map((b) => b.value));
    figures.forEach((f) => { f.hidden = !chosen.has(f.dataset.problem); });
  };
  const chooseMethods = (event) => {
    const { value, checked } = event.target;
    if (checked) state.off.delete(value); else state.off.add(value);
    document.querySelectorAll("[name=method]").forEach((b) => { b.checked = !state.off.has(b.value); });
    document.querySelectorAll(".curve").forEach((g) => g.classList.toggle("off", state.off.has(g.dataset.name)));
  };
  form.addEventListener("change", (event) => {
    if (event.target.name === "problem") return chooseProblems();
    state.logX = form.elements["log-x"].checked;
    state.logY = form.elements["log-y"].checked;
    figures.forEach(draw);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.querySelectorAll("[data-all]").forEach((button) => button.addEventListener("click", () => {
    problemBoxes.forEach((b) => { b.checked = button.dataset.all === "1"; });
    chooseProblems();
  }));
  document.querySelectorAll("[name=method]").forEach((box) => {
    box.hidden = false;
    box.addEventListener("change", chooseMethods);
  });
  form.reset();
  form.hidden = false;
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
})();
