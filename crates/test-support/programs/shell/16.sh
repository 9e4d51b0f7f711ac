# Change the log level in a config file from debug to info: show the diff first, then apply it and check it.
f=DATA/files/app16.conf
mcp call filesystem.write_file path=$f content="name = shop
log_level = debug
workers = 4
" >/dev/null
edits='[{"oldText": "log_level = debug", "newText": "log_level = info"}]'
echo "--- preview"
mcp call filesystem.edit_file path=$f edits="$edits" dryRun=true | jq -r .content | grep -E '^[+-] ?log'
mcp call filesystem.edit_file path=$f edits="$edits" dryRun=false >/dev/null
echo "--- now"
mcp call filesystem.read_text_file path=$f | jq -r .content | grep '^log_level'
