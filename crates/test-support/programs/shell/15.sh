# Remember the last commit of the repository as an observation of an entity in the knowledge graph.
head=$(mcp call git.git_log repo_path=DATA/repo max_count=1)
sha=$(grep -oE '[0-9a-f]{40}' <<<"$head" | head -n1)
[ -n "$sha" ] || { echo "no commit found" >&2; exit 1; }
mcp call memory.create_entities entities='[{"name": "repo15", "entityType": "repository", "observations": []}]' >/dev/null
jq -n --arg sha "$sha" '{observations: [{entityName: "repo15", contents: ["last commit seen: \($sha)"]}]}' \
  | mcp call memory.add_observations - | jq '.results[0].addedObservations | length'
mcp call memory.open_nodes names='["repo15"]' | jq -r '.entities[] | "\(.name): \(.observations[-1])"'
