// Certainty over time: a bar per frame pair, as tall as its expected number of wrong decisions.

export class Timeline {
  constructor(canvas, told, onPick) {
    this.canvas = canvas;
    this.told = told;
    this.values = [];
    this.frames = [];
    this.current = null;
    canvas.addEventListener("click", (event) => onPick(this.#pairAt(event)));
    canvas.addEventListener("pointermove", (event) => this.#tell(this.#pairAt(event)));
    canvas.addEventListener("pointerleave", () => this.#tell(this.current));
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  show(values, frames, current) {
    Object.assign(this, { values, frames, current });
    this.highest = Math.max(this.highest ?? 0, ...values, 0.5);
    this.draw();
    this.#tell(current);
  }

  draw() {
    const ratio = devicePixelRatio, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const pen = this.canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    pen.scale(ratio, ratio);
    const n = this.values.length, step = width / Math.max(n, 1), gap = step > 4 ? 1 : 0;
    this.values.forEach((value, k) => {
      const tall = Math.max((value / this.highest) * (height - 6), value > 0.005 ? 2 : 0);
      pen.fillStyle = style.getPropertyValue(k === this.current ? "--accent" : "--doubt");
      pen.fillRect(k * step, height - tall, Math.max(step - gap, 0.5), tall);
    });
    if (this.current === null) return;
    pen.fillStyle = style.getPropertyValue("--accent");
    pen.fillRect(this.current * step, 0, Math.max(step - gap, 2), 3);
  }

  #pairAt(event) {
    const share = event.offsetX / Math.max(this.canvas.clientWidth, 1);
    return Math.min(Math.max(Math.floor(share * this.values.length), 0), this.values.length - 1);
  }

  #tell(k) {
    if (k === null || this.values[k] === undefined) return;
    this.told.textContent = `frame ${this.frames[k]}: ${this.values[k].toFixed(2)} expected wrong decisions`;
  }
}
