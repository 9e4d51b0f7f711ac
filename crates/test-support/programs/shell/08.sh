# How do 10000 euros grow at 3, 4 and 5 percent interest over 10 years?
for rate in 3 4 5; do
  value=$(mcp call calculator.calculate expression="10000 * (1 + $rate / 100) ** 10" | jq -r .result)
  printf '%d%%: %.2f\n' "$rate" "$value"
done
