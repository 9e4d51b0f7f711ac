# Store a small team in the knowledge graph and tell who works on the project Apollo03.
mcp call memory.create_entities - <<'EOF' | jq -r '"created \(.entities | length) entities"'
{"entities": [
  {"name": "Apollo03", "entityType": "project", "observations": ["deadline in June"]},
  {"name": "Nina03", "entityType": "person", "observations": ["backend developer"]},
  {"name": "Omar03", "entityType": "person", "observations": ["designer"]},
  {"name": "Pia03", "entityType": "person", "observations": ["on leave"]}
]}
EOF
mcp call memory.create_relations relations='[{"from": "Nina03", "to": "Apollo03", "relationType": "works_on"}, {"from": "Omar03", "to": "Apollo03", "relationType": "works_on"}]' >/dev/null
graph=$(mcp call memory.read_graph)
jq -r '.relations[] | select(.to == "Apollo03" and .relationType == "works_on") | .from' <<<"$graph" | sort | while read -r who; do
  jq -r --arg n "$who" '.entities[] | select(.name == $n) | "\(.name): \(.observations | join(", "))"' <<<"$graph"
done
mcp call memory.delete_entities entityNames='["Apollo03", "Nina03", "Omar03", "Pia03"]' | jq -r .message
