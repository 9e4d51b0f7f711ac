// `data:` URLs, which carry their content in themselves.

import native from "codeyard:native";

const { decode, encode } = native;
const { unescape } = globalThis;
const DEFAULT_TYPE = "text/plain;charset=US-ASCII";

/** The bytes of text in which `%41` stands for a byte. */
function percentDecode(text) {
  return encode(unescape(text.replaceAll("%u", "%25u")), "latin1");
}

/** Reads a `data:` URL: its bytes and their type; `undefined` if it is malformed. */
export function readDataUrl(href) {
  const comma = href.indexOf(",");
  if (comma < 0) return undefined;
  const hash = href.indexOf("#", comma);
  const content = percentDecode(href.slice(comma + 1, hash < 0 ? undefined : hash));
  const head = href.slice("data:".length, comma).trim();
  const last = head.lastIndexOf(";");
  const isBase64 =
    last >= 0 &&
    head
      .slice(last + 1)
      .trim()
      .toLowerCase() === "base64";
  const type = isBase64 ? head.slice(0, last).trim() : head;
  const bytes = isBase64 ? encode(decode(content, "latin1", false), "base64") : content;
  if (type === "") return { bytes, type: DEFAULT_TYPE };
  return { bytes, type: type.startsWith(";") ? `text/plain${type}` : type };
}
