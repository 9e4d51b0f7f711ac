// task: Is a.txt in the working tree the same as in the last commit? Show me both line counts.
// expect: an object with same (boolean), headLines and workLines; same is true when git_status reports a clean tree
const repo = "DATA/repo";

const [head, work, status] = await Promise.all([
  tools.git.git_show({ repo_path: repo, revision: "HEAD:a.txt" }),
  tools.filesystem.read_text_file({ path: `${repo}/a.txt` }),
  tools.git.git_status({ repo_path: repo }),
]);

const headText = typeof head === "string" ? head : JSON.stringify(head);
const normalize = (s: string) => s.replace(/\r\n/g, "\n").trimEnd();
const lines = (s: string) => normalize(s).split("\n").length;

return {
  same: normalize(headText) === normalize(work.content),
  headLines: lines(headText),
  workLines: lines(work.content),
  clean: /nothing to commit/.test(String(status)),
};
