// Random bytes as a device draws them: 32-bit words, exact uniform integers, and coins whose
// probabilities are whole numbers of 2^32 parts. No float decides an outcome.

export const WORD = 2 ** 32;
export const HALF = 2 ** 31;

// The bytes at hand have ended; whoever made them makes more and begins again.
export class EndOfBytes extends Error {}

export class Draws {
  // `moment`: bytes for this one report, new each time; without them they come from the same bytes.
  constructor(bytes, moment = null) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.used = 0;
    this.moment = moment ? new Draws(moment) : this;
  }

  word() {
    if (this.used + 4 > this.view.byteLength) throw new EndOfBytes();
    this.used += 4;
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
