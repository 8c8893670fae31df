/** The command line is wrong. The message says how to mend it. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
