// The little of CBOR (RFC 8949) that donations need, in its one deterministic form:
// whole numbers, byte strings, arrays and null, each with the shortest length.
import { bigEndian, joined } from "./bytes.js";

const NUMBER = 0;
const BYTES = 2;
const ARRAY = 4;
const NULL = 0xf6;
const WIDTHS = [
  [24, 1],
  [25, 2],
  [26, 4],
  [27, 8],
];

export function encoded(item) {
  if (item === null) return Uint8Array.of(NULL);
  if (item instanceof Uint8Array) return joined(head(BYTES, item.length), item);
  if (Array.isArray(item)) return joined(head(ARRAY, item.length), ...item.map(encoded));
  return head(NUMBER, item);
}

function head(kind, size) {
  if (!Number.isSafeInteger(size) || size < 0) throw new RangeError("A report is a whole number.");
  if (size < 24) return Uint8Array.of((kind << 5) | size);
  const [code, width] = WIDTHS.find(([, bytes]) => size < 256 ** bytes);
  return joined(Uint8Array.of((kind << 5) | code), bigEndian(size, width));
}
