// Sending a file with a bar that tells how much has been sent (fetch cannot tell).
import { csrf, Problem } from "./api.js";

export function sendFile(path, file, progress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/api/v1${path}`);
    request.setRequestHeader("X-CSRF-Token", csrf);
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded, total }) => progress(total ? loaded / total : 0));
    request.addEventListener("load", () => {
      if (request.status < 300) resolve(request.response);
      else reject(new Problem(request.status, request.response ?? {}));
    });
    request.addEventListener("error", () => {
      reject(new Problem(0, { detail: "The connection broke off, so it is not known whether the server has the file.", hint: "The server may be gone, or the file is too large for it. Reload the page: it lists the files that arrived." }));
    });
    const form = new FormData();
    form.append("file", file);
    request.send(form);
  });
}
