// What the page says about how the review stands.

import { percent } from "./scene.js";

const ANSWERS = ["mother", "no mother", "skip", "no cell", "one cell", "right track"]; // what answers where a cell comes from

// What is missing from the mothers' probabilities: they are those of a cell, if the mask is one.
export function segmentWords(view) {
  const shown = view.choices.reduce((sum, choice) => sum + choice.probability, 0);
  const others = shown < 0.995 ? `Others, not shown: ${percent(1 - shown)}. ` : "";
  if (view.p_segment === null || (view.p_segment > 0.995 && view.p_cell > 0.995)) return others;
  const own = view.repaired.after.find((each) => each.labels.includes(view.label));
  const made = own ? ` (mask ${own.mask} was ${own.what === "split" ? "cut" : own.what})` : "";
  return `${others}All this if the outline is right: ${percent(view.p_segment)}${made}. It is a cell, no debris: ${percent(view.p_cell)}.`;
}

export function adviceWords(state) {
  const { gain, stop, halving } = state.advice;
  const said = Object.entries(state.statements).filter(([kind]) => !ANSWERS.includes(kind)).reduce((n, [, each]) => n + each, 0);
  const done = `${state.answered.toLocaleString("en")} answered${said ? `, ${said.toLocaleString("en")} said besides` : ""}.`;
  const { goal, to_goal: needed } = state.advice;
  if (state.expected > goal && needed !== null && !stop)
    return `${done} Fewer than ${goal.toLocaleString("en")} wrong links expected: about ${needed.toLocaleString("en")} more answers.`;
  if (stop) return `${done} The next answer would mend ${gain.toFixed(2)} links: a good place to stop.`;
  const reached = state.expected <= goal ? "The goal is reached; at most" : "At most";
  return `${done} ${reached} ${halving.toLocaleString("en")} more halve what is left.`;
}

export function auditWords(state) {
  const { n, wrong, skipped, rate, low, high, enough } = state.audit;
  const knock = state.joint ? "" : " This method has no joint posterior: an answer settles its own cell, and only rules out what cannot be elsewhere.";
  if (!n) return `Audit: no random cell answered yet.${knock}`;
  const share = (value) => `${(100 * value).toFixed(1)} %`;
  const missing = skipped ? `, ${skipped} skipped` : "";
  if (!enough) return `Audit: ${wrong} of ${n} random cells were tracked wrong${missing}; too few for a rate (30 needed).${knock}`;
  const promised = state.first_expected / Math.max(state.links, 1);
  return `Audit: ${share(rate)} of all cells were tracked wrong (95 %: ${share(low)} – ${share(high)}; ${n} audited${missing}); promised: ${share(promised)} of the links.${knock}`;
}
