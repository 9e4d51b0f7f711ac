# Think through a release decision in four steps and report how many thoughts were recorded.
thoughts=("List the open blockers of the release" "Two blockers are only cosmetic" "The third one has a workaround" "Release on Thursday")
total=${#thoughts[@]}
for i in "${!thoughts[@]}"; do
  n=$((i + 1))
  more=true; [ "$n" -eq "$total" ] && more=false
  last=$(mcp call thinking.sequentialthinking thought="${thoughts[$i]}" thoughtNumber=$n totalThoughts=$total nextThoughtNeeded=$more)
done
jq -r '"step \(.thoughtNumber) of \(.totalThoughts), more: \(.nextThoughtNeeded)"' <<< "$last"
