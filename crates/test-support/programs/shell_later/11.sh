# Write five text files in a new folder and list those that contain a TODO, with the number of TODOs.
mcp call filesystem.create_directory path=DATA/files/src11 >/dev/null
for i in 1 2 3 4 5; do
  text="module $i"
  for ((k = 1; k < i; k += 2)); do text+=$'\n'"# TODO: step $k"; done
  mcp call filesystem.write_file path="DATA/files/src11/m$i.py" content="$text" >/dev/null
done
mcp call filesystem.list_directory path=DATA/files/src11 | jq -r .content | sed -n 's/^\[FILE\] //p' | sort |
while read -r name; do
  n=$(mcp call filesystem.read_text_file path="DATA/files/src11/$name" </dev/null | jq -r .content | grep -c TODO)
  [ "$n" -gt 0 ] && echo "$name $n"
done
exit 0
