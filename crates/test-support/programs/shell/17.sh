# Build a small source tree and count its files by extension from the directory tree.
root=DATA/files/tree17
for d in src src/lib docs; do mcp call filesystem.create_directory path=$root/$d >/dev/null; done
for f in src/main.py src/lib/a.py src/lib/b.py docs/index.md docs/api.md src/run.sh; do
  mcp call filesystem.write_file path="$root/$f" content="file $f" >/dev/null &
done
wait
mcp call filesystem.directory_tree path=$root \
  | jq -r '.content | fromjson | [.. | objects | select(.type == "file") | .name | split(".") | last] | group_by(.) | map("\(length) \(.[0])") | .[]' \
  | sort -rn
