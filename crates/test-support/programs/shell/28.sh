# Write a daily report with the date, the state of the repository and the tables of the database to /results.
mkdir -p /scratch/r28
mcp call time.get_current_time timezone=Europe/Paris > /scratch/r28/time &
mcp call git.git_status repo_path=DATA/repo > /scratch/r28/status &
mcp call git.git_show repo_path=DATA/repo revision=HEAD:a.txt > /scratch/r28/a &
mcp call sqlite.list_tables > /scratch/r28/tables &
wait
{
  echo "# Report of $(jq -r '"\(.day_of_week), \(.datetime[0:10])"' /scratch/r28/time)"
  echo; echo "## Repository"
  sed 's/^/    /' /scratch/r28/status
  echo "a.txt: $(wc -l < /scratch/r28/a) lines"
  echo; echo "## Database"
  cat /scratch/r28/tables
} > /results/daily28.md
mcp call sqlite.append_insight insight="daily report 28 written, $(wc -c < /results/daily28.md) bytes"
cat /results/daily28.md
