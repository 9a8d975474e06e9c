// Draws a chart's specification in the browser, once the reader comes near it; until then, and without scripts, it is a picture.
"use strict";

let scripts;
const dark = matchMedia("(prefers-color-scheme: dark)");

function load(address) {
  scripts ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = resolve;
    script.onerror = () => reject(new Error("the scripts that draw charts did not come"));
    document.head.append(script);
  });
  return scripts;
}

async function specification(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  const text = await response.text();
  if (!dark.matches) return JSON.parse(text);
  const colours = JSON.parse(text).usermeta.dark;
  return JSON.parse(Object.entries(colours).reduce((all, [light, darker]) => all.replaceAll(`"${light}"`, `"${darker}"`), text));
}

async function draw(chart) {
  try {
    const [spec] = await Promise.all([specification(chart.dataset.spec), load(chart.dataset.scripts)]);
    const place = document.createElement("div");
    const options = { ast: true, actions: false, defaultStyle: false, tooltip: { disableDefaultStyle: true }, renderer: "svg" };
    const hero = chart.dataset.on === "pointer";
    const fitting = { ...spec, title: undefined, width: chart.clientWidth, autosize: { type: hero ? "fit" : "fit-x", contains: "padding" } };
    fitting.config.legend.columns = chart.clientWidth < 500 ? 1 : 3;
    fitting.config.legend.disable = hero;
    if (hero) fitting.height = chart.clientHeight;
    const { view } = await vegaEmbed(place, fitting, options);
    for (const picture of chart.children) picture.classList.add("printed");
    place.className = dark.matches ? "drawn" : "drawn light";
    chart.append(place);
    view.addEventListener("click", (_, item) => { 
      const { rank } = item?.datum ?? {};
      if (rank && chart.dataset.open) location.href = `${chart.dataset.open}&offset=${rank - 1}`;
    });
    chart.view = view;
    new ResizeObserver(() => view.width(chart.clientWidth).runAsync()).observe(chart);
    chart.dataset.drawn = "";
  } catch (error) {
    const words = document.createElement("p");
    words.className = "quiet";
    words.textContent = `This chart could not be drawn here: ${error.message}. Reload the page when the server answers again.`;
    chart.append(words);
  }
}

const near = new IntersectionObserver((entries) => {
  for (const entry of entries)
    if (entry.isIntersecting) {
      near.unobserve(entry.target);
      draw(entry.target);
    }
}, { rootMargin: "200px" });
for (const chart of document.querySelectorAll(".chart[data-spec]")) {
  if (chart.dataset.on === "pointer") chart.addEventListener("pointerenter", () => draw(chart), { once: true });
  else near.observe(chart);
}
