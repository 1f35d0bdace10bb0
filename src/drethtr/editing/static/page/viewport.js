// The part of the scan that is seen: zoom and place, kept from page to page for each screen.

const MOST = 8; // screen pixels for one of the scan
const EDGE = 16; // px beside a line that is shown as a whole
const BESIDE = { text: 0, layout: 30 }; // px beside the page, for the numbers of lines
const kept = new Map(); // {zoom: as a share of the whole width's, x, y: center as shares of the page} by screen

export class Viewport {
  constructor(page, frame, screen = "text") {
    this.page = page;
    this.frame = frame;
    this.screen = screen;
    this.beside = BESIDE[screen];
    const { zoom, x, y } = kept.get(screen) ?? { zoom: 1, x: 0.5, y: 0 };
    this.scale = zoom * this.whole;
    this.left = x * page.width * this.scale - frame.width / 2;
    this.top = y * page.height * this.scale - (kept.has(screen) ? frame.height / 2 : this.beside);
    this.bound();
  }

  // The scale at which the page is as wide as the frame.
  get whole() {
    return (this.frame.width - 2 * this.beside) / this.page.width;
  }

  bound() {
    const { page, frame, beside } = this;
    this.scale = Math.min(MOST, Math.max(Math.min(this.whole, frame.height / page.height), this.scale));
    this.left = within(this.left, page.width * this.scale, frame.width, beside);
    this.top = within(this.top, page.height * this.scale, frame.height, beside);
  }

  keep() {
    const { page, frame, scale } = this;
    kept.set(this.screen, {
      zoom: scale / this.whole,
      x: (this.left + frame.width / 2) / (page.width * scale),
      y: (this.top + frame.height / 2) / (page.height * scale),
    });
  }

  pan(x, y) {
    this.left += x;
    this.top += y;
    this.bound();
    this.keep();
  }

  // Zooms around a point of the frame, by default its middle.
  zoom(factor, x = this.frame.width / 2, y = this.frame.height / 2) {
    const [pageX, pageY] = this.pointAt(x, y);
    this.scale *= factor;
    this.bound();
    this.left = pageX * this.scale - x;
    this.top = pageY * this.scale - y;
    this.bound();
    this.keep();
  }

  fit() {
    this.scale = this.whole;
    this.left = -this.beside;
    this.bound();
    this.keep();
  }

  // Zooms until a box is nearly as wide as the frame; if it is and `mayGoBack`, until the page is.
  closer([left, top, right, bottom], mayGoBack = true) {
    const scale = Math.min(MOST, (0.95 * this.frame.width) / Math.max(1, right - left));
    const isThere = Math.abs(this.scale / scale - 1) < 0.01;
    this.scale = isThere && mayGoBack ? this.whole : scale;
    this.left = ((left + right) / 2) * this.scale - this.frame.width / 2;
    this.top = ((top + bottom) / 2) * this.scale - this.frame.height / 2;
    this.bound();
    this.keep();
  }

  // The point of the page at a point of the frame.
  pointAt(x, y) {
    return [(x + this.left) / this.scale, (y + this.top) / this.scale];
  }

  // Moves as little as needed to show a box with some surroundings: across, the whole width of `around` if it has room.
  show([left, top, right, bottom], around = [left, top, right, bottom]) {
    const margin = Math.min(90, this.frame.height / 5);
    const near = ([from, to], [start, length], margin) => {
      // The beginning counts more than the end: a line wider than the frame is shown from where it is read.
      if (from < start + margin) return from - margin;
      return to > start + length - margin ? Math.min(from - margin, to - length + margin) : start;
    };
    const scaled = (value) => value * this.scale;
    const spare = (this.frame.width - scaled(around[2] - around[0])) / 2;
    const across = spare > 0 ? [around[0], around[2]] : [left, right];
    this.left = near(across.map(scaled), [this.left, this.frame.width], spare > 0 ? Math.min(EDGE, spare) : margin);
    this.top = near([scaled(top), scaled(bottom)], [this.top, this.frame.height], margin);
    this.bound();
    this.keep();
  }
}

// A page smaller than its frame stands in the middle; a larger one fills it.
function within(start, size, length, beside) {
  return size + 2 * beside <= length ? (size - length) / 2 : Math.min(size - length + beside, Math.max(-beside, start));
}
