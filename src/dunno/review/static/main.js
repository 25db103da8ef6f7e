// The page: asks, shows, takes answers. The server has the state; this only holds what is on the screen.

import { cropAddress, get, post } from "./api.js";
import { Camera } from "./camera.js";
import { choiceList, isNear, piece, reportedChoice } from "./choices.js";
import { drawFamily } from "./family.js";
import { Overview } from "./overview.js";
import { Player } from "./player.js";
import { drawAfter, drawBefore, drawPortrait, labelAt, percent } from "./scene.js";
import { changesOf, follow, rememberedName, rememberName } from "./team.js";
import { Timeline } from "./timeline.js";
import { adviceWords, auditWords, segmentWords } from "./words.js";

const $ = (id) => document.getElementById(id);

let view = null; // what is on the screen
let state = null; // how the review stands
let marked = 0; // which choice Enter records
let mother = null; // the label of the mother that d, D, n and x are about
let picking = null; // what the next click is about
let busy = false;
let visited = []; // rows that were shown, and where we are in them
let place = -1;
let fetched = new Map(); // views of the rows that are likely to come
let region = null; // the part of the frame that questions are limited to, in pixels

const camera = new Camera([$("before"), $("after")], () => $("blink").setAttribute("viewBox", $("after").getAttribute("viewBox")));
const timeline = new Timeline($("timeline"), $("timeline-told"), (pair) => showPair(pair));
const overview = new Overview($("overview"), (row) => showRow(row));
const player = new Player({ svg: $("blink"), label: $("blink-frame"), toggle: $("blink-toggle"), slider: $("scrub"), speed: $("speed"), frameOf: (t) => (t > 0 ? state?.frames[t - 1] : state?.first_frame) }, () => setContrast());

// ---- showing

function show(next, { remember = true } = {}) {
  const before = view;
  view = next;
  if (!view) return showEnd();
  document.body.dataset.row = view.row;
  $("main").hidden = false;
  $("end").hidden = true;
  if (remember && visited[place] !== view.row) {
    visited = [...visited.slice(0, place + 1), view.row];
    place = visited.length - 1;
  }
  if (before?.row !== view.row) pick(null); // drawn anew, the same question keeps what is being pointed at
  marked = reportedChoice(view);
  mother = view.reported ?? view.candidates[0]?.label ?? null;
  drawQuestion();
  drawScenes();
  player.show(view);
  if (!before || before.row !== view.row) {
    camera.fit(view.box);
    showHistory(view.row);
  } else camera.apply();
  showFamily(view.row);
  if (state) timeline.show(state.over_time, state.frames, view.pair);
}

function drawScenes() {
  drawBefore($("before"), view, mother, (label, cell) => { if (!camera.moved) clickBefore(label, cell); });
  drawAfter($("after"), view);
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
  $("candidates").replaceChildren(...choiceList(view, marked, { onPick: answerChoice, onMark: (k) => mark(k, false) }));
  $("segment").textContent = segmentWords(view);
  $("as-given").hidden = !view.repaired.before.length && !view.repaired.after.length;
  $("accept-words").textContent = view.choices[marked].words;
  $("chosen-mother").textContent = mother === null ? "" : `cell ${mother}`;
  $("about-mother").disabled = mother === null;
}

function mark(k, redraw = true) {
  marked = k;
  if (isNear(view.choices[k])) mother = view.choices[k].decision.mother;
  $("accept-words").textContent = view.choices[k].words;
  $("chosen-mother").textContent = mother === null ? "" : `cell ${mother}`;
  for (const path of $("before").querySelectorAll("path.cell")) path.classList.toggle("marked", Number(path.dataset.label) === mother);
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
  if (!$("who").value) $("who").value = rememberedName() ?? state.who;
  $("goal").placeholder = state.advice.goal;
  showOverview();
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

async function showFamily(row) {
  const family = await get(`family/${row}`).catch(() => null);
  if (!family || !view || view.row !== row) return;
  drawFamily($("family"), family, showRow);
  $("family").dataset.row = row;
}

let drawnFor = -1; // the version that the heat map shows

async function showOverview() {
  if (drawnFor !== state.version) {
    drawnFor = state.version;
    const field = await get("overview").catch(() => null);
    if (field) overview.field = field;
  }
  if (overview.field) overview.show(overview.field, view?.box);
}

const tell = (words, refused = false) => {
  $("told").textContent = words;
  $("told").classList.toggle("refused", refused);
};

// ---- asking and answering

const waiting = [];

// An answer given while the page is busy would hit a cell that nobody has seen, so it is dropped; what is patient waits
// (what is said about a mask names it, so it means the same a moment later).
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
    const sent = post("answer", { ...decision, ...signed(), seen: asked.version });
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
      if (/since you looked/.test(error.message)) await lookAgain();
    }
  });
}

const signed = () => ({ who: $("who").value, seen: state?.version ?? null });

const lookAgain = async () => {
  const now = changesOf(await get(`changes/${state.version}`), state);
  if (now.state) showState(now.state);
  if (view) show({ ...(await get(`view/${view.row}`)), asked: view.asked, audit: view.audit }, { remember: false });
};

function answerMother(label) {
  const { frame, label: daughter } = view;
  return answer({ kind: "mother", frame, label: daughter, mother: label }, `Cell ${daughter} comes from cell ${label}`);
}

function answerNone() {
  return answer({ kind: "no mother", frame: view.frame, label: view.label }, `Cell ${view.label} has no mother`);
}

const skip = () => answer({ kind: "skip", frame: view.frame, label: view.label }, `Cell ${view.label} was skipped`);
const accept = () => answerChoice(marked);

function answerChoice(k) {
  const { decision, words } = view.choices[k];
  return answer(decision, decision.kind === "mother" ? `Cell ${view.label} comes from ${words}` : `Cell ${view.label} has no mother`);
}

// What is said about masks and mothers: the question stays unless it is answered by that.
function state_(decision, words) {
  const row = view.row;
  return alone(async () => {
    const reply = await post("answer", { ...decision, ...signed(), seen: view.version });
    tell(`${words}. ${reply.touched} cells became clearer or changed.`);
    fetched = new Map();
    showState(reply.state);
    if (reply.view !== undefined) return show(reply.view);
    const kept = [marked, mother];
    const now = await get(`view/${row}`).catch(() => null); // its mask may be another one now
    if (now === null) return reply.near === null ? take(await get("ask")) : show(await get(`view/${reply.near}`));
    show({ ...now, asked: view.asked, audit: view.audit });
    marked = Math.min(kept[0], view.choices.length - 1);
    mother = kept[1];
    drawQuestion();
    drawScenes();
  }, true);
}

function decideMother(kind) {
  if (mother === null) return undefined;
  return state_({ kind, frame: view.mother_frame, label: mother }, `Cell ${mother} of frame ${view.mother_frame} ${kind}`);
}

const noCell = () => state_({ kind: "no cell", frame: view.frame, label: view.label }, `Mask ${view.label} is no cell`);

function twoCells() {
  const choice = view.choices[marked];
  const second = isNear(choice) && !choice.reported ? { mother: choice.decision.mother } : {};
  return state_({ kind: "two cells", frame: view.frame, label: view.label, ...second }, `Mask ${view.label} holds two cells`);
}

// A repaired mask is taken back: the one that the cell was made from, or another that is clicked.
function asGiven() {
  const own = view.repaired.after.find((each) => each.labels.includes(view.label));
  if (own && picking !== "as given") return sayGiven(view.frame, own.mask);
  return pick(picking === "as given" ? null : "as given");
}

function sayGiven(frame, mask) {
  pick(null);
  return state_({ kind: "as given", frame, label: mask }, `Mask ${mask} of frame ${frame} is as it was given`);
}

const allAsGiven = () => {
  $("list").close();
  tell("Putting all masks back…");
  return state_({ kind: "all as given", frame: state.first_frame }, "All masks are as they were given");
};

async function rightTrack() {
  const path = await get(`path/${view.row}`), [frame, label] = path.at(-1);
  if (path.length < 2) return tell("This track is a single cell.", true);
  return state_({ kind: "right track", frame, label, path }, `The track of cell ${view.label} is right, ${path.length - 1} links`);
}

const nextDivision = () => alone(async () => {
  const row = await get(`division/${view.row}`);
  if (row === null) return tell("No division is reported.", true);
  show(await get(`view/${row}`));
});

function pick(what) {
  picking = what;
  $("as-given").setAttribute("aria-pressed", what === "as given");
  $("one-cell").setAttribute("aria-pressed", what === "one cell");
  $("missing").setAttribute("aria-pressed", what === "missing");
  document.body.classList.toggle("picking", what !== null);
  if (what === "one cell") tell("Click the other piece of this cell, in the later frame.");
  if (what === "as given") tell("Click a mask with a dashed outline: it was repaired, and is put back as it was given.");
  if (what === "missing") tell("Click where a cell has no mask in the later frame, or, in the earlier one, the cell whose mask is missing.");
}

function clickBefore(label, cell) {
  if (picking === "missing") return sayMissing({ x: cell.x, y: cell.y }, label);
  if (picking === null) return answerMother(label);
  return undefined;
}

function clickGiven(frame, repaired, at) {
  const mask = labelAt(repaired.map((each) => ({ label: each.mask, outline: each.outline })), at.x, at.y);
  if (mask === null) return tell("Click a mask with a dashed outline.", true);
  return sayGiven(frame, mask);
}

function sayMissing(at, label) {
  pick(null);
  const place = [at.y + view.box.top, at.x + view.box.left];
  return state_({ kind: "missing", frame: view.frame, place, ...(label ? { mother: label } : {}) }, `A cell is missing in frame ${view.frame}`);
}

function placeIn(svg, event) {
  return new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
}

$("before").addEventListener("click", (event) => {
  if (!view || camera.moved) return;
  const at = placeIn($("before"), event), label = labelAt(view.before, at.x, at.y);
  if (picking === "as given") return clickGiven(view.mother_frame, view.repaired.before, at);
  if (label !== null) clickBefore(label, at);
});

$("after").addEventListener("click", (event) => {
  if (!view || camera.moved || picking === null) return;
  const at = placeIn($("after"), event), other = labelAt(view.after, at.x, at.y);
  if (picking === "as given") clickGiven(view.frame, view.repaired.after, at);
  else if (picking === "missing") sayMissing(at, null);
  else if (other === null || other === view.label) tell("Click another mask.", true);
  else {
    pick(null);
    state_({ kind: "one cell", frame: view.frame, label: view.label, other }, `Masks ${view.label} and ${other} are one cell`);
  }
});

const step = (path) => alone(async () => {
  const reply = await post(path, signed());
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

const showRow = (row) => alone(async () => show(await get(`view/${row}`)));

const find = () => alone(async () => {
  const [first, second] = $("where").value.split(":").map((each) => parseInt(each.replace(/\D/g, ""), 10));
  if (Number.isNaN(first)) return tell("Write frame:cell, such as 12:5, or the number of a track.", true);
  show(await get(`view/${await get(second === undefined ? `track/${first}` : `cell/${first}/${second}`)}`));
});

async function showDecisions() {
  const list = await get("decisions");
  $("decisions").replaceChildren(...list.map((said) => {
    const item = document.createElement("li"), button = document.createElement("button");
    button.append(piece("span", said.words), piece("small", `${said.who}, ${said.time.replace("T", " ").replace("Z", "")}`));
    button.disabled = said.row === null;
    button.addEventListener("click", () => { $("list").close(); showRow(said.row); });
    item.append(button);
    return item;
  }));
  $("all-as-given").hidden = !state.repaired;
  $("list").showModal();
}

const writeOut = () => alone(async () => {
  tell("Writing…");
  const done = await post("export");
  tell(`Written to ${done.folder}${done.without_ctc ? `, without a challenge result (${done.without_ctc})` : ""}.`);
});

const invite = () => alone(async () => {
  const { token } = await post("invite");
  tell(`For one more browser: ${location.origin}/?token=${token}`);
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
  const goal = $("goal").valueAsNumber;
  fetched = new Map();
  take(await post("choose", { order: $("order").value, filter, goal: Number.isNaN(goal) ? null : goal }));
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

function markNext(by) {
  mark((marked + by + view.choices.length) % view.choices.length);
}

// ---- keys and buttons

const KEYS = {
  Enter: accept, 0: answerNone, s: skip, u: () => step("undo"), r: () => step("redo"),
  k: noCell, t: twoCells, o: () => pick(picking === "one cell" ? null : "one cell"), m: () => pick(picking === "missing" ? null : "missing"),
  g: () => asGiven(), y: () => rightTrack(), v: nextDivision, Escape: () => pick(null), ".": () => player.widen(5), ",": () => player.widen(-5),
  d: () => decideMother("divides"), D: () => decideMother("divides into three"), n: () => decideMother("does not divide"), x: () => decideMother("disappears"),
  ArrowLeft: () => go(-1), ArrowRight: () => go(1), ArrowUp: () => markNext(-1), ArrowDown: () => markNext(1),
  "[": () => showPair(Math.max(view.pair - 1, 0)), "]": () => showPair(Math.min(view.pair + 1, state.frames.length - 1)),
  "+": () => camera.zoom(0.8), "=": () => camera.zoom(0.8), "-": () => camera.zoom(1.25), f: () => camera.fit(),
  c: () => contrast(0.3), C: () => contrast(-0.3), b: () => player.toggle_(), "?": () => $("help").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.matches("input, select") || (event.key === "Enter" && event.target.matches("button"))) return;
  const number = Number(event.key);
  const chosen = number >= 1 && number <= 9 && view ? view.choices.findIndex((choice) => choice.key === event.key) : -1;
  const action = chosen >= 0 ? () => answerChoice(chosen) : KEYS[event.key];
  if (!action || (!view && !["u", "r", "?"].includes(event.key))) return;
  event.preventDefault();
  action();
});

const BUTTONS = {
  accept, skip, undo: () => step("undo"), redo: () => step("redo"),
  divides: () => decideMother("divides"), "does-not-divide": () => decideMother("does not divide"), disappears: () => decideMother("disappears"),
  back: () => go(-1), forward: () => go(1), earlier: KEYS["["], later: KEYS["]"],
  closer: KEYS["+"], farther: KEYS["-"], fit: KEYS.f, "blink-toggle": KEYS.b, "help-open": KEYS["?"],
  "no-cell": noCell, "two-cells": twoCells, "one-cell": KEYS.o, missing: KEYS.m, three: KEYS.D, wider: KEYS["."], narrower: KEYS[","],
  "as-given": () => asGiven(), "right-track": () => rightTrack(), "next-division": nextDivision, "all-as-given": allAsGiven,
  "list-open": showDecisions, export: writeOut, invite,
};
for (const [id, action] of Object.entries(BUTTONS)) $(id).addEventListener("click", (event) => { event.currentTarget.blur(); action(); });
for (const id of ["contrast", "brightness"]) $(id).addEventListener("input", setContrast);
$("choose").addEventListener("change", choose);
$("choose").addEventListener("submit", (event) => event.preventDefault());

const linked = location.hash.match(/^#(\d+):(\d+)$/); // the cell that a report's link leads to
history.replaceState(null, "", "/"); // the token has done its work
$("find").addEventListener("submit", (event) => { event.preventDefault(); find(); });
$("goal").addEventListener("change", choose);
$("who").addEventListener("change", () => rememberName($("who").value));
$("asks-name").addEventListener("close", () => {
  $("who").value = $("new-name").value.trim() || $("who").value;
  rememberName($("who").value);
});
alone(async () => {
  take(await get("ask"));
  if (linked) show(await get(`view/${await get(`cell/${linked[1]}/${linked[2]}`)}`));
  const { people } = await get(`changes/${state.version}`);
  if (people > 1 && !rememberedName()) $("asks-name").showModal();
});
follow({
  version: () => (busy || !state ? null : state.version),
  changed: (found) => alone(async () => {
    const now = changesOf(found, state);
    if (!now.state) return;
    showState(now.state);
    tell(now.words);
    fetched = new Map();
    if (view) show({ ...(await get(`view/${view.row}`)), asked: view.asked, audit: view.audit }, { remember: false });
  }),
});
