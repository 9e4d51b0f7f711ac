# Think through the move of a service to a new database in four recorded steps, and print the plan.
steps=(
  "List the tables and the queries of the service"
  "Copy the data while the old database stays the master"
  "Compare the row counts and checksums of both"
  "Switch the reads and the writes, keep the old one for a week"
)
n=${#steps[@]}
for i in "${!steps[@]}"; do
  k=$((i + 1))
  if [ $k -lt $n ]; then more=true; else more=false; fi
  mcp call thinking.sequentialthinking thought="${steps[$i]}" thoughtNumber=$k totalThoughts=$n nextThoughtNeeded=$more \
    | jq -r --arg t "${steps[$i]}" '"\(.thoughtNumber)/\(.totalThoughts) \($t)\(if .nextThoughtNeeded then "" else " (done)" end)"'
done
