// Reaches for the network with each class and module that JavaScript engines offer for it.

const ADDRESS = "http://127.0.0.1:1/";
const GLOBALS = ["Deno", "Bun", "navigator", "WebTransport", "RTCPeerConnection"];
const MODULES = ["net", "http", "https", "http2", "dns", "dgram", "tls"];

await attempt("fetch", () => fetch(ADDRESS));
await attempt("fetch_request", () => fetch(new Request(ADDRESS, { method: "POST", body: "x" })));
await attempt("fetch_file", () => fetch("file:///etc/passwd"));
await attempt("web_socket", () => new WebSocket("ws://127.0.0.1:1/"));
await attempt("event_source", () => new EventSource(ADDRESS));
await attempt("xml_http_request", () => new XMLHttpRequest());
await attempt("import_url", () => import(`${ADDRESS}module.js`));
await attempt("import_secure_url", () => import("https://127.0.0.1:1/module.ts"));
await attempt("import_package", () => import("npm:left-pad"));
for (const name of MODULES) {
  await attempt(`import_${name}`, () => import(`node:${name}`));
  await attempt(`require_${name}`, () => require(name));
}
await attempt("require_made", () => require("node:module").createRequire("/etc/x.js")("net"));
look("other_globals", GLOBALS.some((name) => name in globalThis));
