// The movie around the question: both frames in turn, or as many before and after as wanted, at any speed.

import { aroundAddress, get } from "./api.js";
import { drawFrame } from "./scene.js";

export class Player {
  constructor(parts, onDrawn) {
    Object.assign(this, parts); // svg, label, toggle, slider, speed, frameOf
    this.onDrawn = onDrawn;
    this.view = null;
    this.span = 0; // frames before the pair, and after it
    this.at = 0;
    this.outlines = new Map();
    this.playing = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.slider.addEventListener("input", () => { this.stop(); this.go(this.slider.valueAsNumber); });
    this.svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      event.stopImmediatePropagation();
      this.stop();
      if (this.span === 0) this.widen(5);
      this.go(this.at + Math.sign(event.deltaY));
    }, { passive: false, capture: true });
    this.speed.addEventListener("change", () => this.#tick());
    this.#showToggle();
    this.#tick();
  }

  show(view) {
    if (!this.view || this.view.row !== view.row) this.outlines = new Map();
    const same = this.view && this.view.row === view.row;
    this.view = view;
    this.#range();
    this.go(same ? this.at : view.pair + 1);
  }

  widen(by) {
    this.span = Math.max(this.span + by, 0);
    if (this.view) { this.#range(); this.go(this.at); }
  }

  go(t) {
    if (!this.view) return;
    this.at = t > this.last ? this.first : t < this.first ? this.last : t;
    this.slider.value = this.at;
    drawFrame(this.svg, this.view, this.at, this.outlines.get(this.at) ?? []);
    this.label.textContent = `frame ${this.frameOf(this.at) ?? ""}`;
    this.#fetch(this.at);
    this.onDrawn();
  }

  toggle_() { this.playing ? this.stop() : this.start(); }
  start() { this.playing = true; this.#showToggle(); this.#tick(); }
  stop() { this.playing = false; this.#showToggle(); }

  #showToggle() {
    this.toggle.setAttribute("aria-pressed", this.playing);
    this.toggle.lastChild.textContent = this.playing ? " pause" : " play";
  }

  #range() {
    this.first = Math.max(this.view.pair - this.span, 0);
    this.last = Math.min(this.view.pair + 1 + this.span, this.view.n_frames - 1);
    Object.assign(this.slider, { min: this.first, max: this.last });
  }

  #tick() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.playing) { this.go(this.at + 1); this.#tick(); }
    }, Number(this.speed.value));
  }

  async #fetch(t) {
    const { view } = this;
    if (this.outlines.has(t) || t === view.pair || t === view.pair + 1) return;
    this.outlines.set(t, []);
    const cells = await get(aroundAddress(t, view.box)).catch(() => []);
    if (this.view.row !== view.row) return;
    this.outlines.set(t, cells);
    if (this.at === t) drawFrame(this.svg, this.view, t, cells);
  }
}
