// The field from above: where wrong decisions are expected, all frames together; a click goes to the most doubtful cell there.

export class Overview {
  constructor(canvas, onPick) {
    this.canvas = canvas;
    this.field = null;
    canvas.addEventListener("click", (event) => {
      const square = this.#squareAt(event);
      if (square) onPick(square.row);
    });
  }

  show(field, here) {
    Object.assign(this, { field, here });
    const ratio = devicePixelRatio, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    Object.assign(this.canvas, { width: width * ratio, height: height * ratio });
    const pen = this.canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    pen.scale(ratio, ratio);
    this.scale = Math.min(width / field.width, height / field.height);
    pen.strokeStyle = style.getPropertyValue("--rule");
    pen.strokeRect(0.5, 0.5, field.width * this.scale - 1, field.height * this.scale - 1);
    const most = Math.max(...field.squares.map((square) => square.expected), 0.5), size = field.size * this.scale;
    pen.fillStyle = style.getPropertyValue("--doubt");
    for (const square of field.squares) {
      pen.globalAlpha = 0.15 + 0.85 * (square.expected / most);
      pen.fillRect(square.x * size, square.y * size, Math.max(size - 0.5, 1), Math.max(size - 0.5, 1));
    }
    pen.globalAlpha = 1;
    if (!here) return;
    pen.strokeStyle = style.getPropertyValue("--accent");
    pen.lineWidth = 2;
    pen.strokeRect(here.left * this.scale, here.top * this.scale, here.width * this.scale, here.height * this.scale);
  }

  #squareAt(event) {
    if (!this.field) return null;
    const size = this.field.size * this.scale, x = event.offsetX / size, y = event.offsetY / size;
    const far = (square) => Math.hypot(square.x + 0.5 - x, square.y + 0.5 - y);
    return this.field.squares.reduce((best, square) => (!best || far(square) < far(best) ? square : best), null);
  }
}
