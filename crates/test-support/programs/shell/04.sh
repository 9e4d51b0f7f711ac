# Who made the last 50 commits of the repository, and how many each?
log=$(mcp call git.git_log repo_path=DATA/repo max_count=50)
echo "commits: $(grep -c 'Commit:' <<<"$log")"
echo "$log" | grep 'Author:' | sed 's/.*Author: *//' | sort | uniq -c | sort -rn
