# `attempt NAME COMMAND ...` prints `NAME: allowed`, or the name of the error that the command reports.

answer_of() {
  case $1 in
    *'Operation not permitted'*) echo EPERM ;;
    *'Permission denied'*) echo EACCES ;;
    *'Read-only file system'*) echo EROFS ;;
    *'No such file'* | *'No such device'*) echo ENOENT ;;
    *'No such process'*) echo ESRCH ;;
    *'Resource temporarily unavailable'*) echo EAGAIN ;;
    *'Network is unreachable'*) echo ENETUNREACH ;;
    *) echo failed ;;
  esac
}

attempt() {
  local name=$1 said
  shift
  if said=$("$@" 2>&1 >/dev/null </dev/null); then
    echo "$name: allowed"
  else
    echo "$name: $(answer_of "$said")"
  fi
}
