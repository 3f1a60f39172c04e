// The server's API as promises. A refusal is a Problem: one sentence and one way out.

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || "The server did not answer.");
    this.status = status;
    this.kind = body.kind || "ServerFailed";
    this.hint = body.hint || "";
  }
}

export const csrf = document.querySelector('meta[name="csrf"]')?.content || "";

export async function call(method, path, body, { signal, headers = {} } = {}) {
  const options = { method, signal, headers: { Accept: "application/json", ...headers } };
  if (method !== "GET") options.headers["X-CSRF-Token"] = csrf;
  if (body instanceof FormData) {
    options.body = body;
  } else if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const response = await reach(path, options);
  const found = response.status === 204 ? {} : await response.json().catch(() => ({}));
  if (response.status === 401) window.location.assign("/");
  if (!response.ok) throw new Problem(response.status, found);
  return found;
}

async function reach(path, options) {
  try {
    return await fetch(`/api/v1${path}`, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    const hint = "Is it still running? What you wrote is still on this page.";
    throw new Problem(0, { detail: "The server cannot be reached.", hint });
  }
}

export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
