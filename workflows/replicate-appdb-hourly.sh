#!/bin/sh
# Every hour, paused at first. Start it when the first run by hand went well:
#   temporal schedule toggle --schedule-id replicate-appdb-hourly --unpause --reason 'first run is fine'
# BufferOne: a run that takes longer than an hour is followed by one more, not by a pile.
# A worker or server that was down catches up on the last hour only, with one run.
exec "${TEMPORAL_CLI:-temporal}" schedule create \
  --schedule-id replicate-appdb-hourly \
  --cron '0 * * * *' \
  --time-zone UTC \
  --overlap-policy BufferOne \
  --catchup-window 1h \
  --paused \
  --notes 'paused until somebody starts it' \
  --type Replicate \
  --task-queue millrace \
  --workflow-id replicate-appdb-hourly \
  --input-file "$(dirname "$0")/replicate-appdb-hourly.json" \
  "$@"
