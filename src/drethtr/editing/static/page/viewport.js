// The part of the scan that is seen: zoom and place, kept from page to page.

const MOST = 8; // screen pixels for one of the scan
let kept = null; // {zoom: share of the frame's width that the page's width takes, x, y: center as shares of the page}

export class Viewport {
  constructor(page, frame) {
    this.page = page;
    this.frame = frame;
    const { zoom, x, y } = kept ?? { zoom: 1, x: 0.5, y: 0 };
    this.scale = (zoom * frame.width) / page.width;
    this.left = x * page.width * this.scale - frame.width / 2;
    this.top = y * page.height * this.scale - (kept ? frame.height / 2 : 0);
    this.bound();
  }

  bound() {
    const least = Math.min(this.frame.width / this.page.width, this.frame.height / this.page.height);
    this.scale = Math.min(MOST, Math.max(least, this.scale));
    this.left = within(this.left, this.page.width * this.scale, this.frame.width);
    this.top = within(this.top, this.page.height * this.scale, this.frame.height);
  }

  keep() {
    const { page, frame, scale } = this;
    kept = {
      zoom: (scale * page.width) / frame.width,
      x: (this.left + frame.width / 2) / (page.width * scale),
      y: (this.top + frame.height / 2) / (page.height * scale),
    };
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
    this.scale = this.frame.width / this.page.width;
    this.left = 0;
    this.bound();
    this.keep();
  }

  // Zooms until a box is nearly as wide as the frame; if it is, until the page is.
  closer([left, top, right, bottom]) {
    const scale = Math.min(MOST, (0.95 * this.frame.width) / Math.max(1, right - left));
    this.scale = Math.abs(this.scale / scale - 1) < 0.01 ? this.frame.width / this.page.width : scale;
    this.left = ((left + right) / 2) * this.scale - this.frame.width / 2;
    this.top = ((top + bottom) / 2) * this.scale - this.frame.height / 2;
    this.bound();
    this.keep();
  }

  // The point of the page at a point of the frame.
  pointAt(x, y) {
    return [(x + this.left) / this.scale, (y + this.top) / this.scale];
  }

  // Moves as little as needed to show a box with some surroundings.
  show([left, top, right, bottom]) {
    const margin = Math.min(90, this.frame.height / 5);
    const near = ([from, to], [start, length]) => {
      // The beginning counts more than the end: a line wider than the frame is shown from where it is read.
      if (from < start + margin) return from - margin;
      return to > start + length - margin ? Math.min(from - margin, to - length + margin) : start;
    };
    const scaled = (value) => value * this.scale;
    this.left = near([scaled(left), scaled(right)], [this.left, this.frame.width]);
    this.top = near([scaled(top), scaled(bottom)], [this.top, this.frame.height]);
    this.bound();
    this.keep();
  }
}

// A page smaller than its frame stands in the middle; a larger one fills it.
function within(start, size, length) {
  return size <= length ? (size - length) / 2 : Math.min(size - length, Math.max(0, start));
}
