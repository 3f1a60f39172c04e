// Numbers modulo a prime: digits of codes, and the points of a projective space.

// A code in base `prime`, the most significant digit first.
export function digits(code, prime, length) {
  const found = new Array(length).fill(0);
  for (let place = length - 1; place >= 0; place -= 1) {
    found[place] = code % prime;
    code = Math.floor(code / prime);
  }
  return found;
}

export const number = (vector, prime) => vector.reduce((found, digit) => found * prime + digit, 0);

// How many points have their leading 1 nearer to the end: (prime^m - 1) / (prime - 1).
export function pointsBefore(m, prime) {
  let found = 0;
  for (let turn = 0; turn < m; turn += 1) found = found * prime + 1;
  return found;
}

// Point number `index`: zeros, a leading 1, then free digits.
export function point(index, prime, length) {
  let free = 0;
  while (pointsBefore(free + 1, prime) <= index) free += 1;
  const rest = digits(index - pointsBefore(free, prime), prime, free);
  return [...new Array(length - 1 - free).fill(0), 1, ...rest];
}

// The number of the point on the line through a vector that is not zero.
export function indexOfPoint(vector, prime) {
  const pivot = vector.findIndex((digit) => digit !== 0);
  const inverse = inverted(vector[pivot], prime);
  const rest = vector.slice(pivot + 1).map((digit) => (digit * inverse) % prime);
  return pointsBefore(rest.length, prime) + number(rest, prime);
}

// By Fermat: digit^(prime - 2); products stay below 4,093^2.
function inverted(digit, prime) {
  let [found, power] = [1, digit];
  for (let left = prime - 2; left > 0; left = Math.floor(left / 2)) {
    if (left % 2) found = (found * power) % prime;
    power = (power * power) % prime;
  }
  return found;
}

export function isPrime(candidate) {
  if (!Number.isSafeInteger(candidate) || candidate < 2) return false;
  for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) {
    if (candidate % divisor === 0) return false;
  }
  return true;
}
