# Which of these time zones are valid? Print the weekday and time for the valid ones and warn about the others.
ok=0 bad=0
for z in Europe/Vienna Mars/Olympus America/Chicago Europe/Atlantis; do
  if r=$(mcp call time.get_current_time timezone=$z 2>/dev/null); then
    jq -r '"\(.timezone): \(.day_of_week) \(.datetime[11:16])"' <<< "$r"
    ok=$((ok + 1))
  else
    echo "$z: unknown time zone"
    bad=$((bad + 1))
  fi
done
echo "$ok valid, $bad invalid"
