# Find the words that occur in all of three text files, reading the files by one call.
d=DATA/files
i=0
for text in "the quick brown fox" "a brown fox and the dog" "the fox is brown again"; do
  i=$((i + 1))
  mcp call filesystem.write_file path=$d/words25_$i.txt content="$text" >/dev/null
done
paths=$(printf '%s\n' $d/words25_{1..3}.txt | jq -R . | jq -sc .)
mcp call filesystem.read_multiple_files paths="$paths" | jq -r .content \
  | grep -vE 'words25_|^---' | while read -r line; do tr ' ' '\n' <<<"$line" | sort -u; done \
  | grep . | sort | uniq -c | awk '$1 == 3 { print $2 }'
