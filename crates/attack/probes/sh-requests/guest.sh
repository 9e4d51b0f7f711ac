fifo=$CODEYARD_REQUESTS/requests
head -c 3000000 /dev/urandom > "$fifo"
for n in {1..200}; do echo "{\"answer\":\"a$n\",\"name\":\"tool\",\"args\":{\"tool\":\"x\"}}"; done > "$fifo"
touch "$CODEYARD_REQUESTS/regular" /workspace/outside 2>/dev/null
ln -s /workspace/outside "$CODEYARD_REQUESTS/linked" 2>/dev/null
for name in regular linked ../outside /etc/passwd; do
  echo "{\"answer\":\"$name\",\"name\":\"search\",\"args\":{\"query\":\"x\"}}" > "$fifo"
done
ln -s /dev/zero "$CODEYARD_REQUESTS/endless.args"
mkfifo "$CODEYARD_REQUESTS/endless"
echo '{"answer":"endless","name":"tool"}' > "$fifo"
sleep 0.3
if [[ -s $CODEYARD_REQUESTS/regular ]]; then echo 'elsewhere: written'; else echo 'elsewhere: unwritten'; fi
echo 'got_there: allowed'
