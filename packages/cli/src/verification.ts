import { isLocked, type LeaseStore, listLeases, releaseLease, type StoreOperationOptions } from '@leasehold/core'
import { inTime } from '@leasehold/core/internal'
import { checkStoreLaw, type StoreLaw, type StoreSubject } from '@leasehold/testkit'
import type { Terminal } from './terminal.js'

/** The longest time of a law: this number of ttls, but at least this number of milliseconds. */
const LONGEST = 12
const LEAST_LIMIT = 30_000

/** The ttl of the leases, in milliseconds, unless the user or the store needs a longer one. */
const TTL = 4_000

/** Unless the user gives a ttl, it is this many times as long as the store is late with an expiry. */
const TIMES_LATE = 5

/** The outcome of one law. */
export interface Verdict {
  readonly family: string
  readonly law: string
  readonly outcome: 'kept' | 'broken' | 'skipped'
  /** Why it was skipped, or how the store broke it. */
  readonly reason?: string
}

/**
 * Releases the leases that laws have left behind. Resolves with the number of names that were used; `undefined` if the store
 * cannot list: the leases then end with their ttl.
 */
export async function releaseAll(
  store: LeaseStore,
  prefix: string,
  options: StoreOperationOptions,
): Promise<number | undefined> {
  if (store.list === undefined) return undefined
  let names = 0
  // Some laws use the name in upper case, or after a slash.
  for (const each of [prefix, prefix.toUpperCase(), `/${prefix}`]) {
    for await (const record of listLeases(store, each, options)) {
      names += 1
      if (isLocked(record)) await releaseLease(store, record.name, { grantId: record.grantId, ...options })
    }
  }
  return names
}

/** A store, as the laws see it. */
type VerifiedStore = StoreSubject & { readonly ttl: number }

/** `open`: opens one more client of the store, with connections of its own. */
export function subjectOf(
  store: LeaseStore,
  ttl: number | undefined,
  open: () => Promise<LeaseStore>,
  prefix: string,
): VerifiedStore {
  const { kind = 'custom', limits } = store
  // Each client of a store in memory would be a store of its own.
  const isShared = kind === 'memory'
  return {
    name: kind,
    time: 'real',
    remote: true,
    ttl: Math.max(ttl ?? Math.max(TTL, TIMES_LATE * (limits.frees?.extra ?? 0)), limits.minTtl),
    clients: !isShared,
    serverTime: limits.observed !== true,
    prefix,
    start: () => {
      const only = isShared ? open() : undefined
      return { open: () => only ?? open() }
    },
  }
}

/** Checks laws, `parallel` of them at the same time. `onVerdict` gets each verdict as soon as it is known. */
export async function checkLaws(
  laws: readonly StoreLaw[],
  subject: VerifiedStore,
  parallel: number,
  {
    clock,
    signal,
    onVerdict,
  }: { clock: Terminal['clock']; signal: AbortSignal; onVerdict: (verdict: Verdict) => void },
): Promise<void> {
  const queue = laws.values()
  const worker = async (): Promise<void> => {
    for (const law of queue) {
      if (signal.aborted) return
      onVerdict(await verdictOn(law, subject, clock))
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
}

async function verdictOn(law: StoreLaw, subject: VerifiedStore, clock: Terminal['clock']): Promise<Verdict> {
  const { family, name } = law
  const limit = Math.max(LONGEST * subject.ttl, LEAST_LIMIT)
  try {
    const outcome = await inTime(clock, limit, checkStoreLaw(law, subject), () => {
      throw new Error(`the store did not answer within ${limit / 1_000} s`)
    })
    return outcome.kept
      ? { family, law: name, outcome: 'kept' }
      : { family, law: name, outcome: 'skipped', reason: outcome.skipped }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    // A store that shares the naming of other programs refuses some names.
    const isRefused = law.needs.includes('any-name') && Object(error).code === 'name'
    return { family, law: name, outcome: isRefused ? 'skipped' : 'broken', reason }
  }
}
