// What the page says about how the review stands.

export function adviceWords(state) {
  const { gain, stop, halving } = state.advice;
  const done = `${state.answered.toLocaleString("en")} answered.`;
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
