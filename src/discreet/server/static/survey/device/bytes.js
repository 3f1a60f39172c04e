// Bytes and the ways they are written: joined, big-endian, hexadecimal, base64url.

export const utf8 = (text) => new TextEncoder().encode(text);

export function joined(...parts) {
  const found = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    found.set(part, at);
    at += part.length;
  }
  return found;
}

// A whole number below 2^53 in `width` bytes, the most significant one first.
export function bigEndian(number, width) {
  const found = new Uint8Array(width);
  for (let place = width - 1; place >= 0; place -= 1) {
    found[place] = number % 256;
    number = Math.floor(number / 256);
  }
  return found;
}

export async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

export const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

export function base64url(bytes) {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
