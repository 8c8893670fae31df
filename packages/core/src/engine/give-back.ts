import type { Clock } from '../clock.js'
import type { Grant, LeaseRecord } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import { timedOut } from './failures.js'
import type { LeaseRules } from './lease-rules.js'

/** A request whose outcome is unknown may still arrive after a look at the record: so it is looked at again. */
const LOOKS = 2

/** For how long a grant that never expires is tried to be given back, in milliseconds. */
const LONGEST = 600_000

interface Leftover {
  readonly grantId: string
  /** Unknown where the answer was lost: whether there is a grant has to be read. */
  readonly grant: Grant | undefined
  readonly until: number
  looks: number
}

/**
 * Takes back, in the background, what the store may still hold for us and nobody here wants any more. Everything it
 * does is conditional on the grant id, so that it can free nobody else's grant; what expires by itself is then left.
 */
export class GiveBack {
  readonly #rules: LeaseRules
  readonly #store: LeaseStore
  readonly #clock: Clock
  readonly #leftovers = new Map<string, Leftover>()
  #pass: Promise<void> | undefined
  #passes = 0
  #cancel: (() => void) | undefined

  constructor(rules: LeaseRules, store: LeaseStore, clock: Clock) {
    this.#rules = rules
    this.#store = store
    this.#clock = clock
  }

  get isEmpty(): boolean {
    return this.#leftovers.size === 0
  }

  has(grantId: string | undefined): boolean {
    return grantId !== undefined && this.#leftovers.has(grantId)
  }

  add(grantId: string, grant: Grant | undefined): void {
    const lasts = Math.min(this.#rules.ttl, LONGEST)
    this.#leftovers.set(grantId, { grantId, grant, until: this.#clock.now() + lasts, looks: LOOKS })
    this.#passes = 0
    // In a microtask: who is told of a loss gets to stop before the name is freed.
    queueMicrotask(() => void this.settle().catch(() => {}))
  }

  /** Tries, once and now, to give back all that is left. Rejects where the store did not answer. */
  settle(): Promise<void> {
    this.#pass ??= this.#tryAll().finally(() => {
      this.#pass = undefined
      this.#scheduleNext()
    })
    return this.#pass
  }

  async #tryAll(): Promise<void> {
    this.#cancel?.()
    this.#cancel = undefined
    const results = await Promise.allSettled([...this.#leftovers.values()].map((leftover) => this.#try(leftover)))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  async #try(leftover: Leftover): Promise<void> {
    if (this.#clock.now() >= leftover.until) {
      this.#leftovers.delete(leftover.grantId)
      return
    }
    let grant = leftover.grant
    if (grant === undefined) {
      const record = await this.#call('read', (signal) => this.#store.read(this.#rules.name, signal))
      if (isGrant(record, leftover.grantId)) grant = record
    }
    if (grant !== undefined) {
      const left = grant
      await this.#call('release', (signal) => this.#store.release(left, signal))
      this.#leftovers.delete(leftover.grantId)
      return
    }
    leftover.looks -= 1
    if (leftover.looks === 0) this.#leftovers.delete(leftover.grantId)
  }

  async #call<T>(method: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { operationTimeout } = this.#rules
    const controller = new AbortController()
    let cancel = (): void => {}
    const late = new Promise<never>((_, reject) => {
      cancel = this.#clock.schedule(operationTimeout, () => {
        const error = timedOut(this.#rules, method, operationTimeout)
        controller.abort(error)
        reject(error)
      })
    })
    try {
      return await Promise.race([call(controller.signal), late])
    } finally {
      cancel()
    }
  }

  #scheduleNext(): void {
    if (this.isEmpty) return
    this.#passes += 1
    const pause = Math.min(this.#rules.operationTimeout * 2 ** Math.min(this.#passes - 1, 8), LONGEST / 10)
    this.#cancel?.()
    this.#cancel = this.#clock.schedule(pause, () => void this.settle().catch(() => {}))
  }
}

function isGrant(record: LeaseRecord | undefined, grantId: string): record is LeaseRecord {
  return record?.grantId === grantId && (record.state === 'leased' || record.state === 'breaking')
}
