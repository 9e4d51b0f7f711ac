# Plan a meeting: which full hours between 8 and 17 in London are also between 8 and 17 in New York?
good() {
  local h
  h=$(mcp call time.convert_time source_timezone=Europe/London time="$1" target_timezone=America/New_York | jq -r '.target.datetime[11:13]')
  [ $((10#$h)) -ge 8 ] && [ $((10#$h)) -lt 17 ] && echo "$1 London = $h:00 New York"
}
for hour in {08..16}; do good "$hour:00" > /scratch/slot24.$hour & done
wait
cat /scratch/slot24.* | tee /workspace/slots24.txt
echo "$(wc -l < /workspace/slots24.txt) slots"
rm -f /scratch/slot24.*
