// What the page says about how the review stands.

export function adviceWords(state) {
  const { gain, stop, halving } = state.advice;
  const done = `${state.answered.toLocaleString("en")} answered.`;
  if (stop) return `${done} The next answer would mend ${gain.toFixed(2)} links: a good place to stop.`;
  return `${done} At most ${halving.toLocaleString("en")} more halve what is left.`;
}

export function auditWords(state) {
  const { n, wrong, skipped, rate, low, high, enough } = state.audit;
  const knock = state.joint ? "" : " This method has no joint posterior: an answer settles its own cell, and only rules out what cannot be elsewhere.";
  if (!n) return `Audit: no random cell answered yet.${knock}`;
  const share = (value) => `${(100 * value).toFixed(1)} %`;
  const missing = skipped ? `, ${skipped} skipped` : "";
  if (!enough) return `Audit: ${wrong} of ${n} random cells were tracked wrong${missing}; too few for a rate (30 needed).${knock}`;
  return `Audit: ${share(rate)} of all cells were tracked wrong (95 %: ${share(low)} – ${share(high)}; ${n} audited${missing}).${knock}`;
}
