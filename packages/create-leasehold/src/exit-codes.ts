/** The exit codes of `create-leasehold`. From 64 on they are those of sysexits.h. */
export const exitCodes = {
  ok: 0,
  /** EX_USAGE: the command line is wrong. */
  usage: 64,
  /** EX_NOINPUT: the input has ended before all questions were answered. */
  noInput: 66,
  /** EX_SOFTWARE: a fault of this program. */
  internal: 70,
  /** EX_CANTCREAT: the folder cannot be written, or is not empty. */
  cannotCreate: 73,
  /** Ended by Ctrl-C, as a shell counts it. */
  interrupted: 130,
} as const
