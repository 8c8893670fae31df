/**
 * The variable in the environment of a command that marks its processes, wherever they go. A command under a command has the
 * ids of both, separated by a colon.
 */
export const runIdVariable = 'LEASEHOLD_RUN_ID'

/** The value of the variable for a command of this process. */
export function runIdsWith(runId: string, outer: string | undefined): string {
  return outer === undefined || outer === '' ? runId : `${outer}:${runId}`
}
