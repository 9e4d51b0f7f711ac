# Compare the branch that I just made with HEAD; a comparison with an unknown branch must be reported, not break the program.
b=compare29-$RANDOM$RANDOM
mcp call git.git_create_branch repo_path=DATA/repo branch_name=$b >/dev/null || exit
for target in $b no-such-branch-29; do
  diff=$(mcp call git.git_diff repo_path=DATA/repo target=$target context_lines=0 2>/scratch/err29) || {
    echo "$target: cannot be compared: $(head -n 1 /scratch/err29 | cut -c1-100)"
    continue
  }
  echo "$target: $(grep -cE '^[+-]([^+-]|$)' <<<"$diff") changed lines"
done
staged=$(mcp call git.git_diff_staged repo_path=DATA/repo) && echo "staged: $(grep -c '^diff --git' <<<"$staged") files"
