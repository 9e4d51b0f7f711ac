# Show how a tracked file of the repository looks in the last commit, compare it with the working copy, and echo the verdict.
committed=$(mcp call git.git_show repo_path=DATA/repo revision=HEAD:a.txt)
if current=$(mcp call filesystem.read_text_file path=DATA/repo/a.txt 2>/dev/null | jq -er .content); then
  echo "working copy: $(wc -l <<< "$current") lines"
else
  echo "the working copy cannot be read by the file server"
fi
changed=$(mcp call git.git_diff_unstaged repo_path=DATA/repo context_lines=0 | grep -c '^[+-][^+-]')
printf '%s\n' "$committed" | head -n 5
mcp call everything.echo message="a.txt: ${#committed} characters committed, $changed changed lines in the repository"
