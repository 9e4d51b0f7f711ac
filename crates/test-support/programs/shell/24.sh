# Check that the test server works: echo a text with quotes and umlauts, add numbers, and report each check.
check() { # name expected actual
  if grep -qF -- "$2" <<<"$3"; then echo "ok   $1"; else echo "FAIL $1: $3"; fail=1; fi
}
fail=0
msg="it's über \$5"
check echo "$msg" "$(mcp call everything.echo message="$msg")"
check sum 42 "$(mcp call everything.get_sum a=19.5 b=22.5)"
check negative -7 "$(mcp call everything.get_sum '{"a": -10, "b": 3}')"
check message rror "$(mcp call everything.get_annotated_message messageType=error includeImage=false)"
check long ompleted "$(mcp call everything.trigger_long_running_operation duration=1 steps=2)"
exit $fail
