import { breakLease, LeaseError } from '@leasehold/core'
import type { Lock, LockManager, LockMode } from '@leasehold/recipes'
import type { Scenario, ScenarioView, SimulatedProcess } from '@leasehold/simulator'
import { createLockManager } from '../../src/index.js'

/** Operators break the last two; only the last one is stolen. */
const LOCKS = ['exclusive', 'mixed', 'stolen'] as const

const READERS = 3

/** A lock of the simulation, as a rule sees it. */
interface Shown {
  readonly lock: Lock
  readonly owner: string
  /** Whether the promise of its request is settled. */
  isSettled: boolean
}

/** The events of one simulation, over all its processes. */
export class Happenings {
  granted = 0
  refused = 0
  stolen = 0
  lost = 0
  aborted = 0
  /** The most shared locks at an instant, over all processes. */
  together = 0
  /** `granted` when the last fault was over. */
  quiet: number | undefined
  fault: string | undefined
  /** The largest tokens of each name so far. */
  readonly tokens = new Map<string, { readonly exclusive: bigint; readonly any: bigint }>()

  static of(shared: Map<string, unknown>): Happenings {
    const happenings = (shared.get('happenings') as Happenings | undefined) ?? new Happenings()
    shared.set('happenings', happenings)
    return happenings
  }

  ttl = 0
  /** Since when two locks of which one is exclusive are held beside each other, in true time. */
  overlaps = new Map<string, number>()

  onGrant({ lock, owner }: Shown): void {
    this.granted += 1
    // The victim of a theft may get the answer to its request after the thief.
    if (lock.name === 'stolen') return
    const { name, mode, fencingToken: token } = lock
    const last = this.tokens.get(name) ?? { exclusive: 0n, any: 0n }
    // A shared lock may have the token of one that is held already.
    if (token <= (mode === 'exclusive' ? last.any : last.exclusive)) {
      this.fault ??= `'${name}' got the token ${token} (${mode}) for ${owner} after ${last.exclusive} and ${last.any}`
    }
    const any = token > last.any ? token : last.any
    this.tokens.set(name, { exclusive: mode === 'exclusive' ? token : last.exclusive, any })
  }
}

async function workload(process: SimulatedProcess): Promise<void> {
  const { store, leaseOptions, random, shared, signal } = process
  const happenings = Happenings.of(shared)
  const ttl = leaseOptions.heartbeatTimeout ?? 0
  happenings.ttl = ttl
  const locks = createLockManager(store, { ...leaseOptions, name: 'job', readers: READERS })
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      await requestOne(process, locks, happenings)
      if (random.chance(0.03)) await breakOne(process)
      await process.sleep(ttl * random.magnitude(-1.5, 0.5))
    }
  }
  await Promise.all([loop(), loop()])
  // It rejects where a release was not confirmed in time.
  await locks.stop().catch(() => {})
}

/** An operator breaks a lease, with the rest of its ttl as the period. */
async function breakOne({ store, random, clock, signal }: SimulatedProcess): Promise<void> {
  const record = `job/${random.pick(['mixed', 'mixed/0', 'mixed/1', 'stolen', 'stolen/0'])}`
  await breakLease(store, record, { clock, signal }).catch(() => {})
}

async function requestOne(process: SimulatedProcess, locks: LockManager, happenings: Happenings): Promise<void> {
  const { leaseOptions, random, signal, show, owner } = process
  const ttl = leaseOptions.heartbeatTimeout ?? 0
  const name = random.pick(LOCKS)
  const steal = name === 'stolen' && random.chance(0.15)
  const ifAvailable = !steal && random.chance(0.2)
  const mode: LockMode = !steal && name !== 'exclusive' && random.chance(0.5) ? 'shared' : 'exclusive'
  const length = ttl * random.magnitude(-1.5, 0.5)
  const impatient = new AbortController()
  const isWaiting = !steal && !ifAvailable
  if (random.chance(0.2))
    void process.sleep(ttl * random.magnitude(-1, 0.5)).then(() => impatient.abort(new Cancelled()))
  let shown: Shown | undefined
  const options = isWaiting
    ? { mode, signal: AbortSignal.any([signal, impatient.signal]) }
    : { mode, steal, ifAvailable }
  try {
    await locks.request(name, options, async (lock) => {
      if (lock === null) {
        happenings.refused += 1
        return
      }
      const active: Shown = { lock, owner, isSettled: false }
      shown = active
      happenings.onGrant(active)
      show({
        kind: `${lock.mode} ${lock.fencingToken}`,
        of: name,
        isActive: () => lock.checkLease() && !active.isSettled,
      })
      await process.sleep(length)
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') happenings.stolen += 1
    else if (error instanceof Cancelled) happenings.aborted += 1
    else if (error instanceof LeaseError) happenings.lost += error.code === 'lost' ? 1 : 0
    else if (!signal.aborted) throw error
    if (shown !== undefined && !shown.lock.signal.aborted) {
      happenings.fault ??= `the request of ${owner} for '${name}' was rejected, and the signal of its lock is not aborted`
    }
  }
  if (shown !== undefined) shown.isSettled = true
}

/** The reason of a request that is cancelled. */
class Cancelled extends Error {}

/** An exclusive lock is alone, and there are no more processes that hold a lock shared than stated. */
function findFault({ active, shared, now }: ScenarioView): string | undefined {
  const happenings = shared.get('happenings') as Happenings | undefined
  if (happenings === undefined) return undefined
  for (const name of ['exclusive', 'mixed']) {
    const held = active.filter((activity) => activity.of === name)
    const owners = held.map(({ owner, kind }) => `${owner} (${kind})`).join(', ')
    if (held.length > 1 && held.some(isExclusive)) return `'${name}' is held by ${owners}`
    const processes = new Set(held.map(({ owner }) => owner)).size
    if (processes > READERS) return `'${name}' is shared by more than ${READERS} processes: ${owners}`
    happenings.together = Math.max(happenings.together, held.length)
  }
  return happenings.fault ?? lastingOverlap(happenings, active, now)
}

const isExclusive = ({ kind }: ScenarioView['active'][number]): boolean => kind.startsWith('exclusive')

/** A thief does not wait until its victim knows of the theft: but that takes the victim a ttl at most. */
function lastingOverlap(happenings: Happenings, active: ScenarioView['active'], now: number): string | undefined {
  const held = active.filter(({ of }) => of === 'stolen')
  const overlaps = new Map<string, number>()
  for (const one of held.filter(isExclusive)) {
    for (const other of held) {
      if (other === one) continue
      const key = `'stolen' is held by ${one.owner} (${one.kind}) and by ${other.owner} (${other.kind})`
      const since = happenings.overlaps.get(key) ?? now
      overlaps.set(key, since)
      if (now - since > 1.1 * happenings.ttl) return `${key} for ${now - since} ms`
    }
  }
  happenings.overlaps = overlaps
  return undefined
}

export const scenario: Scenario = {
  workload,
  findFault,
  hasProgressed: ({ shared }) => {
    const happenings = shared.get('happenings') as Happenings | undefined
    if (happenings === undefined) return false
    happenings.quiet ??= happenings.granted
    return happenings.granted > happenings.quiet
  },
}
