// Keeps the respondent's page for a reload without a connection, and nothing else: the network is always
// asked first, only this page and its own files are answered, and a donation never passes through here.
const PAGE = new URL(self.registration.scope).pathname;
const KEPT = `discreet survey page ${PAGE}`;
const FILES = [
  "/static/base.css",
  "/static/controls.css",
  "/static/dom.js",
  "/static/icon.svg",
  "/static/survey/consent.js",
  "/static/survey/device/bytes.js",
  "/static/survey/device/cbor.js",
  "/static/survey/device/device.js",
  "/static/survey/device/draws.js",
  "/static/survey/device/field.js",
  "/static/survey/device/index.js",
  "/static/survey/device/memory.js",
  "/static/survey/device/promise.js",
  "/static/survey/device/randomizers.js",
  "/static/survey/device/survey.js",
  "/static/survey/leaves.js",
  "/static/survey/offline.js",
  "/static/survey/questions.js",
  "/static/survey/respond.css",
  "/static/survey/respond.js",
  "/static/survey/sending.js",
  "/static/tokens.css",
];

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(caches.open(KEPT).then((kept) => kept.addAll([PAGE, ...FILES])));
});

self.addEventListener("fetch", (event) => {
  const path = new URL(event.request.url).pathname;
  if (event.request.method !== "GET" || !(path === PAGE || FILES.includes(path))) return;
  event.respondWith(fetch(event.request).catch(() => copyOf(path)));
});

async function copyOf(path) {
  const kept = await caches.open(KEPT);
  return (await kept.match(path)) ?? Response.error();
}
