// Zoom, pan and contrast, the same for all panels.

export class Camera {
  constructor(panels, onChange = () => {}) {
    this.panels = panels;
    this.onChange = onChange;
    this.full = { x: 0, y: 0, w: 100, h: 100 };
    this.now = { ...this.full };
    this.moved = false;
    for (const panel of panels) this.#listen(panel);
    new ResizeObserver(() => this.apply()).observe(panels[0]);
  }

  fit(box) {
    if (box) this.full = { x: 0, y: 0, w: box.width, h: box.height };
    this.now = { ...this.full };
    this.apply();
  }

  zoom(factor, at = { x: this.now.x + this.now.w / 2, y: this.now.y + this.now.h / 2 }) {
    const scale = Math.min(Math.max(factor, (this.full.w / this.now.w) * 0.05), (this.full.w / this.now.w) * 1.5);
    this.now = {
      x: at.x - (at.x - this.now.x) * scale, y: at.y - (at.y - this.now.y) * scale,
      w: this.now.w * scale, h: this.now.h * scale,
    };
    this.apply();
  }

  apply() {
    const { x, y, w, h } = this.now;
    for (const panel of this.panels) {
      panel.setAttribute("viewBox", `${x} ${y} ${w} ${h}`);
      const shown = panel.getBoundingClientRect();
      const pixel = Math.max(w / Math.max(shown.width, 1), h / Math.max(shown.height, 1));
      for (const label of panel.querySelectorAll(".label"))
        label.setAttribute("transform", `translate(${label.dataset.x} ${label.dataset.y}) scale(${pixel})`);
    }
    this.onChange();
  }

  #listen(panel) {
    const place = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(panel.getScreenCTM().inverse());
    panel.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(Math.sign(event.deltaY) * 0.15), place(event));
    }, { passive: false });
    panel.addEventListener("dblclick", () => this.fit());
    let start = null;
    panel.addEventListener("pointerdown", (event) => {
      start = { at: place(event), x: event.clientX, y: event.clientY, id: event.pointerId };
      this.moved = false;
    });
    panel.addEventListener("pointermove", (event) => {
      if (!start) return;
      if (!this.moved && Math.hypot(event.clientX - start.x, event.clientY - start.y) < 5) return;
      if (!this.moved) panel.setPointerCapture(start.id);
      this.moved = true;
      panel.classList.add("dragging");
      const here = place(event);
      this.now.x += start.at.x - here.x;
      this.now.y += start.at.y - here.y;
      this.apply();
    });
    const end = () => { start = null; panel.classList.remove("dragging"); };
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) panel.addEventListener(name, end);
  }
}
