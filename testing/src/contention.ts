import { setTimeout as sleep } from 'node:timers/promises'
import { LeaseLostError, type StoreLease, systemClock } from '@leasehold/core'
import { machineTime } from '@leasehold/core/store-kit'

/** What a process of a fleet says of itself while it holds. */
export interface Reporter {
  readonly name: string
  readonly owner: string
  /** For how long it holds, in milliseconds. */
  readonly work: number
}

/** Looks often whether the lock is held, and says since when and until when it was, as a `Fleet` reads it. */
export async function reportHolding(by: Reporter, holds: () => boolean, token?: bigint): Promise<void> {
  if (!holds()) return
  const { name, owner, work } = by
  const from = machineTime()
  for (let saidAt = 0; ; ) {
    // Before the look: at some later instant it still held.
    const to = machineTime()
    if (!holds()) return
    const isDone = to - from > work
    if (isDone || to - saidAt > 20) {
      const said = { name, owner, ...(token !== undefined && { token: String(token) }), from, to }
      process.stdout.write(`${JSON.stringify(said)}\n`)
      saidAt = to
    }
    if (isDone) return
    await sleep(2)
  }
}

/**
 * The turns of a process that holds this lease. `write`: a write to a guarded resource, under the token of the turn; it is a
 * fault if the guard rejects it while the lease is valid.
 */
export function turnsUnder(
  lease: StoreLease,
  by: Reporter,
  write: (token: bigint) => Promise<void> = async () => {},
): () => Promise<void> {
  lease.on('error', () => {})
  return async () => {
    if (!(await lease.acquire({ wait: 60_000 }))) return
    const token = lease.fencingToken
    const holds = (): boolean => lease.checkLease() && lease.fencingToken === token
    const check = async (): Promise<void> => {
      const error = token === undefined ? undefined : await write(token).catch((thrown: unknown) => thrown)
      if (!(error instanceof LeaseLostError) || !holds()) return
      process.stdout.write(`${JSON.stringify({ fault: `${by.owner}: ${error.message}` })}\n`)
    }
    await check()
    await reportHolding(by, holds, token)
    await check()
    await lease.release()
  }
}

/**
 * Takes turns until SIGTERM, with a pause after each in milliseconds: it lets those in that ask now and then, because a lease
 * passes from one waiter to the next at once.
 */
export async function contend(turn: () => Promise<void>, pause: number): Promise<void> {
  // It must not outlive its parent.
  process.stdin.on('end', () => process.exit()).resume()
  let isLeaving = false
  process.once('SIGTERM', () => {
    isLeaving = true
  })
  process.stdout.write('contends\n')
  while (!isLeaving) {
    await turn().catch(() => {})
    await new Promise<void>((resolve) => systemClock.schedule(pause, resolve))
  }
  process.exit()
}
