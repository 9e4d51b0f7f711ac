# Check a list of paths: which can be read, which not? Give the size of the ones that exist.
mcp call filesystem.write_file path=DATA/files/exists27.txt content="some content" >/dev/null
printf '%s\n' DATA/files/exists27.txt DATA/files/missing27.txt /etc/shadow | while read -r p; do
  info=$(mcp call filesystem.get_file_info path="$p" 2>/scratch/err27 </dev/null) \
    && echo "ok   ${p##*/} $(jq -r .content <<< "$info" | awk -F': *' '$1 == "size" {print $2}')" \
    || echo "fail ${p##*/}: $(head -n 1 /scratch/err27 | cut -c1-60)"
done
