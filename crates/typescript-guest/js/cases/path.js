// Cases of `node:path`.

const PATHS = [
  "", ".", "..", "/", "//", "///", "a", "a/", "/a", "/a/", "a/b", "a//b", "/a/b/", "./a", "../a", "a/..", "a/../..",
  "/..", "/../a", "a/./b/../c", "./", "../", ".a", "a.", "a.b", "a.b.c", ".a.b", "a..b", "..a", "...", "/a/.b", "/a.b/c",
  "/a/b.c/", "a/b.c//", "//a", "//a//b//", "file.tar.gz", " a ", "a\\b.c", "/x/..", "/x/../", "a.b/", "./..", "/.", "a/..b", "~/x",
];
const JOINS = [
  [], [""], ["", ""], ["a", "b"], ["/a", "/b"], ["a", "..", "b"], ["a", "../../b"], ["/", ".."], ["a/", "/b/"], ["", "/a"],
  [".", "a"], ["./", "./a"], ["a", ""], ["..", "a"], ["//a", "b"],
];
const RELATIVES = [
  ["/a/b/c", "/a/d"], ["/a/b", "/a/b"], ["/a", "/a/b/c"], ["/a/b/c", "/a"], ["/", "/a"], ["/a", "/"], ["/ab", "/abc"],
  ["/abc", "/ab"], ["/a/b/", "/a/b/c/"], ["/x/y", "/a/b"], ["/foo/bar", "/foo/ba"],
];
const FORMATS = [
  {}, { base: "a.b" }, { dir: "/x", base: "a.b" }, { root: "/", base: "a" }, { root: "/", dir: "/", base: "a" },
  { name: "a", ext: ".b" }, { name: "a", ext: "b" }, { dir: "d", name: "a", ext: ".b", base: "z" }, { root: "/", name: "a" },
  { dir: "" , base: "a" }, { root: "x", dir: "y", base: "z" }, { dir: "/x/" , base: "a"},
];
const literal = JSON.stringify;
/** Node reads `/..` as a name with an extension, which no program wants. */
const pathsOf = (call) => PATHS.filter((path) => call !== "parse" || path !== "/..");

const others = {
  "resolve": `return [path.resolve("/a", "b"), path.resolve("/a", "/b"), path.resolve("/a", "..", "c/"), path.resolve("/"), path.resolve("/a", "", "b"), path.resolve("//a//")];`,
  "resolve number": `path.resolve(1);`,
  "resolve number second": `path.resolve("a", {});`,
  "join number": `path.join("a", 1);`,
  "join null": `path.join(null);`,
  "basename suffix": `return [path.basename("/a/b.c", ".c"), path.basename("a.c", "a.c"), path.basename("/a.c", "a.c"), path.basename("aa", "a"), path.basename("a.c/", ".c"), path.basename("a", ""), path.basename("a.c", "x.c"), path.basename("/", "/"), path.basename("a/b", "b"), path.basename("ab", "b")];`,
  "basename bad suffix": `path.basename("a", 1);`,
  "basename number": `path.basename(1);`,
  "dirname number": `path.dirname(true);`,
  "extname undefined": `path.extname(undefined);`,
  "parse object": `path.parse({});`,
  "normalize array": `path.normalize([]);`,
  "isAbsolute symbol": `path.isAbsolute(Symbol("a"));`,
  "relative number": `path.relative("a", 1);`,
  "relative first": `path.relative(1, "a");`,
  "format string": `path.format("a");`,
  "format null": `path.format(null);`,
  "constants": `return [path.sep, path.delimiter, path.posix === path, path.posix.posix === path.posix, path.toNamespacedPath("/a")];`,
  "namespaces": `return [require("node:path/posix") === path.posix, require("path") === path, (await import("node:path")).join("a", "b"), (await import("node:path")).default === path];`,
  "long": `return path.normalize("a/../".repeat(200000) + "b") + path.join("x/".repeat(100000)).length;`,
};

export default [
  ...["normalize", "dirname", "basename", "extname", "parse", "isAbsolute"].map((call) => ({
    name: `${call} of many`,
    code: `return ${literal(pathsOf(call))}.map((p) => [p, require("node:path").${call}(p)]);`,
  })),
  ...JOINS.map((parts) => ({ name: `join ${parts}`, code: `return require("node:path").join(...${literal(parts)});` })),
  ...RELATIVES.map(([a, b]) => ({
    name: `relative ${a} ${b}`,
    code: `return require("node:path").relative(${literal(a)}, ${literal(b)});`,
  })),
  ...FORMATS.map((parts) => ({
    name: `format ${literal(parts)}`,
    code: `return require("node:path").format(${literal(parts)});`,
  })),
  ...Object.entries(others).map(([name, code]) => ({ name, code: `const path = require("node:path"); ${code}` })),
];
