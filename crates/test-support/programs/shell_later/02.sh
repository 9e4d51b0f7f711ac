# Note three team members and their skills in the knowledge graph and list who knows Python.
mcp call memory.create_entities - <<'EOF' >/dev/null
{"entities": [
  {"name": "team02-anna", "entityType": "person", "observations": ["knows Python", "lives in Graz"]},
  {"name": "team02-ben", "entityType": "person", "observations": ["knows Go"]},
  {"name": "team02-carla", "entityType": "person", "observations": ["knows Python", "knows Rust"]}
]}
EOF
mcp call memory.search_nodes query=Python |
  jq -r '.entities[] | select(.name | startswith("team02-")) | select(any(.observations[]; . == "knows Python")) | .name' | sort
