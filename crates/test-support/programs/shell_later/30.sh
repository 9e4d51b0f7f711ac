# Estimate three project tasks, store them as entities, add a review remark and print a sorted plan with the total.
set -e
tasks=$(cat <<'EOF'
design 3
build 8
test 5
EOF
)
jq -R 'split(" ") | {name: "task30-\(.[0])", entityType: "task", observations: ["days=\(.[1])"]}' <<< "$tasks" |
  jq -s '{entities: .}' | mcp call memory.create_entities - >/dev/null
mcp call memory.add_observations '{"observations": [{"entityName": "task30-build", "contents": ["needs review"]}]}' >/dev/null
mcp call memory.open_nodes names='["task30-design", "task30-build", "task30-test"]' |
  jq -r '.entities[] | "\(.observations[0] | ltrimstr("days="))\t\(.name)\t\(.observations[1:] | join(", "))"' | sort -n | tee /workspace/plan30.tsv
total=$(mcp call calculator.calculate expression="$(cut -f1 /workspace/plan30.tsv | paste -sd+ -)" | jq -r .result)
echo "total $total days"
mcp call thinking.sequentialthinking thought="The plan takes $total days" thoughtNumber=1 totalThoughts=1 nextThoughtNeeded=false | jq -c '{thoughtNumber, nextThoughtNeeded}'
