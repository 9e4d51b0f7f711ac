# Who committed to the repository how often? Count the commits of each author.
log=$(mcp call git.git_log repo_path=DATA/repo max_count=50)
printf '%s\n' "$log" | grep -i '^ *Author' | sed 's/^ *Author: *//' | sort | uniq -c | sort -rn
echo "commits: $(printf '%s\n' "$log" | grep -ci '^ *commit')"
