echo 'got_there: allowed'
unset -f codeyard_turn codeyard_end codeyard_find_trap 2>/dev/null
unset codeyard_loop codeyard_exit codeyard_orders codeyard_reports codeyard_text 2>/dev/null
read() { command echo fake; }
printf() { command echo fake; }
exec() { command echo fake; }
trap() { command echo fake; }
alias builtin=false
PATH=$TMPDIR IFS=0123456789 BASH_ENV=$TMPDIR/env ENV=$TMPDIR/env
command echo 'echo "$PWD" > /dev/full' > "$TMPDIR/env"
command echo 'turn 0 1' >&"$codeyard_reports"
command echo 'turn 99999 99999' >&"$codeyard_reports"
builtin set -- a b c
builtin set -o posix
rm -rf "$TMPDIR"/* "$TMPDIR"/.codeyard 2>/dev/null
