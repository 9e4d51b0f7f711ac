// `node:querystring`, under the name of the module.

export * from "./query_string.js";
export { default } from "./query_string.js";
