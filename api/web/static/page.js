// What the page does better with scripts: copying, finding names in long lists, closing panels, applying a choice at once, dropping a
// sheet, removing a run.
"use strict";

for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = button.parentElement.querySelector("input");
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}

for (const link of document.querySelectorAll("a.keeps"))
  link.addEventListener("click", (event) => {
    if (!navigator.clipboard || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    navigator.clipboard.writeText(link.href).then(() => {
      link.textContent = "Copied";
      setTimeout(() => { link.textContent = "Permalink"; }, 2000);
    }, () => location.assign(link.href));
  });

for (const field of document.querySelectorAll("input.find")) {
  field.hidden = false;
  field.addEventListener("input", () => {
    const wanted = field.value.toLowerCase();
    for (const item of field.parentElement.querySelectorAll("li, tr"))
      item.hidden = !item.textContent.toLowerCase().includes(wanted);
  });
}

document.addEventListener("focusin", (event) => {
  // The names that fields suggest become elements when they are wanted.
  if (event.target.hasAttribute("list"))
    for (const names of document.querySelectorAll("noscript.known")) names.outerHTML = names.textContent;
});

for (const tray of document.querySelectorAll("form.tray")) {
  // The button works when two are ticked; it says how many are.
  const button = tray.querySelector("button"), ticks = [...document.querySelectorAll("input[form=tray]")];
  const count = () => {
    const chosen = new Set(ticks.filter((tick) => tick.checked).map((tick) => tick.value));
    button.disabled = chosen.size !== 2;
    button.textContent = ["Compare: tick two", "Compare: tick one more", "Compare both"][chosen.size] ?? "Compare: tick no more than two";
  };
  for (const tick of ticks) tick.addEventListener("change", count);
  count();
}

for (const button of document.querySelectorAll("button.theme")) {
  // Light and dark in turn; the one that the system has is not remembered, so that it goes on following the system.
  const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)");
  const now = () => root.dataset.theme || (system.matches ? "dark" : "light");
  const name = () => { button.textContent = now() === "dark" ? "Light" : "Dark"; };
  button.hidden = false;
  button.setAttribute("aria-description", "the other theme");
  button.addEventListener("click", () => {
    const other = now() === "dark" ? "light" : "dark";
    root.dataset.theme = other === (system.matches ? "dark" : "light") ? "" : other;
    try { localStorage.setItem("costcalc.theme", root.dataset.theme); } catch { /* storage is switched off */ }
    name();
  });
  system.addEventListener("change", name);
  name();
}

document.addEventListener("keydown", (event) => {
  // A slash leads to the box, as on many pages.
  const box = document.querySelector("form.sentence input");
  if (event.key !== "/" || !box || event.ctrlKey || event.metaKey || event.target.matches("input, select, textarea")) return;
  event.preventDefault();
  box.select();
});

// The currency asked for last is asked for again; an address that names another has the last word.
try {
  const named = new URLSearchParams(location.search).get("currency");
  if (named !== null) localStorage.setItem("costcalc.currency", named);
  const value = localStorage.getItem("costcalc.currency");
  for (const form of value && named === null ? document.querySelectorAll("form.question, form.sentence") : [])
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "currency", value }));
  for (const link of value ? document.querySelectorAll(".top a.paid") : [])
    if (!new URL(link.href).searchParams.has("currency")) link.search += `${link.search ? "&" : "?"}currency=${encodeURIComponent(value)}`;
} catch { /* storage is switched off */ }

const panels = "details.take[open], details.choose[open]";
document.addEventListener("click", (event) => {
  for (const panel of document.querySelectorAll(panels))
    if (!panel.contains(event.target)) panel.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const panel of document.querySelectorAll(panels)) {
    panel.open = false;
    panel.querySelector("summary").focus();
  }
});

for (const form of document.querySelectorAll("form.limits, form.question"))
  form.addEventListener("submit", () => {
    for (const field of form.elements) if (field.name && field.value === "") field.disabled = true;
  });
for (const select of document.querySelectorAll("form.limits select, form.question select"))
  select.addEventListener("change", () => select.form.requestSubmit());

for (const sheet of document.querySelectorAll("form.plan textarea")) {
  sheet.addEventListener("dragover", (event) => event.preventDefault());
  sheet.addEventListener("drop", async (event) => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    sheet.value = await file.text();
  });
  const file = sheet.form.elements.file;
  file.addEventListener("change", async () => {
    if (!file.files.length) return;
    sheet.value = await file.files[0].text();
    file.value = "";
  });
}

for (const slider of document.querySelectorAll("form.plan input[type=range]")) {
  slider.addEventListener("input", () => (slider.nextElementSibling.value = Number(slider.value).toPrecision(4)));
  slider.addEventListener("change", () => slider.form.requestSubmit(slider.form.querySelector("button[value=false]")));
}

for (const button of document.querySelectorAll("button.remove")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const answer = await fetch(button.dataset.remove, { method: "DELETE" }).catch(() => null);
    if (answer?.ok) location.reload();
    else button.textContent = "The server did not remove it";
  });
}

const chart = document.querySelector("svg.decide");
const points = chart ? [...chart.querySelectorAll("a.front")] : [];
if (points.length) {
  // Points are walked with the arrow keys; a budget and a deadline are lines that are dragged, or moved with the keys.
  const told = document.querySelector(".follows"), output = told.querySelector("output"), ask = told.querySelector("a");
  const limits = {}, of = (point, name) => Number(point.dataset[name]);
  const names = { cost: "max_cost", hours: "max_hours" };
  const axes = Object.fromEntries(["cost", "hours"].map((name) => [name, chart.dataset[name].split(" ").map(Number)]));
  const place = (name, value) => Math.log(value / axes[name][0]) / Math.log(axes[name][1] / axes[name][0]);
  const value = (name, at) => axes[name][0] * (axes[name][1] / axes[name][0]) ** Math.min(Math.max(at, 0), 1);
  const short = (name, number) => {
    if (name === "cost") return new Intl.NumberFormat("en", { style: "currency", currency: chart.dataset.currency }).format(number);
    const [size, unit] = number < 1 ? [number * 60, "min"] : number < 48 ? [number, "h"] : [number / 24, "days"];
    return `${Number(size.toPrecision(2))} ${unit}`;
  };
  const roundedUp = (number) => {
    const step = 10 ** (Math.floor(Math.log10(number)) - 3);
    return Number((Math.ceil(number / step) * step).toPrecision(4));
  };
  const say = (sentence) => { output.textContent = sentence; };
  const hint = output.textContent;
  const fits = (point) => Object.entries(limits).every(([name, most]) => of(point, name) <= most * 1.000001);
  const decide = () => {
    const within = points.filter(fits), by = limits.hours ? "cost" : "hours";
    const best = within.toSorted((a, b) => of(a, by) - of(b, by))[0];
    for (const point of points) {
      point.classList.toggle("out", !fits(point));
      point.classList.toggle("now", point === best && Object.keys(limits).length > 0);
    }
    const asked = Object.entries(limits).map(([name, most]) => `${name === "cost" ? "for at most" : "within"} ${short(name, most)}`);
    if (!asked.length) say(hint);
    else if (best) say(`Rent ${best.getAttribute("aria-label")}. It is the ${by === "cost" ? "cheapest" : "fastest"} ${asked.join(" and ")}.`);
    else say(`Nothing here finishes ${asked.join(" and ")}.`);
    const address = new URL(location.href);
    for (const [name, parameter] of Object.entries(names))
      if (limits[name]) address.searchParams.set(parameter, roundedUp(limits[name]));
    ask.href = address.href;
    ask.hidden = !asked.length;
  };
  const make = (tag, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, text] of Object.entries(attributes)) made.setAttribute(name, text);
    return made;
  };
  for (const name of ["cost", "hours"]) {
    const upright = name === "hours";
    const title = upright ? "Deadline" : "Budget";
    const line = make("g", { class: upright ? "line upright" : "line", tabindex: 0, role: "slider", "aria-label": title,
      "aria-orientation": upright ? "horizontal" : "vertical", "aria-valuemin": axes[name][0], "aria-valuemax": axes[name][1] });
    const drawn = make("line", upright ? { y2: "100%" } : { x2: "100%" });
    const wide = make("rect", upright ? { width: 22, height: "100%" } : { width: "100%", height: 22 });
    const text = make("text", upright ? { y: 62 } : { x: "100%", class: "end", dx: -8 });
    line.append(drawn, wide, text);
    chart.querySelector(".behind").before(line);
    const put = (number) => {
      const at = number ? place(name, number) : 1, share = `${(upright ? at : 1 - at) * 100}%`;
      for (const end of upright ? ["x1", "x2"] : ["y1", "y2"]) drawn.setAttribute(end, share);
      wide.setAttribute(upright ? "x" : "y", share);
      wide.style.transform = upright ? "translateX(-11px)" : "translateY(-11px)";
      text.setAttribute(upright ? "x" : "y", share);
      text.textContent = number ? short(name, number) : title;
      if (upright) text.setAttribute("class", at > 0.7 ? "end" : "");
      text.setAttribute("dx", upright ? (at > 0.7 ? -6 : 6) : -8);
      if (!upright) text.setAttribute("dy", number ? -6 : 30);
      line.setAttribute("aria-valuenow", number ?? axes[name][1]);
      line.setAttribute("aria-valuetext", number ? short(name, number) : "none");
      if (number) limits[name] = number;
      else delete limits[name];
      decide();
    };
    const move = (event) => {
      const box = chart.getBoundingClientRect();
      const at = upright ? (event.clientX - box.left) / box.width : 1 - (event.clientY - box.top) / box.height;
      put(at >= 0.995 ? null : value(name, at));
    };
    line.addEventListener("pointerdown", (event) => {
      line.setPointerCapture(event.pointerId);
      line.addEventListener("pointermove", move);
      line.focus();
      event.preventDefault();
    });
    line.addEventListener("lostpointercapture", () => line.removeEventListener("pointermove", move));
    line.addEventListener("keydown", (event) => {
      const step = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 }[event.key];
      if (event.key === "Escape" || event.key === "End") put(null);
      if (!step) return;
      event.preventDefault();
      const stops = points.map((point) => of(point, name)).sort((a, b) => a - b), now = limits[name] ?? Infinity;
      put(step > 0 ? stops.find((stop) => stop > now * 1.001) : stops.findLast((stop) => stop < now * 0.999) ?? stops[0]);
    });
    put(null);
  }
  points.forEach((point, number) => {
    if (number) point.setAttribute("tabindex", -1);
    point.addEventListener("pointerenter", () => say(point.getAttribute("aria-label")));
    point.addEventListener("pointerleave", decide);
    point.addEventListener("focus", () => say(point.getAttribute("aria-label")));
    point.addEventListener("blur", decide);
    point.addEventListener("keydown", (event) => {
      const next = points[number + ({ ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key] ?? NaN)];
      if (!next) return;
      event.preventDefault();
      point.setAttribute("tabindex", -1);
      next.setAttribute("tabindex", 0);
      next.focus();
    });
  });
  told.hidden = false;
}

const dates = [...document.querySelectorAll('.chart ~ section td[data-is="Date"]')];
if (dates.length) {
  // A date of the price of a training: a line in its picture, and its row in words.
  const picture = document.querySelector(".chart"), now = document.createElement("div"), replay = document.createElement("p");
  const days = dates.map((date) => Date.parse(date.textContent.trim()) / 864e5), last = dates.length - 1;
  now.className = "now";
  replay.className = "replay";
  replay.innerHTML = `<label>Date <input type="range" min="0" max="${last}" value="${last}"></label><output aria-live="polite"></output>`;
  picture.append(now);
  picture.after(replay);
  const slider = replay.querySelector("input");
  const show = () => {
    const date = dates[slider.value], [, cost, hours, machine] = date.parentElement.cells;
    now.style.left = `calc(10.28% + ${(days[slider.value] - days[0]) / (days[last] + 1 - days[0])} * 87.22%)`;
    const link = date.querySelector("a").cloneNode(true);
    replay.querySelector("output").replaceChildren(link, `: ${cost.firstChild.data}, ${hours.firstChild.data}, ${machine.firstChild.data.trim()}`);
    slider.setAttribute("aria-valuetext", date.textContent);
  };
  slider.addEventListener("input", show);
  show();
}
