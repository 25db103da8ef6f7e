// Talking to the server. Writes carry a header that no other site's form can send; all requests say which page this is.

const CLIENT = client();

// A word of this tab's own that survives a reload; plain http from another machine has no randomUUID.
function client() {
  const made = crypto.randomUUID?.() ?? String(Math.random()).slice(2);
  try {
    if (!sessionStorage.getItem("dunno-client")) sessionStorage.setItem("dunno-client", made);
    return sessionStorage.getItem("dunno-client");
  } catch {
    return made;
  }
}

async function ask(path, options) {
  const headers = { "X-Dunno-Client": CLIENT, ...(options?.headers ?? {}) };
  const response = await fetch(`/api/${path}`, { ...options, headers }).catch(() => {
    throw new Error("The server does not answer; is dunno review still running? What it confirmed is kept.");
  });
  return read(response);
}

async function read(response) {
  const content = await response.json().catch(() => ({ reason: response.statusText }));
  if (!response.ok) throw new Error(content.reason ?? "the server refused");
  return content;
}

export const get = (path) => ask(path);

export const post = (path, content = {}) =>
  ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Dunno-Review": "1" },
    body: JSON.stringify(content),
  });

export const cropAddress = (t, box) => `/api/crop/${t}/${box.top}/${box.left}/${box.height}/${box.width}.png`;
export const aroundAddress = (t, box) => `around/${t}/${box.top}/${box.left}/${box.height}/${box.width}`;
