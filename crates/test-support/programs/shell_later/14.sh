# Create a branch for a hotfix in the repository unless it exists, and list the local branches.
branch=hotfix14
if mcp call git.git_branch repo_path=DATA/repo branch_type=local | grep -qw "$branch"; then
  echo "$branch exists already"
else
  mcp call git.git_create_branch repo_path=DATA/repo branch_name=$branch
fi
mcp call git.git_branch repo_path=DATA/repo branch_type=local | sed 's/^[* ]*//' | sort
