// A copy of this page for a reload without a connection: made when somebody begins to answer, gone when
// something was sent or nothing will be. Where a browser cannot do it, a reload needs a connection.

const WORKER = "/s/worker.js";
const PAGE = location.pathname;
let making = Promise.resolve();

export function keepPage() {
  making = made().catch(() => undefined);
  return making;
}

async function made() {
  if (!navigator.onLine) return;
  const found = await navigator.serviceWorker?.register(WORKER, { scope: PAGE });
  if (found?.installing) await settled(found.installing);
}

const settled = (worker) =>
  new Promise((resolve) => {
    const look = () => ["activated", "redundant"].includes(worker.state) && resolve();
    worker.addEventListener("statechange", look);
    look();
  });

export async function forgetPage() {
  await making;
  const found = await navigator.serviceWorker?.getRegistration(PAGE);
  if (found?.scope === new URL(PAGE, location.href).href) await found.unregister();
  await globalThis.caches?.delete(`discreet survey page ${PAGE}`);
}
