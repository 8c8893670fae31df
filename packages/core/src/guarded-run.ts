import type { LeaseLost } from './lease-lost.js'

/** What `run` needs of the lease that it holds. */
export interface HeldForRun {
  readonly signal: AbortSignal
  readonly fencingToken: bigint
  /** Frees the grant that the run was given, if it is still the one held; never rejects. */
  readonly release: () => Promise<void>
  /** Calls back when the grant is lost. */
  readonly onLost: (callback: (error: Error) => void) => void
}

/** The work of `run`, given while the lease is held. */
export type LeasedWork<T> = (held: { signal: AbortSignal; fencingToken: bigint }) => Promise<T>

/**
 * Does the work while the lease is held: ends with the work, or at once with the loss, whichever comes first. Work that
 * ignores its signal goes on by itself; what comes of it is then of no interest to anyone.
 */
export async function runHeld<T>(held: HeldForRun, work: LeasedWork<T>): Promise<T> {
  const { signal, fencingToken } = held
  const lost = new Promise<never>((_, reject) => held.onLost(reject))
  lost.catch(() => {})
  try {
    return await Promise.race([lost, startWork(() => work({ signal, fencingToken }))])
  } finally {
    await held.release()
  }
}

/** Work that throws before it returns a promise fails as any other. */
async function startWork<T>(work: () => Promise<T>): Promise<T> {
  return await work()
}

/** The text of the error that tells of a loss. */
export function describeLoss(name: string, { reason, owner }: LeaseLost): string {
  const by = owner === undefined || owner === '' ? '' : ` (held by '${owner}' now)`
  return `lease '${name}' was lost: ${reason}${by}`
}
