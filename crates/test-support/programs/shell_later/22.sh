# Compute the standard deviation of measured values that are stored in a file.
mcp call filesystem.write_file path=DATA/files/values22.txt content=$'12.5\n13.1\n11.8\n12.9\n12.2' >/dev/null
mapfile -t v < <(mcp call filesystem.read_text_file path=DATA/files/values22.txt | jq -r .content)
calc() { mcp call calculator.calculate expression="$1" | jq -r .result; }
sum=$(IFS=+; echo "${v[*]}")
mean=$(calc "($sum) / ${#v[@]}")
squares=$(printf '%s\n' "${v[@]}" | awk -v m="$mean" '{printf "%s(%s - %s)**2", (NR > 1 ? " + " : ""), $1, m}')
sd=$(calc "sqrt(($squares) / (${#v[@]} - 1))")
printf 'n=%d mean=%.3f sd=%.3f\n' "${#v[@]}" "$mean" "$sd"
