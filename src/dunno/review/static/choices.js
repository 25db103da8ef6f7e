// The list of possible mothers, and of having none.

import { colour, percent } from "./scene.js";

export const choices = (view, marked, { onMother, onNone, onMark }) => [
  ...view.candidates.map((candidate, k) => option(view, k + 1, candidate, marked, onMother, onMark)),
  choice(view, 0, "no mother", view.no_mother, { details: "", reported: view.reported === null, pick: onNone }),
];

function option(view, number, candidate, marked, onMother, onMark) {
  const divides = candidate.divides > 0.05 ? `divides: ${percent(candidate.divides)}` : "";
  return choice(view, number, `cell ${candidate.label}`, candidate.probability, {
    details: candidate.said ? `decided: ${candidate.said}` : divides,
    reported: view.reported === candidate.label,
    marked: candidate.label === marked,
    fill: colour(number),
    label: candidate.label,
    pick: () => onMother(candidate.label),
    onMark,
  });
}

function choice(view, number, words, probability, { details, reported, marked, fill, label, pick, onMark }) {
  const item = document.createElement("li"), button = document.createElement("button");
  button.append(piece("span", number, "number"), piece("span", words), piece("span", percent(probability), "percent"));
  const answered = view.answer && (view.answer.mother ?? null) === (label ?? null) && view.answer.kind !== "skip";
  const note = [answered ? "your answer" : reported ? "reported" : "", details].filter(Boolean).join(", ");
  if (note) button.children[1].append(piece("small", note, answered || reported ? "reported" : ""));
  button.style.setProperty("--share", probability);
  if (fill) button.style.setProperty("--colour", fill);
  button.classList.toggle("none", number === 0);
  button.classList.toggle("marked", Boolean(marked));
  button.addEventListener("click", pick);
  if (label !== undefined) button.addEventListener("focus", () => onMark(label));
  item.append(button);
  return item;
}

export function piece(name, text, kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}
