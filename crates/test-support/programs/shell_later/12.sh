# Store the latest commit message of the repository as an observation in the knowledge graph.
msg=$(mcp call git.git_log repo_path=DATA/repo max_count=1 | grep -i 'message' | head -n 1 | sed "s/^ *[Mm]essage: *//")
jq -n --arg m "last commit: ${msg:-unknown}" '{entities: [{name: "repo12", entityType: "repository", observations: [$m]}]}' |
  mcp call memory.create_entities - >/dev/null
mcp call memory.open_nodes '{"names": ["repo12"]}' | jq -r '.entities[0] | "\(.name) (\(.entityType)): \(.observations | join("; "))"'
