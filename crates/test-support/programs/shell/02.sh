# Write three project notes and list all open TODO items in them, with a count for each file.
dir=DATA/files/notes02
mcp call filesystem.create_directory path=$dir >/dev/null
mcp call filesystem.write_file path=$dir/alpha.md content=$'# Alpha\nTODO: write the tests\nDONE: design\nTODO: ask Ann for a review\n' >/dev/null
mcp call filesystem.write_file path=$dir/beta.md content=$'# Beta\nTODO: upgrade the database\n' >/dev/null
mcp call filesystem.write_file path=$dir/gamma.md content=$'# Gamma\nnothing to do\n' >/dev/null
mapfile -t files < <(mcp call filesystem.search_files path=$dir pattern='*.md' | jq -r .content | sort)
for f in "${files[@]}"; do
  text=$(mcp call filesystem.read_text_file path="$f" | jq -r .content)
  echo "$(basename "$f"): $(grep -c '^TODO:' <<<"$text")"
  sed -n 's/^TODO: /  - /p' <<<"$text"
done
