# A meeting is at 15:00 in Berlin: what time is that for the colleagues in New York, Tokyo, Kolkata and Sydney?
zones="America/New_York Asia/Tokyo Asia/Kolkata Australia/Sydney"
for z in $zones; do
  mcp call time.convert_time source_timezone=Europe/Berlin time=15:00 target_timezone=$z \
    | jq -r '[.target.timezone, .target.datetime[11:16], .target.day_of_week, .time_difference] | @tsv'
done | sort -t$'\t' -k2 | awk -F'\t' '{ printf "%-20s %s %-10s (%s)\n", $1, $2, $3, $4 }'
