import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { createLease, type LeaseLost, type LeaseStore, type StoreLease } from '@leasehold/core'
import { mapLimited } from '../../support/lanes.js'
import { collectedMemory, type Memory } from '../../support/memory.js'
import { processorTime } from '../../support/processor-time.js'
import { openStore, type StoreKind } from './open-store.js'

/** How many waiters of a process begin in a second of a take-over: all of a process within a minute, and beside heartbeats. */
export const WAITERS_A_SECOND = 300

/** How many leases a process acquires at the same time: more would hold up the heartbeats of the others. */
const LANES = 64

/** The pause between two groups of waiters that begin together, in milliseconds. */
const BETWEEN_WAITERS = 100
const WAITERS_AT_ONCE = (WAITERS_A_SECOND * BETWEEN_WAITERS) / 1_000

/** The pause before an attempt that failed is repeated, in milliseconds. */
const AFTER_FAILURE = 1_000

/** Of the timer that shows delays of the event loop, in milliseconds. */
const RESOLUTION = 10

/** The task of a process that holds leases. Durations are milliseconds. */
export interface HolderTask {
  readonly store: StoreKind
  readonly address: string
  readonly ttl: number
  readonly interval: number
}

/** Leases with names of consecutive numbers. */
export interface Span {
  readonly first: number
  readonly count: number
}

/** The counts of a process. */
export interface Counts {
  readonly held: number
  /** Grants that ended without a release. */
  readonly lost: number
  /** Attempts to acquire that rejected, and were repeated. */
  readonly failures: number
}

/** Since the call of `begin`. */
export interface Figures extends Counts {
  /** Leases whose `checkLease()` is `true`. */
  readonly valid: number
  /** Processor time in milliseconds. */
  readonly cpu: number
  /** By how much timers of 10 ms came late, in milliseconds. */
  readonly delayP99: number
  readonly delayMax: number
}

/** The outcome of a take-over. */
export interface Taken {
  /** The fencing tokens in the order of the names; empty where a name was not taken. */
  readonly tokens: readonly string[]
  /** From the instant of the order to each grant, in milliseconds. */
  readonly after: readonly number[]
  readonly failures: number
}

/** In a process of its own. */
export function openHolder(task: HolderTask): Holder {
  return new Holder(openStore(task.store, task.address), task)
}

/** Holds leases in this process, and measures what they cost it. */
export class Holder {
  readonly #store: LeaseStore
  readonly #times: { readonly heartbeatTimeout: number; readonly heartbeatInterval: number }
  readonly #owner = `holder ${process.pid}`
  /** In the order of their names. */
  readonly #leases: StoreLease[] = []
  /** One function for all leases, so that it adds nothing to their memory. */
  readonly #options = {
    onLost: (lost: LeaseLost) => {
      this.#lost += 1
      if (this.#lost === 1) console.error(`holder ${process.pid}: the first lost lease`, lost)
    },
  }
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION })
  #held = 0
  #lost = 0
  #failures = 0
  #cpu = processorTime()

  constructor(store: LeaseStore, { ttl, interval }: HolderTask) {
    this.#store = store
    this.#times = { heartbeatTimeout: ttl, heartbeatInterval: interval }
  }

  /** Acquires and releases a lease, so that what is loaded and made on first use does not count for others. */
  async warmUp(): Promise<void> {
    const lease = this.#lease(`first ${process.pid}`)
    await this.#acquire(lease)
    await lease.release().catch(() => false)
    this.#held = 0
    this.#failures = 0
  }

  /** Acquires the leases. */
  async hold({ first, count }: Span): Promise<Counts> {
    const places = Array.from({ length: count }, (_, place) => place)
    await mapLimited(places, LANES, async (place) => {
      const lease = this.#lease(`lease ${first + place}`)
      this.#leases[place] = lease
      await this.#acquire(lease)
    })
    return this.count()
  }

  count(): Counts {
    return { held: this.#held, lost: this.#lost, failures: this.#failures }
  }

  collect(): Memory {
    return collectedMemory()
  }

  begin(): void {
    this.#cpu = processorTime()
    this.#delay.enable()
    this.#delay.reset()
  }

  figures(): Figures {
    return {
      ...this.count(),
      cpu: processorTime() - this.#cpu,
      delayP99: Math.max(this.#delay.percentile(99) / 1e6 - RESOLUTION, 0),
      delayMax: Math.max(this.#delay.max / 1e6 - RESOLUTION, 0),
      // Last, because the look at all leases takes a while.
      valid: this.#leases.filter((lease) => lease.checkLease()).length,
    }
  }

  /** The fencing tokens of the leases that it has acquired, in the order of their names. */
  tokens(): readonly string[] {
    return this.#leases.map(({ fencingToken }) => String(fencingToken ?? ''))
  }

  /** Waits for leases that another process held until `since`, by the wall clock. */
  async take({ first, count, since, wait }: Span & { readonly since: number; readonly wait: number }): Promise<Taken> {
    const tokens: string[] = Array.from({ length: count }, () => '')
    const after: number[] = []
    const failures = this.#failures
    const until = Date.now() + wait
    const waiter = async (place: number): Promise<void> => {
      const lease = this.#lease(`lease ${first + place}`)
      this.#leases.push(lease)
      if (!(await this.#acquire(lease, until))) return
      tokens[place] = String(lease.fencingToken)
      after.push(Date.now() - since)
    }
    const waiters: Promise<void>[] = []
    for (let place = 0; place < count; place += 1) {
      if (place > 0 && place % WAITERS_AT_ONCE === 0) await pause(BETWEEN_WAITERS)
      waiters.push(waiter(place))
    }
    await Promise.all(waiters)
    return { tokens, after, failures: this.#failures - failures }
  }

  /** Acquires and releases; one after the other, or in parallel. The times of each cycle, in milliseconds. */
  async cycles(rounds: number, lanes: number): Promise<readonly number[]> {
    const times: number[] = []
    const lane = async (_: unknown, place: number): Promise<void> => {
      const lease = this.#lease(`cycle ${process.pid} ${place}`)
      // The first rounds are not counted.
      for (let round = -Math.ceil(rounds / 10); round < rounds; round += 1) {
        const start = performance.now()
        if (!(await lease.acquire())) throw new Error(`someone else holds '${lease.settings.name}'`)
        await lease.release()
        if (round >= 0) times.push(performance.now() - start)
      }
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    return times
  }

  /** From the call of a release to the grant of a waiter, in milliseconds. */
  async handOver(waiters: number, rounds: number): Promise<readonly number[]> {
    const name = `hand-over ${process.pid} ${waiters}`
    const end = new AbortController()
    let granted: (lease: StoreLease) => void = () => {}
    const wait = (lease: StoreLease): void => {
      const options = { wait: Number.POSITIVE_INFINITY, signal: end.signal }
      lease.acquire(options).then(
        () => granted(lease),
        () => {},
      )
    }
    let current = this.#lease(name, 'first')
    await current.acquire()
    for (let place = 0; place < waiters; place += 1) wait(this.#lease(name, `waiter ${place}`))
    // Until all of them stand in line.
    await pause(1_000 + 2 * waiters)
    const times: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const next = new Promise<StoreLease>((resolve) => {
        granted = resolve
      })
      const releasedAt = performance.now()
      // A release that fails frees the name at its expiry: the hand-over takes that long.
      const released = current.release().catch(() => false)
      const lease = await next
      times.push(performance.now() - releasedAt)
      await released
      // It waits again, so that each round has as many waiters.
      wait(current)
      current = lease
      await pause(50)
    }
    end.abort()
    await current.release()
    return times
  }

  #lease(name: string, owner = this.#owner): StoreLease {
    return createLease(this.#store, name, { owner, ...this.#times })
  }

  /** Repeats an attempt that fails. Without `until`, it does not wait for another holder. */
  async #acquire(lease: StoreLease, until?: number): Promise<boolean> {
    for (;;) {
      try {
        const options =
          until === undefined ? this.#options : { ...this.#options, wait: Math.max(until - Date.now(), 0) }
        if (await lease.acquire(options)) {
          this.#held += 1
          return true
        }
        if (until === undefined) throw new Error(`someone else holds '${lease.settings.name}'`)
        return false
      } catch (error) {
        this.#failures += 1
        if (this.#failures === 1) console.error(error)
        if (until !== undefined && Date.now() > until) return false
        await pause(AFTER_FAILURE)
      }
    }
  }
}
