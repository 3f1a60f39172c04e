// The slider between privacy and accuracy: round values of epsilon, evenly spaced by ratio.

const STEPS = [
  0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 1, 1.5, 2, 3, 4, 5, 7, 10,
];

export function stepsUpTo(limit) {
  const top = Math.max(limit, 0.1);
  const steps = STEPS.filter((step) => step <= top + 1e-12);
  return steps;
}

export function nearest(steps, epsilon) {
  let best = 0;
  steps.forEach((step, i) => {
    const closer = Math.abs(Math.log(step / epsilon)) < Math.abs(Math.log(steps[best] / epsilon));
    if (closer) best = i;
  });
  return best;
}

// Text that may be an epsilon: the number, or null. The text itself is sent, so that 0.1 stays 0.1.
export function readEpsilon(text) {
  const written = text.trim().replace(",", ".");
  if (!/^\d*\.?\d+(e-?\d+)?$/i.test(written)) return null;
  const value = Number(written);
  return value > 0 && value < 1000 ? { text: written, value } : null;
}
