# Change the version in a configuration file, first as a dry run, then for real, and show the new version.
f=DATA/files/config16.yaml
mcp call filesystem.write_file path=$f content=$'name: shop\nversion: 1.4.0\nreplicas: 2\n' >/dev/null
edits='[{"oldText": "version: 1.4.0", "newText": "version: 1.5.0"}]'
mcp call filesystem.edit_file path=$f edits="$edits" dryRun=true | jq -r .content | grep -E '^[+-][a-z]'
mcp call filesystem.edit_file path=$f edits="$edits" >/dev/null
mcp call filesystem.read_text_file path=$f | jq -r .content | awk '/^version:/ {print "now", $2}'
