// A copy of this page for a reload without a connection: made when somebody begins to answer, gone when
// something was sent or nothing will be. Where a browser cannot do it, a reload needs a connection.

const WORKER = "/s/worker.js";
const PAGE = location.pathname;
const COPY = "discreet survey page ";
const LOCK = "discreet survey page"; // held together by tabs that make copies, alone by one that forgets them
let making = Promise.resolve();

export function keepPage() {
  making = navigator.locks.request(LOCK, { mode: "shared" }, made).catch(() => undefined);
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
  await globalThis.caches?.delete(`${COPY}${PAGE}`);
}

// Whether this browser keeps a copy of the page of any survey of this site.
export async function keepsPages() {
  return (await copies()).length + (await workers()).length > 0;
}

// The copies of all surveys of this site. First those that are there, which ends any that is just being made
// in another tab; then, when none is being made, what that left.
export async function forgetPages() {
  await removeAll();
  await navigator.locks?.request(LOCK, removeAll);
}

async function removeAll() {
  for (const found of await workers()) await found.unregister();
  for (const name of await copies()) await caches.delete(name);
}

async function copies() {
  const names = (await globalThis.caches?.keys()) ?? [];
  return names.filter((name) => name.startsWith(COPY));
}

async function workers() {
  const found = (await navigator.serviceWorker?.getRegistrations()) ?? [];
  return found.filter(({ installing, waiting, active }) => isOurs(active ?? waiting ?? installing));
}

const isOurs = (worker) => worker?.scriptURL === new URL(WORKER, location.href).href;
