// Frames as SVG: the picture, outlines, numbers and links, in the pixels of the crop.

import { cropAddress } from "./api.js";

const NAMESPACE = "http://www.w3.org/2000/svg";
export const colour = (number) => `var(--c${number})`;
export const percent = (p) => (p > 0.9949 && p < 1 ? "> 99 %" : p > 0 && p < 0.005 ? "< 1 %" : `${Math.round(100 * p)} %`);

export function element(name, attributes = {}, parent = null) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent?.append(made);
  return made;
}

const image = (svg, t, box) =>
  element("image", { href: cropAddress(t, box), x: 0, y: 0, width: box.width, height: box.height, class: "grey" }, svg);

function tag(svg, cell, text, fill) {
  const group = element("g", { class: "label", "data-x": cell.x, "data-y": cell.y }, svg);
  element("circle", { r: 10, class: "disc" }, group).style.fill = fill;
  element("text", { class: "tag", "font-size": 13 }, group).textContent = text;
}

// A line that is seen on bright and dark cells alike.
function drawLine(svg, from, to, opacity) {
  const ends = { x1: from.x, y1: from.y, x2: to.x, y2: to.y, opacity };
  element("line", { ...ends, class: "halo" }, svg);
  return element("line", ends, svg);
}

const numbered = (view) => new Map(view.candidates.map((candidate, k) => [candidate.label, k + 1]));

// Which cell is at a place of the crop: a ray to the left crosses its outline an odd number of times.
export function labelAt(cells, x, y) {
  for (const cell of cells) {
    let crossed = 0;
    for (const [, column, from, to] of cell.outline.matchAll(/M(\d+) (\d+)V(\d+)/g))
      if (Number(column) <= x && Number(from) <= y && y < Number(to)) crossed += 1;
    if (crossed % 2) return cell.label;
  }
  return null;
}

// In 3D all is seen from above: who is farther from the asked cell's depth is fainter, and its title says how far.
function ownDepth(view) {
  return view.after.find((cell) => cell.label === view.label)?.depth ?? null;
}
function below(view, cell) {
  const depth = ownDepth(view);
  return depth === null || cell.depth === null ? null : cell.depth - depth;
}
export const howDeep = (view, label) => inWords(below(view, view.before.find((cell) => cell.label === label) ?? { depth: null })).slice(2);
const inWords = (away) => (away === null ? "" : Math.abs(away) < 0.05 ? ", as deep" : `, ${Math.abs(away).toFixed(1)} ${away > 0 ? "deeper" : "higher"}`);
function fade(path, view, cell) {
  const away = below(view, cell);
  if (away !== null) path.style.opacity = Math.max(0.25, 1 - Math.abs(away) / (view.box.width / 3));
}

// What was said about masks: crossed out where they are no cells, a 2 where they hold two; as they were given, where repaired.
function drawSaid(svg, cells, said, missing, repaired) {
  for (const mask of repaired) {
    const path = element("path", { d: mask.outline, class: "given" }, svg);
    element("title", {}, path).textContent = `mask ${mask.mask}: ${mask.what}, ${percent(mask.probability)}`;
  }
  for (const cell of cells) {
    if (said.false.includes(cell.label)) tag(svg, cell, "✕", "#ff7f4d");
    if (said.two.includes(cell.label)) tag(svg, cell, "2", "#f0e442");
  }
  for (const place of missing) tag(svg, place, "+", "#ff7f4d");
}

export function drawBefore(svg, view, marked, onPick) {
  svg.replaceChildren();
  image(svg, view.pair, view.box);
  const numbers = numbered(view);
  for (const cell of view.before) {
    const number = numbers.get(cell.label);
    const path = element("path", { d: cell.outline, class: number ? "cell candidate" : "cell" }, svg);
    path.classList.toggle("marked", cell.label === marked);
    if (number) path.style.stroke = colour(number);
    path.dataset.label = cell.label;
    const deep = inWords(below(view, cell));
    element("title", {}, path).textContent = number ? `mother ${number}: cell ${cell.label}${deep}` : `cell ${cell.label}${deep}: not thought of`;
    if (!number) fade(path, view, cell);
    path.addEventListener("click", (event) => { event.stopPropagation(); onPick(cell.label, cell); });
  }
  drawSaid(svg, view.before, view.said.before, view.said.missing.filter((place) => place.frame === view.mother_frame), view.repaired.before);
  for (const cell of view.before) {
    const number = numbers.get(cell.label);
    if (number) tag(svg, cell, number, colour(number));
  }
}

export function drawAfter(svg, view) {
  svg.replaceChildren();
  image(svg, view.pair + 1, view.box);
  const mothers = new Map(view.before.map((cell) => [cell.label, cell]));
  const daughters = new Map(view.after.map((cell) => [cell.label, cell]));
  for (const cell of view.after) {
    const path = element("path", { d: cell.outline, class: cell.label === view.label ? "daughter" : "cell" }, svg);
    path.dataset.label = cell.label;
    fade(path, view, cell);
  }
  for (const link of view.links) {
    const from = mothers.get(link.mother), to = daughters.get(link.daughter);
    if (!from || !to || link.daughter === view.label) continue;
    const line = drawLine(svg, from, to, 0.5 + 0.5 * link.probability);
    line.classList.toggle("faint", link.probability < 0.9);
    element("title", {}, line).textContent = `cell ${link.mother} → ${link.daughter}: ${percent(link.probability)}${link.reviewed ? ", reviewed" : ""}`;
    element("g", { class: "label", "data-x": to.x, "data-y": to.y }, svg).append(element("circle", { r: 2.5, class: "dot" }));
  }
  drawSaid(svg, view.after, view.said.after, view.said.missing.filter((place) => place.frame === view.frame), view.repaired.after);
  const own = daughters.get(view.label);
  if (!own) return;
  view.candidates.forEach((candidate, k) => {
    const from = mothers.get(candidate.label);
    if (!from) return;
    const line = drawLine(svg, from, own, 0.5 + 0.5 * candidate.probability);
    line.classList.add(candidate.selected ? "own" : "option");
    line.style.stroke = colour(k + 1);
    tag(svg, from, k + 1, colour(k + 1));
  });
  tag(svg, own, view.said.after.two.includes(view.label) ? "2?" : "?", "#fff");
}

// Any frame around the question; the pair's own two show whom it is about.
export function drawFrame(svg, view, t, around) {
  svg.replaceChildren();
  image(svg, t, view.box);
  const earlier = t === view.pair, later = t === view.pair + 1;
  const numbers = numbered(view);
  for (const cell of earlier ? view.before : later ? view.after : around) {
    const number = earlier ? numbers.get(cell.label) : null;
    const own = later && cell.label === view.label;
    if (!number && !own && (earlier || later)) continue;
    const path = element("path", { d: cell.outline, class: number ? "candidate" : own ? "daughter" : "cell" }, svg);
    if (number) path.style.stroke = colour(number);
  }
}

export function drawPortrait(item) {
  const svg = element("svg", { viewBox: `0 0 ${item.box.width} ${item.box.height}`, class: "scene", role: "img" });
  svg.setAttribute("aria-label", `cell ${item.label} in frame ${item.frame}`);
  image(svg, item.t, item.box);
  element("path", { d: item.outline }, svg);
  return svg;
}
