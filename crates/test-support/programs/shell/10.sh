# What time is it now in London, Tokyo, Los Angeles and São Paulo? Ask for all at once.
declare -A zone=([London]=Europe/London [Tokyo]=Asia/Tokyo [LosAngeles]=America/Los_Angeles [SaoPaulo]=America/Sao_Paulo)
mkdir -p /scratch/time10
for city in "${!zone[@]}"; do
  mcp call time.get_current_time timezone="${zone[$city]}" > "/scratch/time10/$city.json" &
done
wait
for city in "${!zone[@]}"; do
  jq -r --arg c "$city" '"\(.datetime | sub("T"; " ") | .[0:16])  \($c) (\(.day_of_week)\(if .is_dst then ", summer time" else "" end))"' "/scratch/time10/$city.json"
done | sort
