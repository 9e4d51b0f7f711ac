# Compute the monthly payments of a loan of 20000 at 4% for 2, 3 and 5 years and write a table to /results.
set -e
mkdir -p /results
out=/results/loan04.tsv
printf 'years\tpayment\n' > "$out"
for years in 2 3 5; do
  n=$((years * 12))
  p=$(mcp call calculator.calculate expression="20000 * (0.04/12) / (1 - (1 + 0.04/12)**(-$n))" | jq -r .result)
  printf '%d\t%.2f\n' "$years" "$p" >> "$out"
done
cat "$out"
