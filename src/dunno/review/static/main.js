// The page: asks, shows, takes answers. The server has the state; this only holds what is on the screen.

import { cropAddress, get, post } from "./api.js";
import { Camera } from "./camera.js";
import { choices, piece } from "./choices.js";
import { drawAfter, drawBefore, drawBlink, drawPortrait, percent } from "./scene.js";
import { Timeline } from "./timeline.js";
import { adviceWords, auditWords } from "./words.js";

const $ = (id) => document.getElementById(id);
const BLINK = 650;

let view = null; // what is on the screen
let state = null; // how the review stands
let marked = null; // the label of the mother that d, n and x are about
let busy = false;
let visited = []; // rows that were shown, and where we are in them
let place = -1;
let fetched = new Map(); // views of the rows that are likely to come
let blinking = !matchMedia("(prefers-reduced-motion: reduce)").matches;
let earlierShown = false;
let region = null; // the part of the frame that questions are limited to, in pixels

const camera = new Camera([$("before"), $("after")], () => $("blink").setAttribute("viewBox", $("after").getAttribute("viewBox")));
const timeline = new Timeline($("timeline"), $("timeline-told"), (pair) => showPair(pair));

// ---- showing

function show(next, { remember = true } = {}) {
  const before = view;
  view = next;
  if (!view) return showEnd();
  $("main").hidden = false;
  $("end").hidden = true;
  if (remember && visited[place] !== view.row) {
    visited = [...visited.slice(0, place + 1), view.row];
    place = visited.length - 1;
  }
  marked = view.reported ?? view.candidates[0]?.label ?? null;
  drawQuestion();
  drawScenes();
  if (!before || before.row !== view.row) {
    camera.fit(view.box);
    showHistory(view.row);
  } else camera.apply();
  if (state) timeline.show(state.over_time, state.frames, view.pair);
}

function drawScenes() {
  drawBefore($("before"), view, marked, (label) => { if (!camera.moved) answerMother(label); });
  drawAfter($("after"), view);
  drawBlink($("blink"), view, earlierShown);
  $("frame-before").textContent = view.mother_frame;
  $("frame-after").textContent = view.frame;
  setContrast();
  camera.apply();
}

function drawQuestion() {
  const kicker = $("kicker");
  kicker.classList.toggle("audit", view.audit);
  kicker.textContent = view.audit
    ? "audit: drawn at random, not for being doubtful"
    : view.asked ? `an answer is expected to mend ${view.gain.toFixed(2)} decisions` : "you chose this cell yourself";
  $("question").textContent = `Where does cell ${view.label} of frame ${view.frame} come from?`;
  const actions = { onMother: answerMother, onNone: answerNone, onMark: (label) => mark(label, false) };
  $("candidates").replaceChildren(...choices(view, marked, actions));
  $("chosen-mother").textContent = marked === null ? "" : `cell ${marked}`;
  $("about-mother").disabled = marked === null;
}

function mark(label, redraw = true) {
  marked = label;
  $("chosen-mother").textContent = `cell ${label}`;
  for (const path of $("before").querySelectorAll("path.cell")) path.classList.toggle("marked", Number(path.dataset.label) === label);
  if (redraw) drawQuestion();
}

function showState(next) {
  state = next;
  const mended = Math.max(0, 1 - state.expected / Math.max(state.first_expected, 1e-9));
  $("movie").textContent = `${state.movie} · ${state.method}, ${state.cost}`;
  $("expected").textContent = state.expected.toFixed(1);
  $("links").textContent = `of ${state.links.toLocaleString("en")}`;
  $("uncalibrated").hidden = state.calibrated;
  $("uncalibrated").textContent = `probabilities ${state.verdict}`;
  $("progress").value = mended;
  $("undo").disabled = !state.can_undo;
  $("redo").disabled = !state.can_redo;
  $("advice").textContent = adviceWords(state);
  $("audit").textContent = auditWords(state);
  timeline.show(state.over_time, state.frames, view ? view.pair : null);
}

function showEnd() {
  $("main").hidden = true;
  $("end").hidden = false;
}

async function showHistory(row) {
  const strip = await get(`history/${row}`).catch(() => []);
  if (!view || view.row !== row) return;
  $("history").replaceChildren(...strip.map((item) => {
    const made = document.createElement("li");
    const sure = item.probability === undefined ? "" : `${percent(item.probability)} →`;
    made.append(drawPortrait(item), piece("span", `frame ${item.frame}`), piece("span", sure));
    return made;
  }));
  setContrast();
}

const tell = (words, refused = false) => {
  $("told").textContent = words;
  $("told").classList.toggle("refused", refused);
};

// ---- asking and answering

const waiting = [];

// An answer given while the page is busy would hit a cell that nobody has seen, so it is dropped; what is patient waits.
async function alone(work, patient = false) {
  if (busy) {
    if (patient) waiting.push(work);
    return;
  }
  busy = true;
  document.body.dataset.busy = "yes";
  try {
    await work();
  } catch (error) {
    tell(error.message, true);
  } finally {
    busy = false;
    delete document.body.dataset.busy;
  }
  if (waiting.length) await alone(waiting.shift(), true);
}

function take(reply) {
  showState(reply.state);
  show(reply.view);
  for (const row of reply.ahead ?? []) fetchAhead(row);
}

async function fetchAhead(row) {
  if (fetched.has(row)) return;
  const next = await get(`view/${row}`).catch(() => null);
  if (!next) return;
  fetched.set(row, next);
  for (const t of [next.pair, next.pair + 1]) new Image().src = cropAddress(t, next.box);
}

// The next cell was chosen among those on which this answer has no say, and fetched ahead: it is shown at once.
function answer(decision, words) {
  return alone(async () => {
    const asked = view, ahead = fetched.get([...fetched.keys()].find((row) => row !== asked.row));
    const sent = post("answer", decision);
    if (asked.asked && ahead) show({ ...ahead, asked: true }, { remember: false });
    fetched = new Map();
    try {
      const reply = await sent;
      const others = reply.touched > 1 ? `, and ${reply.touched - 1} more became clearer` : "";
      tell(`${words}${others}. ${reply.removed >= 0.005 ? `${reply.removed.toFixed(2)} expected wrong links fewer.` : ""}`);
      take(reply);
    } catch (error) {
      show(asked);
      tell(error.message, true);
    }
  });
}

function answerMother(label) {
  const { frame, label: daughter } = view;
  return answer({ kind: "mother", frame, label: daughter, mother: label }, `Cell ${daughter} comes from cell ${label}`);
}

function answerNone() {
  return answer({ kind: "no mother", frame: view.frame, label: view.label }, `Cell ${view.label} has no mother`);
}

const skip = () => answer({ kind: "skip", frame: view.frame, label: view.label }, `Cell ${view.label} was skipped`);
const accept = () => (view.reported === null ? answerNone() : answerMother(view.reported));

function decideMother(kind) {
  if (marked === null) return undefined;
  const row = view.row, words = `Cell ${marked} of frame ${view.mother_frame} ${kind}`;
  return alone(async () => {
    const reply = await post("answer", { kind, frame: view.mother_frame, label: marked });
    tell(`${words}. ${reply.touched} cells became clearer or changed.`);
    showState(reply.state);
    const kept = marked;
    show({ ...(await get(`view/${row}`)), asked: view.asked, audit: view.audit });
    mark(kept);
    fetched = new Map();
  });
}

const step = (path) => alone(async () => {
  const reply = await post(path);
  fetched = new Map();
  showState(reply.state);
  show(reply.view ?? (view && (await get(`view/${view.row}`))));
  tell(path === "undo" ? "Taken back." : "Done again.");
}, true);

const go = (by) => alone(async () => {
  const next = visited[place + by];
  if (next === undefined) return tell(by < 0 ? "This is the first one." : "Answer first, or press s if you cannot say.");
  place += by;
  show(await get(`view/${next}`), { remember: false });
});

const showPair = (pair) => alone(async () => {
  const row = await get(`pair/${pair}`);
  if (row !== null) show(await get(`view/${row}`));
});

function shownRegion() {
  const { x, y, w, h } = camera.now, { top, left } = view.box;
  return [top + y, left + x, top + y + h, left + x + w];
}

const choose = () => alone(async () => {
  const [first, last] = [$("first-frame"), $("last-frame")].map((input) => input.valueAsNumber);
  const frames = Number.isNaN(first) && Number.isNaN(last) ? null
    : [Number.isNaN(first) ? 0 : first, Number.isNaN(last) ? Number.MAX_SAFE_INTEGER : last];
  if (!$("region").checked) region = null;
  else if (!region && view) region = shownRegion();
  const filter = { frames, region, divisions: $("divisions").checked, starts: $("starts").checked };
  fetched = new Map();
  take(await post("choose", { order: $("order").value, filter }));
});

// ---- looking

function setContrast() {
  const filter = `contrast(${$("contrast").value}) brightness(${$("brightness").value})`;
  for (const image of document.querySelectorAll("image.grey")) image.style.filter = filter;
}

function contrast(by) {
  $("contrast").value = Number($("contrast").value) + by;
  setContrast();
}

function blink() {
  if (!blinking || !view) return;
  earlierShown = !earlierShown;
  drawBlink($("blink"), view, earlierShown);
  $("blink-frame").textContent = `frame ${earlierShown ? view.mother_frame : view.frame}`;
  setContrast();
}

function toggleBlink() {
  blinking = !blinking;
  $("blink-toggle").setAttribute("aria-pressed", blinking);
  $("blink-toggle").lastChild.textContent = blinking ? " pause" : " blink";
}

function markNext(by) {
  const labels = view.candidates.map((candidate) => candidate.label);
  if (labels.length) mark(labels[(labels.indexOf(marked) + by + labels.length) % labels.length]);
}

// ---- keys and buttons

const KEYS = {
  Enter: accept, 0: answerNone, s: skip, u: () => step("undo"), r: () => step("redo"),
  d: () => decideMother("divides"), n: () => decideMother("does not divide"), x: () => decideMother("disappears"),
  ArrowLeft: () => go(-1), ArrowRight: () => go(1), ArrowUp: () => markNext(-1), ArrowDown: () => markNext(1),
  "[": () => showPair(Math.max(view.pair - 1, 0)), "]": () => showPair(Math.min(view.pair + 1, state.frames.length - 1)),
  "+": () => camera.zoom(0.8), "=": () => camera.zoom(0.8), "-": () => camera.zoom(1.25), f: () => camera.fit(),
  c: () => contrast(0.3), C: () => contrast(-0.3), b: toggleBlink, "?": () => $("help").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  if (event.target.matches("input, select") || (event.key === "Enter" && event.target.matches("button"))) return;
  const number = Number(event.key);
  const candidate = number >= 1 && number <= 9 && view ? view.candidates[number - 1] : null;
  const action = candidate ? () => answerMother(candidate.label) : KEYS[event.key];
  if (!action || (!view && !["u", "r", "?"].includes(event.key))) return;
  event.preventDefault();
  action();
});

const BUTTONS = {
  accept, skip, undo: () => step("undo"), redo: () => step("redo"),
  divides: () => decideMother("divides"), "does-not-divide": () => decideMother("does not divide"), disappears: () => decideMother("disappears"),
  back: () => go(-1), forward: () => go(1), earlier: KEYS["["], later: KEYS["]"],
  closer: KEYS["+"], farther: KEYS["-"], fit: KEYS.f, "blink-toggle": toggleBlink, "help-open": KEYS["?"],
};
for (const [id, action] of Object.entries(BUTTONS)) $(id).addEventListener("click", (event) => { event.currentTarget.blur(); action(); });
for (const id of ["contrast", "brightness"]) $(id).addEventListener("input", setContrast);
$("choose").addEventListener("change", choose);
$("choose").addEventListener("submit", (event) => event.preventDefault());

history.replaceState(null, "", "/"); // the token has done its work
setInterval(blink, BLINK);
if (!blinking) { blinking = true; toggleBlink(); }
alone(async () => take(await get("ask")));
