# Save a log through the file server, fetch it into the workspace, and find the errors and the slowest request.
cd /workspace
cat > log20.txt <<'EOF'
10:00:01 INFO GET /home 32ms
10:00:02 ERROR GET /cart 951ms
10:00:04 INFO POST /login 120ms
10:00:07 WARN GET /home 640ms
10:00:09 ERROR POST /pay 1204ms
EOF
jq -n --rawfile c log20.txt '{path: "DATA/files/log20.txt", content: $c}' | mcp call filesystem.write_file - | jq -r .content
mcp call filesystem.read_text_file path=DATA/files/log20.txt | jq -j .content > copy20.txt
cmp log20.txt copy20.txt && echo "same content"
echo "errors: $(rg -c ERROR copy20.txt)"
rg -o '(\S+ \S+) (\d+)ms' -r '$2 $1' copy20.txt | sort -rn | head -n 1
