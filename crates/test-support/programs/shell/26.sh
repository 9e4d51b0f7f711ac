# Tidy up an inbox folder: move the pictures, documents and the rest into folders of their own.
base=DATA/files/inbox26_$(date +%s)
mcp call filesystem.create_directory path=$base > /dev/null
for f in cat.png report.pdf dog.jpg notes.txt data.bin; do
  mcp call filesystem.write_file path=$base/$f content=x > /dev/null
done
folder() { case $1 in *.png|*.jpg) echo pictures ;; *.pdf|*.txt) echo documents ;; *) echo other ;; esac; }
mcp call filesystem.list_directory path=$base | jq -r .content | sed -n 's/^\[FILE\] //p' | while read -r name; do
  to=$base/$(folder "$name")
  mcp call filesystem.create_directory path="$to" > /dev/null
  mcp call filesystem.move_file source="$base/$name" destination="$to/$name" > /dev/null && echo "$name -> ${to##*/}"
done
echo "left in the inbox: $(mcp call filesystem.list_directory path=$base | jq -r .content | grep -c '^\[FILE\]')"
