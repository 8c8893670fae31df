/**
 * The exit codes of `leasehold` itself. `leasehold run` returns the code of its command, so these keep away from the codes
 * of shells: 126 and 127 (the command cannot be run, is not found) and 128 + n (ended by signal n). From 64 to 78 they are
 * those of sysexits.h.
 */
export const exitCodes = {
  ok: 0,
  /** The answer is no: a law or a check of the store fails, a grant was not in force, a schedule was not paused, or no process is there. */
  no: 1,
  /** EX_USAGE: the command line is wrong. */
  usage: 64,
  /** EX_DATAERR: a file that was given is not what it should be. */
  unreadable: 65,
  /** EX_UNAVAILABLE: the store cannot be reached, or does not answer in time. The outcome may be unknown. */
  unreachable: 69,
  /** EX_SOFTWARE: a fault of `leasehold` itself. */
  internal: 70,
  /** EX_OSERR: the system cannot start another process, which has to watch the command. */
  system: 71,
  /** EX_IOERR: the output cannot be written. */
  unwritable: 74,
  /** EX_TEMPFAIL: another owner holds the lease. */
  notAcquired: 75,
  /** EX_NOPERM: the store refused the credentials, or the user may not do this. */
  unauthorised: 77,
  /** EX_CONFIG: a setting is wrong, or a package is missing. */
  configuration: 78,
  /** The lease was lost while the command ran. Beyond the codes of sysexits.h. */
  lost: 79,
} as const
