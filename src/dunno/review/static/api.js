// Talking to the server. Writes carry a header that no other site's form can send.

async function read(response) {
  const content = await response.json().catch(() => ({ reason: response.statusText }));
  if (!response.ok) throw new Error(content.reason ?? "the server refused");
  return content;
}

export const get = async (path) => read(await fetch(`/api/${path}`));

export const post = async (path, content = {}) =>
  read(await fetch(`/api/${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Dunno-Review": "1" },
    body: JSON.stringify(content),
  }));

export const cropAddress = (t, box) => `/api/crop/${t}/${box.top}/${box.left}/${box.height}/${box.width}.png`;
