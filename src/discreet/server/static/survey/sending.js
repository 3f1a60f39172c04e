// The one request that a respondent's page ever makes by itself: the donation's bytes, and nothing else.

const FIRST_WAIT = 2_000;
const LONGEST_WAIT = 60_000;
const LATER = new Set([408, 425, 429, 500, 502, 503, 504]);

export const SENT = "sent";
export const CLOSED = "closed";
export const REFUSED = "refused";
export const GONE = "gone"; // withdrawn, forgotten or settled in another tab
const AGAIN = "again";
const LONGEST_REASON = 5_000;

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
  if (response.status === 409) return { outcome: CLOSED };
  return { outcome: REFUSED, reason: await reasonOf(response) };
}

// The server's own words, if it has any, whatever its body is, even one that does not end.
async function reasonOf(response) {
  const late = new Promise((resolve) => setTimeout(resolve, LONGEST_REASON, null));
  const said = await Promise.race([response.json().catch(() => null), late]);
  return typeof said?.detail === "string" ? said.detail : "";
}

// One try, if the report is still to be sent; it ends early where another tab withdraws or forgets it.
export async function tryOnce(address, report, signal) {
  const stop = new AbortController();
  const halt = () => stop.abort();
  const look = () => report.isPending() || halt();
  signal.addEventListener("abort", halt);
  addEventListener("storage", look);
  try {
    const sending = await report.beginIfPending(() => sendOnce(address, report.bytes, stop.signal));
    return sending ? await sending.begun : { outcome: GONE };
  } finally {
    signal.removeEventListener("abort", halt);
    removeEventListener("storage", look);
  }
}

// Send until there is an answer: again when there is a connection, and after ever longer waits. Safe,
// because a collector takes a one-use id once. `signal` stops it; then the outcome is null. Before each try
// `report` ({ bytes, isPending, beginIfPending }) is asked whether it is still to be sent.
export async function sendUntilAnswered(address, report, { signal, waiting }) {
  for (let wait = FIRST_WAIT; !signal.aborted; wait = Math.min(2 * wait, LONGEST_WAIT)) {
    const found = await tryOnce(address, report, signal);
    if (signal.aborted) break;
    if (found.outcome !== AGAIN) return found;
    if (!report.isPending()) return { outcome: GONE };
    waiting();
    await connectionOr(wait, report, signal);
  }
  return { outcome: null };
}

// Until there is a connection, the wait is over, or another tab has changed what is to be sent.
function connectionOr(wait, report, signal) {
  return new Promise((resolve) => {
    const look = () => report.isPending() || done();
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      removeEventListener("storage", look);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, wait);
    addEventListener("online", done);
    addEventListener("storage", look);
    signal.addEventListener("abort", done);
  });
}
