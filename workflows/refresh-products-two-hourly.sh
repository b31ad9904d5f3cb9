#!/bin/sh
# Ten minutes past every second hour, paused at first. Start it when the first refresh by hand went well:
#   temporal schedule toggle --schedule-id refresh-products --unpause --reason 'first refresh is fine'
# Skip: a refresh that still waits for an approval is not joined by a second one.
exec "${TEMPORAL_CLI:-temporal}" schedule create \
  --schedule-id refresh-products \
  --cron '10 */2 * * *' \
  --time-zone UTC \
  --overlap-policy Skip \
  --catchup-window 1h \
  --paused \
  --notes 'paused until somebody starts it' \
  --type RefreshDimension \
  --task-queue millrace \
  --workflow-id refresh-products-scheduled \
  --input-file "$(dirname "$0")/refresh-products.json" \
  "$@"
