# Record which service depends on which, and print the services that nothing depends on.
mcp call memory.create_entities - >/dev/null <<'EOF'
{"entities": [
  {"name": "svc17-web", "entityType": "service", "observations": ["port 80"]},
  {"name": "svc17-api", "entityType": "service", "observations": ["port 8000"]},
  {"name": "svc17-db", "entityType": "service", "observations": ["port 5432"]},
  {"name": "svc17-cron", "entityType": "service", "observations": []}
]}
EOF
printf '%s\n' "web api" "api db" "cron db" |
  jq -R 'split(" ") | {from: "svc17-\(.[0])", to: "svc17-\(.[1])", relationType: "depends_on"}' | jq -s '{relations: .}' |
  mcp call memory.create_relations - | jq '.relations | length'
mcp call memory.read_graph | jq -r '
  [.relations[] | select(.relationType == "depends_on") | .to] as $used
  | .entities[].name | select(startswith("svc17-")) | select(IN($used[]) | not)' | sort
