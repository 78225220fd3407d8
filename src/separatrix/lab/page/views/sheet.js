/**
 * A sheet is a canvas that knows its size in CSS pixels, redraws only when dirty, and maps
 * between the plane of the data and its own pixels.
 */

/** @typedef {import("./pen.js").Pen} Pen */
/** @typedef {{width: number, height: number}} Size */

const MAX_RATIO = 3;

export class Sheet {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {() => void} resized called when the element changed its size
   */
  constructor(canvas, resized) {
    this.canvas = canvas;
    this.width = 0;
    this.height = 0;
    this.ratio = 1;
    this.dirty = true;
    const context = canvas.getContext("2d");
    if (!context) throw new Error("this browser has no 2-D canvas");
    this.context = context;
    this.observer = new ResizeObserver((entries) => {
      const box = entries[entries.length - 1].contentRect;
      this.resize(box.width, box.height);
      resized();
    });
    this.observer.observe(canvas);
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  resize(width, height) {
    const ratio = Math.min(MAX_RATIO, globalThis.devicePixelRatio || 1);
    if (width === this.width && height === this.height && ratio === this.ratio) return;
    this.width = width;
    this.height = height;
    this.ratio = ratio;
    this.canvas.width = Math.max(1, Math.round(width * ratio));
    this.canvas.height = Math.max(1, Math.round(height * ratio));
    this.dirty = true;
  }

  /** Whether the sheet has an area to draw on. */
  get visible() {
    return this.width > 1 && this.height > 1;
  }

  /**
   * Clear the sheet and return its pen, scaled to CSS pixels.
   * @returns {CanvasRenderingContext2D}
   */
  begin() {
    this.dirty = false;
    const pen = this.context;
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.globalAlpha = 1;
    pen.clearRect(0, 0, this.width, this.height);
    return pen;
  }

  /** Stop watching the element. */
  close() {
    this.observer.disconnect();
  }

  /**
   * Position of a pointer in the sheet's pixels.
   * @param {{clientX: number, clientY: number}} event
   * @returns {[number, number]}
   */
  locate(event) {
    const box = this.canvas.getBoundingClientRect();
    const zoom = box.width > 0 ? this.width / box.width : 1; // a page zoomed by its style
    return [(event.clientX - box.left) * zoom, (event.clientY - box.top) * zoom];
  }
}

/**
 * @typedef {object} Camera maps data to pixels; y grows upwards in data
 * @property {number} unitX pixels per data unit
 * @property {number} unitY
 * @property {(x: number) => number} x
 * @property {(y: number) => number} y
 * @property {(px: number) => number} dataX
 * @property {(py: number) => number} dataY
 */

/** @typedef {{x0: number, x1: number, y0: number, y1: number}} Box */
/** @typedef {{left: number, right: number, top: number, bottom: number}} Margins */

/**
 * The camera that shows a box of data inside a size, less margins.
 * @param {Box} box
 * @param {Size} size
 * @param {Margins} margins
 * @param {boolean} square one unit has the same length on both axes
 * @returns {Camera}
 */
export function cameraFor(box, size, margins, square) {
  const wide = Math.max(1, size.width - margins.left - margins.right);
  const high = Math.max(1, size.height - margins.top - margins.bottom);
  let unitX = wide / (box.x1 - box.x0 || 1);
  let unitY = high / (box.y1 - box.y0 || 1);
  if (square) unitX = unitY = Math.min(unitX, unitY);
  const cx = margins.left + wide / 2, cy = margins.top + high / 2;
  const mx = (box.x0 + box.x1) / 2, my = (box.y0 + box.y1) / 2;
  return {
    unitX,
    unitY,
    x: (x) => cx + (x - mx) * unitX,
    y: (y) => cy - (y - my) * unitY,
    dataX: (px) => (px - cx) / unitX + mx,
    dataY: (py) => my - (py - cy) / unitY,
  };
}

/**
 * The round number nearest to a step: 1, 2 or 5 times a power of ten.
 * @param {number} raw
 * @returns {number}
 */
export function roundStep(raw) {
  const power = 10 ** Math.floor(Math.log10(raw)), lead = raw / power;
  return (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10) * power;
}

/**
 * Round tick positions that cover [low, high], about `count` of them.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 * @returns {number[]}
 */
export function ticks(low, high, count) {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [low];
  const step = roundStep(span / Math.max(1, count));
  const out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) out.push(Number((k * step).toPrecision(12)));
  return out;
}
