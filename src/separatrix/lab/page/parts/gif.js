/**
 * Animated GIF (89a) from frames of palette places: LZW with variable code size, one palette, no interlacing.
 */

/**
 * @param {number} width
 * @param {number} height
 * @param {Uint8Array} palette red, green, blue of at most 256 colours
 * @param {Uint8Array[]} frames palette places, row by row
 * @param {number[]} delays of each frame, in hundredths of a second
 * @returns {Uint8Array}
 */
export function encodeGif(width, height, palette, frames, delays) {
  const depth = Math.max(1, Math.ceil(Math.log2(Math.max(2, palette.length / 3))));
  const bytes = new Bytes();
  bytes.text("GIF89a");
  bytes.short(width);
  bytes.short(height);
  bytes.put(0x80 | 0x70 | (depth - 1), 0, 0);
  for (let k = 0; k < 3 * 2 ** depth; k++) bytes.put(k < palette.length ? palette[k] : 0);
  bytes.put(0x21, 0xff, 11);
  bytes.text("NETSCAPE2.0");
  bytes.put(3, 1, 0, 0, 0);
  frames.forEach((frame, k) => {
    bytes.put(0x21, 0xf9, 4, 0x04);
    bytes.short(delays[k] ?? 4);
    bytes.put(0, 0, 0x2c);
    for (const value of [0, 0, width, height]) bytes.short(value);
    bytes.put(0);
    compress(frame, Math.max(2, depth), bytes);
  });
  bytes.put(0x3b);
  return bytes.done();
}

/** Bytes that grow. */
class Bytes {
  room = new Uint8Array(1 << 16);
  length = 0;

  /** @param {number[]} values */
  put(...values) {
    if (this.length + values.length > this.room.length) {
      const larger = new Uint8Array(2 * this.room.length);
      larger.set(this.room);
      this.room = larger;
    }
    for (const value of values) this.room[this.length++] = value;
  }

  /** @param {number} value */
  short(value) {
    this.put(value & 255, value >> 8);
  }

  /** @param {string} text */
  text(text) {
    for (let k = 0; k < text.length; k++) this.put(text.charCodeAt(k));
  }

  done() {
    return this.room.slice(0, this.length);
  }
}

/** Codes of variable width, low bits first, in blocks of at most 255 bytes. */
class Codes {
  /** @param {Bytes} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.block = new Uint8Array(255);
    this.size = 0;
    this.bits = 0;
    this.held = 0;
  }

  /** @param {number} code @param {number} width */
  put(code, width) {
    this.bits |= code << this.held;
    this.held += width;
    while (this.held >= 8) {
      this.byte(this.bits & 255);
      this.bits >>>= 8;
      this.held -= 8;
    }
  }

  /** @param {number} value */
  byte(value) {
    this.block[this.size++] = value;
    if (this.size === 255) this.flush();
  }

  flush() {
    if (!this.size) return;
    this.bytes.put(this.size);
    for (let k = 0; k < this.size; k++) this.bytes.put(this.block[k]);
    this.size = 0;
  }

  end() {
    if (this.held) this.byte(this.bits & 255);
    this.flush();
    this.bytes.put(0);
  }
}

/** Write a frame by LZW; the table is an open hash of (prefix, place). @param {Uint8Array} frame @param {number} depth @param {Bytes} bytes */
function compress(frame, depth, bytes) {
  bytes.put(depth);
  const clear = 1 << depth;
  const keys = new Int32Array(8192).fill(-1);
  const codes = new Int32Array(8192);
  const out = new Codes(bytes);
  let next = clear + 2;
  let width = depth + 1;
  out.put(clear, width);
  let prefix = frame.length ? frame[0] : 0;
  for (let k = 1; k < frame.length; k++) {
    const key = (prefix << 8) | frame[k];
    let slot = ((key * 2654435761) >>> 19) & 8191;
    while (keys[slot] !== -1 && keys[slot] !== key) slot = (slot + 1) & 8191;
    if (keys[slot] === key) {
      prefix = codes[slot];
      continue;
    }
    out.put(prefix, width);
    if (next < 4096) {
      keys[slot] = key;
      codes[slot] = next;
      if (next === 1 << width) width++;
      next++;
    } else {
      out.put(clear, width);
      keys.fill(-1);
      next = clear + 2;
      width = depth + 1;
    }
    prefix = frame[k];
  }
  out.put(prefix, width);
  out.put(clear + 1, width);
  out.end();
}

/**
 * Return the nearest palette place of each pixel.
 * @param {ArrayLike<number>} rgba
 * @param {Uint8Array} palette
 * @param {Map<number, number>} [cache] of colours already looked up, shared between frames
 */
export function quantise(rgba, palette, cache = new Map()) {
  const places = new Uint8Array(rgba.length / 4);
  let lastColour = -1;
  let lastPlace = 0;
  for (let k = 0, i = 0; i < places.length; i++, k += 4) {
    const colour = (rgba[k] << 16) | (rgba[k + 1] << 8) | rgba[k + 2];
    if (colour !== lastColour) {
      lastColour = colour;
      const known = cache.get(colour);
      lastPlace = known ?? nearest(palette, rgba[k], rgba[k + 1], rgba[k + 2]);
      if (known === undefined) cache.set(colour, lastPlace);
    }
    places[i] = lastPlace;
  }
  return places;
}

/** @param {Uint8Array} palette @param {number} red @param {number} green @param {number} blue */
function nearest(palette, red, green, blue) {
  let best = 0;
  let least = Infinity;
  for (let k = 0; k < palette.length; k += 3) {
    const distance = (palette[k] - red) ** 2 + (palette[k + 1] - green) ** 2 + (palette[k + 2] - blue) ** 2;
    if (distance < least) [least, best] = [distance, k / 3];
  }
  return best;
}
