# Count the words of a text that the user gave, show the five most frequent and keep them as an insight.
mcp call filesystem.write_file path=DATA/files/text28.txt content="$(cat <<'EOF'
The quick brown fox jumps over the lazy dog. The dog sleeps;
the fox runs. A fox is quick, a dog is lazy, and the cat watches the dog.
EOF
)" >/dev/null
top=$(mcp call filesystem.read_text_file path=DATA/files/text28.txt | jq -r .content | tr 'A-Z' 'a-z' | tr -cs 'a-z' '\n' |
  grep . | sort | uniq -c | sort -k1,1nr -k2 | head -n 5)
echo "$top"
mcp call sqlite.append_insight insight="Most frequent words: $(awk '{print $2}' <<< "$top" | xargs | tr ' ' ',')"
