# When it is 9:30 in Berlin, what time is it in the other offices, and how large is the difference?
zones=(America/New_York Asia/Tokyo Australia/Sydney Asia/Kolkata)
for z in "${zones[@]}"; do
  mcp call time.convert_time source_timezone=Europe/Berlin time=09:30 target_timezone="$z" |
    jq -r '[.target.timezone, .target.datetime[11:16], .time_difference] | @tsv'
done | sort -t $'\t' -k2 | column -t -s $'\t' 2>/dev/null || echo "column is missing"
