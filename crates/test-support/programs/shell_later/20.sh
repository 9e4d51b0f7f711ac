# Commit a new changelog file to the repository and show the files of the commit.
set -e
stamp=$(date +%s)
file=changes20-$stamp.md
mcp call filesystem.write_file path="DATA/repo/$file" content="# Changes
- first entry of $stamp" >/dev/null || { echo "cannot write to the repository"; exit 0; }
jq -n --arg f "$file" '{repo_path: "DATA/repo", files: [$f]}' | mcp call git.git_add - >/dev/null
mcp call git.git_diff_staged repo_path=DATA/repo | grep -c '^+[^+]'
mcp call git.git_commit repo_path=DATA/repo message="Add $file" >/dev/null
mcp call git.git_show repo_path=DATA/repo revision=HEAD | grep -F "$file" | head -n 3
