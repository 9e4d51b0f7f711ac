# The shell's side of a session. The session's first process (`shell.rs`) writes orders and reads reports.
#
# Arguments: the descriptors of the orders, of the reports, of the file that holds the program, and of the two streams.
# Programs may redefine everything that is not read-only here, also `builtin`; then only their own session suffers.

readonly codeyard_orders=$1 codeyard_reports=$2 codeyard_text=$3 codeyard_stdout=$4 codeyard_stderr=$5
readonly BASHPID
set --
codeyard_status=0 codeyard_order='' codeyard_program='' codeyard_tracing='' codeyard_before='' codeyard_after=''

shopt -s expand_aliases
# The stack is smaller than what an endless recursion needs.
FUNCNEST=4000

# Runs programs until one ends the shell. `break` at the top level of a program ends the loop, and `exit` the shell;
# the trap on EXIT then goes on in a copy. Texts are parsed when programs have defined aliases, so names are quoted.
# The loop is one line, for the same reason as the file `program`.
readonly codeyard_loop='while codeyard_turn; do \builtin eval "$codeyard_before"; '\
'\builtin eval "$codeyard_program"; { codeyard_end "$?"; } 2>/dev/null; \builtin eval "$codeyard_after"; done'

# A subshell has all variables, functions, aliases and options of the shell that it was copied from.
readonly codeyard_exit='{ codeyard_end "$?"; } 2>/dev/null; (\builtin eval "$codeyard_loop")'

# A copy that takes over if the program ends the shell without that trap, as `exec` does.
readonly codeyard_copy='(\builtin read -r -u "$codeyard_orders" codeyard_order && \builtin eval "$codeyard_loop") &
\builtin printf "copy 0 %d\n" "$!" >&"$codeyard_reports"; \builtin disown "$!"'

# A trap on EXIT that the program has set runs at the end of the program.
readonly codeyard_trap='if codeyard_find_trap; then \builtin eval "$codeyard_action"; fi'

# Reports how the last program ended, and waits for the next one.
codeyard_turn() {
  { builtin set +x; } 2>/dev/null
  exec </dev/null >&"$codeyard_stdout" 2>&"$codeyard_stderr"
  builtin trap -- "$codeyard_exit" EXIT
  # A signal to the program that has ended must not end the shell, which has reported its turn: an interrupt may come
  # late, and the kernel hangs up a group whose leader has ended while the host has stopped the others.
  builtin trap '' HUP INT TERM
  builtin printf 'turn %d %d\n' "$codeyard_status" "$BASHPID" >&"$codeyard_reports"
  codeyard_status=0
  while IFS= builtin read -r -u "$codeyard_orders" codeyard_order; do
    case $codeyard_order in
      'open '*)
        builtin cd -- "${codeyard_order#open }"
        builtin unset OLDPWD
        ;;
      'seed '*)
        # A failed assignment would end the loop. Without `RANDOM`, or with one that is read-only, there is nothing to seed.
        [[ -v RANDOM && ${RANDOM@a} != *r* ]] && RANDOM=${codeyard_order#seed }
        ;;
      'clock '*)
        codeyard_set_clock "${codeyard_order#clock }"
        ;;
      run*)
        if [[ $codeyard_order == *' file' ]]; then
          IFS= builtin read -r -d '' -u "$codeyard_text" codeyard_program
        else
          IFS= builtin read -r -d '' -u "$codeyard_orders" codeyard_program
        fi
        codeyard_program=$codeyard_tracing$codeyard_program
        builtin trap 'exit 129' HUP
        builtin trap 'exit 130' INT
        builtin trap 'exit 143' TERM
        codeyard_before='' codeyard_after=''
        if [[ $codeyard_order == 'run guarded'* ]]; then
          codeyard_before=$codeyard_copy codeyard_after=$codeyard_trap
        fi
        return 0
        ;;
    esac
  done
  # The first process is gone.
  builtin kill -KILL "$BASHPID"
}

# Gives a repeated program the clock of its recording: seconds, and microseconds of the second.
codeyard_set_clock() {
  codeyard_seconds=${1% *}
  builtin unset EPOCHSECONDS EPOCHREALTIME
  EPOCHSECONDS=$codeyard_seconds EPOCHREALTIME=$codeyard_seconds.${1#* }
  # Only where no other time is asked for.
  date() {
    local codeyard_word
    for codeyard_word; do
      case $codeyard_word in
        -d* | -r* | -s* | -f* | --date* | --reference* | --set* | --file*) command date "$@"; return ;;
      esac
    done
    command date -d "@$codeyard_seconds" "$@"
  }
  export codeyard_seconds
  export -f date
}

# Notes how a program has ended. Traps are the program's own.
codeyard_end() {
  codeyard_status=$1
  codeyard_tracing=''
  [[ $- == *x* ]] && codeyard_tracing='set -x;'
  builtin set +x
  builtin trap - QUIT USR1 USR2 PIPE ALRM CHLD ERR DEBUG RETURN
  # What still runs is killed; the shell need not say so in the next run.
  builtin disown -a
}

# Whether the program has set a trap on EXIT; puts its commands into `codeyard_action`.
codeyard_find_trap() {
  local codeyard_words
  builtin eval "codeyard_words=($(builtin trap -p EXIT))"
  codeyard_action=${codeyard_words[2]-}
  builtin trap -- "$codeyard_exit" EXIT
  [[ -n $codeyard_action && $codeyard_action != "$codeyard_exit" ]]
}

readonly -f codeyard_turn codeyard_end codeyard_find_trap codeyard_set_clock
