sleep 1
for name in job daemon deaf coprocess orphan; do
  if [[ -e $TMPDIR/left-$name ]]; then echo "$name: acted"; else echo "$name: ended"; fi
done
