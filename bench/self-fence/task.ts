/** For how long a lease is granted, in milliseconds. */
export const TTL = 2_000

/** The work of a holder that goes on after its lease: it never yields, or it yields and ignores its signal. */
export type Code = 'blocks' | 'ignores'

/** The task of one holder process. */
export interface HolderTask {
  readonly fence: 'kill' | undefined
  readonly code: Code
  readonly folder: string
  /** The leases that it holds. */
  readonly names: readonly string[]
  /** The file for the time of its last work. */
  readonly file: string
}

/** The monotonic clock of the machine, in milliseconds: all processes have one origin. */
export function machineTime(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
