// Dice for lessons. They carry no guarantee: real answers get their noise on the server.

export const uniform = () => Math.random();

// Discrete Laplace: the difference of two geometrics with ratio e^-epsilon.
export function laplace(epsilon) {
  const geometric = () => Math.floor(Math.log(1 - uniform()) / -epsilon);
  return geometric() - geometric();
}

export function binomial(n, p) {
  let count = 0;
  for (let i = 0; i < n; i += 1) if (uniform() < p) count += 1;
  return count;
}

// The least m with P(|noise| > m) at most 5%.
export function halfWidth(epsilon) {
  const t = Math.exp(-epsilon);
  return Math.max(0, Math.ceil(Math.log((0.05 * (1 + t)) / 2) / -epsilon - 1 - 1e-9));
}

// Sliders that move by ratio between two values, rounded to two figures.
export function byRatio(slider, low, high) {
  return Number((low * (high / low) ** (slider.value / slider.max)).toPrecision(2));
}
