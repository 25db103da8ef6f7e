// Others at the same review: their changes within a second, and the name under which one decides.

import { get } from "./api.js";

const EVERY = 700;
const NAME = "dunno-name";

export const rememberedName = () => { try { return localStorage.getItem(NAME); } catch { return null; } };
export const rememberName = (name) => { try { localStorage.setItem(NAME, name); } catch { /* a browser that keeps nothing */ } };

// Ask again and again; where the server is gone there is no use, until the page is loaded anew.
export function follow({ version, changed }) {
  const look = async () => {
    const known = version();
    if (known !== null && !document.hidden) {
      const found = await get(`changes/${known}`).catch(() => null);
      if (!found) return;
      if (found.said.length && version() === known) await changed(found);
    }
    setTimeout(look, EVERY);
  };
  setTimeout(look, EVERY);
}

export function changesOf(found, state) {
  if (!found.said.length || found.version === state?.version) return { state: null, words: "" };
  const { who, action, words } = found.said.at(-1);
  const done = { answer: "says", undo: "took back", redo: "said again" }[action];
  const more = found.said.length > 1 ? ` (and ${found.said.length - 1} more)` : "";
  return { state: found.state, words: `${who} ${done}: ${words}${more}` };
}
