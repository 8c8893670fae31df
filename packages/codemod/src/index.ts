export type { Leftover } from './leftover.js'
export { type ChangedFile, changeRedlock, type RedlockChanges } from './redlock/change-redlock.js'
export type { ChangedLines } from './text-edit.js'
export { UsageError } from './usage-error.js'
