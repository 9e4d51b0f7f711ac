# Add up the amounts of an expense list with the sum tool and compare with the calculator.
expenses=(19 250 7 42)
sum=0
for e in "${expenses[@]}"; do
  sum=$(mcp call everything.get_sum a=$sum b=$e | grep -oE '[0-9]+' | tail -n 1)
done
expr=$(IFS=+; echo "${expenses[*]}")
check=$(mcp call calculator.calculate expression="$expr" | jq -r .result)
echo "sum tool: $sum, calculator: $check"
[ "$sum" -eq "$check" ] && echo equal
