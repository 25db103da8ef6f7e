// The family of the cell in question: time from left to right, doubtful links marked, every cell a link to it.

import { element, percent } from "./scene.js";

const DOUBT = 0.9;

export function drawFamily(svg, family, onPick) {
  svg.replaceChildren();
  const { cells, links } = family;
  if (!cells.length) return;
  const first = Math.min(...cells.map((cell) => cell.t)), last = Math.max(...cells.map((cell) => cell.t));
  const lanes = Math.max(...cells.map((cell) => cell.lane)) + 1;
  const { width, height } = svg.getBoundingClientRect();
  const x = (cell) => 10 + ((cell.t - first) / Math.max(last - first, 1)) * (width - 20);
  const y = (cell) => ((cell.lane + 0.5) / lanes) * height;
  svg.setAttribute("viewBox", `0 0 ${Math.max(width, 1)} ${Math.max(height, 1)}`);
  for (const link of links) {
    const from = cells[link.from], to = cells[link.to];
    const line = element("path", { d: `M${x(from)} ${y(from)}L${x(to)} ${y(to)}`, class: link.probability < DOUBT ? "doubt" : "sure" }, svg);
    element("title", {}, line).textContent = `${percent(link.probability)}`;
    line.addEventListener("click", () => to.row !== null && onPick(to.row));
  }
  const radius = Math.min(4, Math.max(2, height / lanes / 4));
  cells.forEach((cell, k) => {
    const dot = element("circle", { cx: x(cell), cy: y(cell), r: k === family.here ? radius + 2 : radius, class: k === family.here ? "here" : "" }, svg);
    element("title", {}, dot).textContent = `cell ${cell.label} of frame ${cell.frame}`;
    if (cell.row !== null) dot.addEventListener("click", () => onPick(cell.row));
  });
}
