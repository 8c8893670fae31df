#!/bin/sh
# #region start
set -e
leasehold run migrations --once "$RELEASE" --wait 10m -- npx prisma migrate deploy
exec node server.js
# #endregion start
