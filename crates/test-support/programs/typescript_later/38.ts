// List the resources that the demo server offers, by kind, and fetch the text of resource number 1.
type Block = { type: string; text?: string; uri?: string; name?: string; mimeType?: string; resource?: { uri: string; text?: string; blob?: string; mimeType?: string } };

const links = (await tools.everything.get_resource_links({ count: 4 })) as Block[] | string;
const list: Block[] = Array.isArray(links) ? links : [];
const byMime = new Map<string, string[]>();
for (const b of list) {
  if (b.type !== "resource_link") continue;
  const key = b.mimeType ?? "unknown";
  byMime.set(key, (byMime.get(key) ?? []).concat(b.uri ?? b.name ?? "?"));
}

const ref = await tools.everything.get_resource_reference({ resourceType: "Text", resourceId: 1 });
const embedded = (Array.isArray(ref) ? (ref as Block[]) : []).find((b) => b.type === "resource")?.resource;
const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(embedded?.text ?? ""));
const hex = Array.from(new Uint8Array(digest), (b) => b.toString(16).padStart(2, "0")).join("");
return { kinds: Object.fromEntries(byMime), uri: embedded?.uri, text: embedded?.text?.slice(0, 80), sha256: hex.slice(0, 12) };
