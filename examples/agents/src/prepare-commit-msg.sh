#!/bin/sh
# #region hook
# The hook prepare-commit-msg: every commit of a command under `leasehold run` has its token.
if [ -n "$LEASEHOLD_FENCING_TOKEN" ]; then
  git interpret-trailers --in-place --if-exists replace --trailer "Fencing-Token: $LEASEHOLD_FENCING_TOKEN" "$1"
fi
# #endregion hook
