import { type Clock, createLease, type LeaseStore, type StoreLease } from '@leasehold/core'
import { AbortableCall, type StoreCall, viewOf } from '@leasehold/core/store'
import type { PlannedFault, Scenario, ScenarioView, SimulatedProcess } from '@leasehold/simulator'
import { expectLeaseErrors } from '../src/expected-errors.js'
import { endOf } from '../src/planned-fault.js'
import { findOverlap } from './find-overlap.js'

/** The contended lease. */
const NAME = 'short'

/** Lives of challengers, and the time between two of them, as parts of the ttl: a look at least every half of it. */
const LONGEST_LIFE = 0.2
const LONGEST_PAUSE = 0.25

/** The longest time in which nobody holds the lease, in ttls. */
const LONGEST_VACANCY = 3

/** How often something happened in a run. */
export interface ShortLifeCounts {
  /** Holders that died without a release. */
  deaths: number
  /** Grants to a life after such a death. */
  takeovers: number
}

interface Standing {
  readonly counts: ShortLifeCounts
  /** True time in milliseconds: when a holder was last seen. */
  heldAt: number
  ttl: number
  isDeadHolder: boolean
  isOver: boolean
}

const STANDING = 'standing'

function standingOf(shared: ScenarioView['shared']): Standing {
  if (!shared.has(STANDING)) {
    const counts = { deaths: 0, takeovers: 0 }
    const standing: Standing = { counts, heldAt: 0, ttl: Number.POSITIVE_INFINITY, isDeadHolder: false, isOver: false }
    ;(shared as Map<string, unknown>).set(STANDING, standing)
  }
  return shared.get(STANDING) as Standing
}

export function shortLifeCounts(shared: ScenarioView['shared']): ShortLifeCounts {
  return standingOf(shared).counts
}

/** A process that is killed at its end: nothing of it goes on, and its next look is that of another process. */
class Life {
  readonly store: LeaseStore
  readonly clock: Clock
  readonly #calls = new Set<AbortableCall>()
  #isOver = false

  constructor({ openStore, clock }: SimulatedProcess) {
    this.clock = {
      ...clock,
      now: () => clock.now(),
      schedule: (delay, task) => (this.#isOver ? () => {} : clock.schedule(delay, () => this.#isOver || task())),
    }
    this.store = viewOf(openStore(this.clock), {
      acquire: (acquire) => (request, call) => this.#alive(call, (own) => acquire(request, own)),
      renew: (renew) => (grant, call) => this.#alive(call, (own) => renew(grant, own)),
      release: (release) => (grant, call, metadata) => this.#alive(call, (own) => release(grant, own, metadata)),
      read: (read) => (name, call) => this.#alive(call, (own) => read(name, own)),
      watch: () => undefined,
    })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  end(): void {
    this.#isOver = true
    for (const call of this.#calls) call.abort(new Error('the process has died'))
  }

  /** Sends a request of this life. No answer reaches it after its end. */
  async #alive<T>(call: StoreCall, send: (own: AbortableCall) => Promise<T>): Promise<T> {
    const own = new AbortableCall(call.timeout)
    const forget = call.onAbort(() => own.abort(call.signal.reason))
    this.#calls.add(own)
    try {
      return (await (this.#isOver ? undefined : send(own))) as T
    } finally {
      forget()
      this.#calls.delete(own)
      // A dead process runs no code.
      if (this.#isOver) await new Promise<never>(() => {})
    }
  }
}

/** One life after the other asks once for the lease. A life that is granted it holds it for a while, and mostly dies with it. */
async function liveShortly(process: SimulatedProcess): Promise<void> {
  const { random, signal, sleep, show, shared, leaseOptions } = process
  const { heartbeatTimeout: ttl = 0 } = leaseOptions
  const standing = standingOf(shared)
  standing.ttl = ttl
  let current: { readonly life: Life; readonly lease: StoreLease } | undefined
  show({
    kind: 'holder',
    get of() {
      return String(current?.lease.fencingToken)
    },
    isActive: () => current !== undefined && !current.life.isOver && current.lease.checkLease(),
  })
  for (let number = 1; !signal.aborted; number += 1) {
    const life = new Life(process)
    const owner = `${process.owner}.${number}`
    const lease = createLease(life.store, NAME, { ...leaseOptions, owner, clock: life.clock })
    current = { life, lease }
    let isGranted = false
    void expectLeaseErrors(async () => {
      isGranted = await lease.acquire()
    })
    await sleep(ttl * random.between(0.02, LONGEST_LIFE))
    if (isGranted) {
      if (standing.isDeadHolder) standing.counts.takeovers += 1
      standing.isDeadHolder = false
      const until = process.clock.now() + ttl * random.magnitude(-3, 2)
      while (process.clock.now() < until && !signal.aborted && lease.checkLease()) await sleep(ttl / 8)
      if (signal.aborted || random.chance(0.3)) void expectLeaseErrors(() => lease.release())
      else if (lease.checkLease()) {
        standing.isDeadHolder = true
        standing.counts.deaths += 1
      }
      await sleep(ttl / 20)
    }
    life.end()
    await sleep(ttl * random.between(0.05, LONGEST_PAUSE))
  }
  standing.isOver = true
}

/** The challengers of a run live for less than a ttl, so none of them observes the record for long enough. */
function findVacancy({ active, shared, faults, now }: ScenarioView): string | undefined {
  const standing = standingOf(shared)
  if (active.length > 0) standing.heldAt = now
  const vacancy = now - standing.heldAt
  const longest = LONGEST_VACANCY * standing.ttl
  if (standing.isOver || vacancy <= longest || faults.some((fault) => disturbs(fault, standing, now))) return undefined
  return `no life was granted the lease for ${Math.round(vacancy)} ms: more than ${LONGEST_VACANCY} ttls`
}

/** Whether challengers could not look, or the store not answer, in the time without a holder, or shortly before. */
function disturbs(fault: PlannedFault, { heldAt, ttl }: Standing, now: number): boolean {
  if (fault.kind === 'wall-step' || fault.at > now) return false
  return 'for' in fault && endOf(fault) + ttl > heldAt
}

/** Challengers that look once and die, over a store that keeps times of its records. */
export const shortLives: Scenario = {
  workload: liveShortly,
  findFault: (view) => findOverlap(view, NAME) ?? findVacancy(view),
}
