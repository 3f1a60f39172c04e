// Random bytes as a device draws them: 32-bit words, exact uniform integers, and coins whose
// probabilities are whole numbers of 2^32 parts. No float decides an outcome.

import { joined } from "./bytes.js";

export const WORD = 2 ** 32;
export const HALF = 2 ** 31;

const AT_ONCE = 4096;

// The bytes at hand have ended: recorded ones, as tests use.
export class EndOfBytes extends Error {}

// Coins of the operating system, held in memory while somebody answers: a function that gives at least so
// many of them, always the same from the first on. Nothing of them is stored anywhere.
export function newCoins() {
  let held = new Uint8Array(0);
  return (length) => {
    while (held.length < length) held = joined(held, crypto.getRandomValues(new Uint8Array(AT_ONCE)));
    return held;
  };
}

export class Draws {
  // `source`: recorded bytes, or what `newCoins` gives.
  constructor(source) {
    const recorded = source instanceof Uint8Array;
    this.more = recorded ? null : source;
    this.view = viewOf(recorded ? source : source(0));
    this.used = 0;
  }

  // The next `count` bytes.
  bytes(count) {
    const end = this.used + count;
    if (end > this.view.byteLength) {
      if (!this.more) throw new EndOfBytes();
      this.view = viewOf(this.more(end));
    }
    this.used = end;
    return new Uint8Array(this.view.buffer, this.view.byteOffset + end - count, count);
  }

  word() {
    this.bytes(4);
    return this.view.getUint32(this.used - 4);
  }

  // True with probability parts / 2^32.
  coin(parts) {
    return this.word() < parts;
  }

  // Uniform on 0 .. count - 1: words beyond the last full multiple are drawn again.
  below(count) {
    if (count === 1) return 0;
    const limit = WORD - (WORD % count);
    for (;;) {
      const word = this.word();
      if (word < limit) return word % count;
    }
  }
}

const viewOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
