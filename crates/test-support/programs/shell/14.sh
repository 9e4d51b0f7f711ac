# Create a branch for a new feature in the repository, check that it exists and that the current branch has not changed.
repo=DATA/repo
branch="feature/login-$(date +%s)"
before=$(mcp call git.git_status repo_path=$repo | grep -oE 'On branch [^ ]+' | head -1)
mcp call git.git_create_branch repo_path=$repo branch_name="$branch"
if mcp call git.git_branch repo_path=$repo branch_type=local | grep -qF "$branch"; then
  echo "$branch exists"
else
  echo "$branch is missing"; exit 1
fi
after=$(mcp call git.git_status repo_path=$repo | grep -oE 'On branch [^ ]+' | head -1)
[ "$before" = "$after" ] && echo "still: $after"
