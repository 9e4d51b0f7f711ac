# Evaluate a list of expressions; report those that cannot be calculated instead of stopping.
ok=0 bad=0
while IFS= read -r e; do
  if out=$(mcp call calculator.calculate expression="$e" 2>/dev/null); then
    echo "$e = $(jq -r .result <<<"$out")"
    ok=$((ok + 1))
  else
    echo "$e: cannot be calculated"
    bad=$((bad + 1))
  fi
done <<'EOF'
2 + 3 * 4
sqrt(144)
1 / 0
(7 - 2) ** 3
foo + 1
EOF
echo "$ok calculated, $bad failed"
