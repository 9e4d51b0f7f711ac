# Save a small application log and report how many lines of each level it has, most frequent first.
mcp call filesystem.write_file path=DATA/files/app01.log content="2024-05-01 INFO start
2024-05-01 WARN disk at 81%
2024-05-01 ERROR cannot open socket
2024-05-02 INFO retry
2024-05-02 ERROR cannot open socket
2024-05-02 INFO stop" >/dev/null
mcp call filesystem.read_text_file path=DATA/files/app01.log | jq -r .content |
  awk '{n[$2]++} END {for (l in n) print n[l], l}' | sort -k1,1nr -k2
