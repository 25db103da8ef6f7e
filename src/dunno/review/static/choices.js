// The list of possible mothers, near and across gaps, and of having none.

import { colour, howDeep, percent } from "./scene.js";

export const isNear = (choice) => choice.decision.kind === "mother" && !choice.far;

export const reportedChoice = (view) => {
  const found = view.choices.findIndex((choice) => choice.reported);
  return found < 0 ? view.choices.length - 1 : found;
};

export const choiceList = (view, marked, { onPick, onMark }) =>
  view.choices.map((choice, k) => option(view, choice, k, marked, onPick, onMark));

function option(view, choice, k, marked, onPick, onMark) {
  const item = document.createElement("li"), button = document.createElement("button");
  const near = isNear(choice) ? view.candidates.find((each) => each.label === choice.decision.mother) : null;
  button.append(piece("span", choice.key, "number"), piece("span", choice.words), piece("span", percent(choice.probability), "percent"));
  const answered = isAnswer(view.answer, choice.decision);
  const details = near?.said ? `decided: ${near.said}` : near?.divides > 0.05 ? `divides: ${percent(near.divides)}` : choice.far ? "across a gap" : "";
  const note = [answered ? "your answer" : choice.reported ? "reported" : "", details, near ? howDeep(view, near.label) : ""].filter(Boolean).join(", ");
  if (note) button.children[1].append(piece("small", note, answered || choice.reported ? "reported" : ""));
  button.style.setProperty("--share", choice.probability);
  if (near) button.style.setProperty("--colour", colour(choice.key));
  button.classList.toggle("none", !near);
  button.classList.toggle("marked", k === marked);
  button.addEventListener("click", () => onPick(k));
  button.addEventListener("focus", () => onMark(k));
  item.append(button);
  return item;
}

function isAnswer(answer, decision) {
  if (!answer || answer.kind !== decision.kind) return false;
  return (answer.mother ?? null) === (decision.mother ?? null) && (answer.mother_frame ?? null) === (decision.mother_frame ?? null);
}

export function piece(name, text, kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}
