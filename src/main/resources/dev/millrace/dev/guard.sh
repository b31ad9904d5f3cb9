# Runs a command and ends it when standard input ends, which is when the JVM that started us is gone, however it went.
# Arguments: the signals to end it with, blank-separated, each given 10 s to work; then the command.
signals=$1
shift
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
(
  while read -r _ <&3; do :; done
  for signal in $signals; do
    kill -s "$signal" "$child" 2>/dev/null || exit 0
    ticks=0
    while [ "$ticks" -lt 200 ] && kill -0 "$child" 2>/dev/null; do
      sleep 0.05
      ticks=$((ticks + 1))
    done
  done
) &
watcher=$!
exec 3<&-
wait "$child"
status=$?
kill "$watcher" 2>/dev/null
exit "$status"
