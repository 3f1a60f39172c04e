// The one request that a respondent's page ever makes by itself: the donation's bytes, and nothing else.

const FIRST_WAIT = 2_000;
const LONGEST_WAIT = 60_000;
const LATER = new Set([408, 425, 429, 500, 502, 503, 504]);

export const SENT = "sent";
export const CLOSED = "closed";
export const REFUSED = "refused";
const AGAIN = "again";

// No cookie, no referrer, no cached copy; the same headers and the same address whatever was answered.
async function sendOnce(address, bytes, signal) {
  let response;
  try {
    response = await fetch(address, {
      method: "POST",
      body: bytes,
      headers: { "Content-Type": "application/cbor", Accept: "application/json" },
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-store",
      redirect: "error",
      signal,
    });
  } catch {
    return { outcome: AGAIN };
  }
  if (response.ok) return { outcome: SENT };
  if (LATER.has(response.status)) return { outcome: AGAIN };
  const said = await response.json().catch(() => ({}));
  return { outcome: response.status === 409 ? CLOSED : REFUSED, reason: said.detail ?? "" };
}

// Send until there is an answer: again when there is a connection, and after ever longer waits. Safe,
// because a collector takes a one-use id once. `signal` stops it; then the outcome is null.
export async function sendUntilAnswered(address, bytes, { signal, waiting }) {
  for (let wait = FIRST_WAIT; !signal.aborted; wait = Math.min(2 * wait, LONGEST_WAIT)) {
    const found = await sendOnce(address, bytes, signal);
    if (signal.aborted) break;
    if (found.outcome !== AGAIN) return found;
    waiting();
    await connectionOr(wait, signal);
  }
  return { outcome: null };
}

function connectionOr(wait, signal) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, wait);
    addEventListener("online", done);
    signal.addEventListener("abort", done);
  });
}
