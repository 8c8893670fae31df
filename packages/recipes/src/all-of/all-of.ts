import {
  type AcquireOptions,
  type Clock,
  defaultLogger,
  Lease,
  LeaseConfigurationError,
  type LeaseLost,
  LeaseSettings,
  type LeaseStore,
  type Logger,
  systemClock,
} from '@leasehold/core'
import { isLease, keptAlive, logSafely } from '@leasehold/core/internal'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import { checkAcquireOptions } from '../acquire-options.js'
import { SharedAttempt } from '../shared-attempt.js'
import { pauseUntil } from '../waiting.js'
import { JointGrant } from './joint-grant.js'

/** The options of {@link AllOf}. */
export interface AllOfOptions {
  /** A name for errors and logs; the names of the leases unless given. */
  readonly name?: string | undefined
  /** The machine's clock unless given. */
  readonly clock?: Clock | undefined
  /** Process warnings unless given. */
  readonly logger?: Logger | undefined
}

/** The options of `acquire` that hold for several leases at once. */
export type AllOfAcquireOptions = Pick<AcquireOptions, 'wait' | 'signal' | 'onLost' | 'metadata'>

const optionNames: OptionNames<AllOfOptions> = { name: true, clock: true, logger: true }

/** The longest name of a lease, in bytes of UTF-8. */
const LONGEST_NAME = 1_024

/** The pause after a part was lost during an attempt, as a part of the heartbeat interval or the operation timeout. */
const PAUSE = 0.1

/**
 * Several leases, on any names and stores, that are held together: all or none.
 *
 * Guaranteed: it is valid only while every part is. The parts are acquired in the order of their names, in all processes,
 * so that two of these leases never wait for each other. Parts with the same name are in the order of the kinds of their
 * stores, and then in the order in which they are given. A lease over several leases counts as these leases. A part that is
 * refused frees the parts before it. The first loss of a part is the loss of all, is reported once, and frees the other
 * parts. Parts are released in reverse order.
 *
 * Not guaranteed: that other code does not hold a part meanwhile; protect each resource with the token of its part. A part
 * that was held before stays held: `release` frees only the parts that this lease has acquired.
 */
export class AllOf extends Lease {
  /** The parts, in the order in which they are acquired. None of them is made of several leases. */
  readonly leases: readonly Lease[]
  readonly #clock: Clock
  readonly #logger: Logger
  #grant: JointGrant | undefined
  /** The callbacks for the loss of the grant. */
  #callbacks: ((lost: LeaseLost) => void)[] = []
  #attempt: SharedAttempt | undefined
  /** A grant whose parts are not known to be free. */
  #unfreed: JointGrant | undefined
  /** Attempts and releases come one after the other. */
  #last: Promise<unknown> = Promise.resolve()

  /** Throws a `LeaseConfigurationError` if a lease is missing, is no lease, or occurs twice. */
  constructor(leases: readonly Lease[], options: AllOfOptions = {}) {
    checkOptionNames('AllOf', options, optionNames)
    const parts = checkedParts(leases)
    super(settingsOver(parts, options.name))
    this.leases = parts
    this.#clock = options.clock ?? systemClock
    this.#logger = options.logger ?? defaultLogger
  }

  /** The tokens of the parts by name; empty while nothing is held. A name that several parts share is left out: see `leases`. */
  get fencingTokens(): ReadonlyMap<string, bigint> {
    return this.#grant?.tokens ?? new Map()
  }

  /** The token of the only part; `undefined` if there are several: see `fencingTokens`. */
  override get fencingToken(): bigint | undefined {
    const [only, ...others] = this.leases
    return others.length === 0 && this.#grant !== undefined ? only?.fencingToken : undefined
  }

  /** When the first part ends unless it is renewed; `undefined` if a part does not say. */
  override get validUntil(): number | undefined {
    if (!this.checkLease()) return 0
    return this.leases.reduce<number | undefined>(
      (first, { validUntil }) => first && validUntil && Math.min(first, validUntil),
      Number.POSITIVE_INFINITY,
    )
  }

  override checkLease(): boolean {
    return this.#grant?.isValid() === true
  }

  /**
   * Like `Lease.acquire`, for all parts together. `wait` is the time for all of them, and `metadata` goes into the record
   * of each. If a part is lost while others are waited for, all are freed and asked for again within `wait`; after that,
   * `acquire` rejects with a `LeaseLostError`. It rejects with the error of a part, and frees the others.
   */
  override acquire(options: AllOfAcquireOptions = {}): Promise<boolean> {
    try {
      checkAcquireOptions(options, this.settings)
    } catch (error) {
      return Promise.reject(error)
    }
    const { onLost, signal } = options
    if (this.checkLease()) {
      if (onLost !== undefined) this.#callbacks.push(onLost)
      return Promise.resolve(true)
    }
    if (signal?.aborted === true) return Promise.reject(signal.reason)
    // The validity is over by the clock, and its loss was not reported yet.
    this.#grant?.loseInvalid()
    return this.#join(this.#attempt ?? this.#begin(), options)
  }

  /**
   * Frees the parts that this lease has acquired, in reverse order. `true`: all are free, or there was nothing to free.
   * Rejects with the error of a part, after all were tried; then call it again.
   */
  override release(): Promise<boolean> {
    this.#callbacks = []
    this.#withdraw()
    this.#unfreed = this.#grant ?? this.#unfreed
    this.#grant?.end()
    this.#grant = undefined
    const freed = this.#inTurn(async () => {
      const unfreed = this.#unfreed
      const isFree = (await unfreed?.free()) ?? true
      if (this.#unfreed === unfreed) this.#unfreed = undefined
      return isFree
    })
    return keptAlive(this.#clock, freed)
  }

  #begin(): SharedAttempt {
    const attempt = new SharedAttempt(this.#clock)
    attempt.call.onAbort(() => {
      if (this.#attempt === attempt) this.#withdraw()
    })
    this.#attempt = attempt
    void this.#inTurn(() => this.#try(attempt))
    return attempt
  }

  /** Adds a caller. If it waits for less time than others, its wait ends by itself when its last round should be over. */
  #join(attempt: SharedAttempt, options: AllOfAcquireOptions): Promise<boolean> {
    const { promise } = attempt.join(options)
    const { all, until } = attempt
    const grace = this.settings.timeouts.operationTimeout * (this.leases.length + 1) - this.#clock.now()
    for (const caller of all) if (caller.until < until) attempt.limit(caller, caller.until + grace, this.#clock)
    return promise
  }

  /** Ends the attempt under way: its callers are answered that nothing is held. */
  #withdraw(): void {
    const attempt = this.#attempt
    this.#attempt = undefined
    attempt?.settle({ isHeld: false })
    attempt?.call.abort()
  }

  /** Asks for all parts, in rounds. Never rejects. */
  async #try(attempt: SharedAttempt): Promise<void> {
    while (!attempt.isEmpty) {
      const grant: JointGrant = new JointGrant((loss) => this.#onLost(grant, loss))
      const unlisten = attempt.call.onAbort(() => grant.end())
      const outcome = await this.#takeAll(grant, attempt).then(
        (isHeld) => ({ isHeld }),
        (error: unknown) => ({ error }),
      )
      unlisten()
      const isHeld = 'isHeld' in outcome && outcome.isHeld
      if (isHeld) grant.loseInvalid()
      if (isHeld && !grant.isOver && !attempt.isEmpty) {
        this.#hold(grant, attempt)
        return
      }
      const lost = grant.loss
      const isOver = 'error' in outcome || lost === undefined || attempt.remaining === 0
      // Later callers get an attempt of their own.
      if (isOver && this.#attempt === attempt) this.#attempt = undefined
      await this.#free(grant)
      if (isOver) attempt.settle(lost === undefined || 'error' in outcome ? outcome : { error: lost.cause })
      else await this.#pauseFor(attempt)
    }
  }

  #hold(grant: JointGrant, attempt: SharedAttempt): void {
    this.#attempt = undefined
    this.#grant = grant
    this.#unfreed = undefined
    this.#callbacks = attempt.callbacks
    attempt.settle({ isHeld: true })
  }

  /** Takes the parts in order. `false`: one was refused, or the grant is over. */
  async #takeAll(grant: JointGrant, attempt: SharedAttempt): Promise<boolean> {
    for (const part of this.leases) {
      for (let isFirst = true; ; isFirst = false) {
        const { remaining: wait, metadata } = attempt
        if (grant.isOver || attempt.isEmpty || (wait === 0 && !isFirst)) return false
        const askedAt = this.#clock.now()
        if (await grant.take(part, { wait, ...(metadata === undefined ? {} : { metadata }) })) break
        const left = wait - (this.#clock.now() - askedAt)
        // A lease that does not wait by itself is asked again.
        const retry = Math.min(left, part.settings.retryInterval)
        if (retry > 0 && !grant.isOver) await pauseUntil(this.#clock, retry, grant.climbing)
      }
    }
    return true
  }

  #pauseFor(attempt: SharedAttempt): Promise<void> {
    const { heartbeatInterval, operationTimeout } = this.settings.timeouts
    const duration = Math.min(attempt.remaining, PAUSE * Math.min(heartbeatInterval, operationTimeout))
    return pauseUntil(this.#clock, duration, attempt.call)
  }

  /** Settles when the callbacks, and the work for which they have returned promises, have ended. Never rejects. */
  async #onLost(grant: JointGrant, loss: LeaseLost): Promise<void> {
    if (grant !== this.#grant) return
    this.#grant = undefined
    const message = `lease '${this.settings.name}': an onLost callback failed`
    // A caller that was granted the lease in this very turn sees that first.
    const told = Promise.resolve().then(() =>
      this.#callbacks.splice(0).map(async (callback) => {
        try {
          await callback(loss)
        } catch (error) {
          logSafely(this.#logger, 'error', message, error)
        }
      }),
    )
    void this.#inTurn(() => this.#free(grant))
    await Promise.all(await told)
  }

  async #free(grant: JointGrant): Promise<void> {
    try {
      await grant.free()
    } catch (error) {
      this.#unfreed = grant
      const message = `lease '${this.settings.name}': a part could not be released, and stays locked until its ttl is over`
      logSafely(this.#logger, 'warn', message, error)
    }
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const done = this.#last.then(task)
    this.#last = done.catch(() => {})
    return done
  }
}

/** The leases, each lease over several replaced by its parts, in the order in which every process acquires them. */
function checkedParts(leases: readonly Lease[]): readonly Lease[] {
  if (!Array.isArray(leases) || leases.length === 0) {
    throw new LeaseConfigurationError('AllOf needs a list of leases: give it one at least')
  }
  for (const lease of leases as readonly unknown[]) {
    if (isLease(lease)) continue
    const shown = typeof lease === 'object' && lease !== null ? 'an object' : String(lease)
    throw new LeaseConfigurationError(`AllOf was given ${shown} in place of a lease: await it, or leave it out`)
  }
  const parts = leases.flatMap((lease) => (lease instanceof AllOf ? lease.leases : [lease]))
  const twice = parts.find((part, place) => parts.slice(0, place).some((other) => isSame(part, other)))
  if (twice !== undefined) {
    const { name: leaseName, owner } = twice.settings
    const message = `AllOf was given '${leaseName}' twice, so it would wait for itself: leave one out`
    throw new LeaseConfigurationError(message, { leaseName, owner })
  }
  return parts.toSorted(
    (one, other) =>
      inCodeUnits(one.settings.name, other.settings.name) || inCodeUnits(storeOf(one)?.kind, storeOf(other)?.kind),
  )
}

/** Whether two leases exclude each other. Leases with backends of their own may have the same name in several backends. */
function isSame(one: Lease, other: Lease): boolean {
  const store = storeOf(one)
  return one === other || (store !== undefined && store === storeOf(other) && one.settings.name === other.settings.name)
}

/** The store of a lease; `undefined` for one that has a backend of its own. */
function storeOf(lease: Lease): LeaseStore | undefined {
  return (lease as { readonly store?: LeaseStore }).store
}

/** The same order everywhere, whatever the locale. */
function inCodeUnits(one = '', other = ''): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** The name and the owner of the whole; its times are those of the part with the shortest ttl. */
function settingsOver(parts: readonly Lease[], given: string | undefined): LeaseSettings {
  const joined = parts.map(({ settings }) => settings.name).join(' + ')
  const name = given ?? (Buffer.byteLength(joined) <= LONGEST_NAME ? joined : `${parts.length} leases`)
  const ttlOf = ({ settings: { timeouts } }: Lease): number => timeouts.heartbeatTimeout
  const shortest = parts.reduce((one, other) => (ttlOf(other) < ttlOf(one) ? other : one))
  const { owner, timeouts, retryInterval } = shortest.settings
  return new LeaseSettings({ name, owner, timeouts, retryInterval })
}
