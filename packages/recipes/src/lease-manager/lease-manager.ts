import {
  type AcquireOptions,
  type Health,
  healthOf,
  LeaseConfigurationError,
  type LeaseLost,
  type LeaseStore,
  type StoreLease,
} from '@leasehold/core'
import {
  checkFault,
  checkWork,
  faultOfFunction,
  faultOfLimit,
  faultOfSignal,
  health,
  healthFrom,
  keptAlive,
} from '@leasehold/core/internal'
import { backoff, checkOptionNames, type OptionNames, systemRandom } from '@leasehold/core/store-kit'
import { FirstAbort } from '../first-abort.js'
import { InFlight } from '../in-flight.js'
import { KeyedLeases } from '../keyed-leases.js'
import { checkMetadataRoom } from '../metadata-room.js'
import { Recipe, type RecipeEvents } from '../recipe.js'
import { type RecipeOptions, recipeOptionNames } from '../recipe-options.js'
import { ofRecipe } from '../record-kind.js'
import { pauseUntil } from '../waiting.js'
import { FailedJobsError } from './failed-jobs-error.js'
import { JobRun, type JobWorker, type ProcessedJobs } from './job-run.js'

/** The events of a `LeaseManager`, and their arguments. */
export interface LeaseManagerEvents extends RecipeEvents {
  /** A lease was lost: once for each grant. */
  lost: [name: string, lost: LeaseLost]
}

/** The options of a {@link LeaseManager}: those of its leases, and the following. */
export interface LeaseManagerOptions extends Omit<RecipeOptions, 'name'> {
  /** The beginning of the lease names: the lease of `a` is `name/a`. Unless given, the lease of `a` is `a`. */
  readonly name?: string | undefined
  /** How many names are asked for at the same time, not counting those that are waited for; 10 unless given. */
  readonly concurrency?: number | undefined
}

/** The options of `acquireWithAutoRenew` and `claimFirst`. */
export interface ManagedAcquireOptions extends AcquireOptions {
  /** The owner of this lease; that of the manager unless given. */
  readonly owner?: string | undefined
  /** The ttl of this lease, in milliseconds; that of the manager unless given. Settings derived from the ttl follow it. */
  readonly heartbeatTimeout?: number | undefined
}

/** The options of `processEach`. */
export interface ProcessEachOptions<J> {
  /** How many jobs this process does at the same time; 1 unless given. */
  readonly concurrency?: number | undefined
  /** The key of a job, the same in all processes. Unless given, the jobs are texts, and are their own keys. */
  readonly key?: ((job: J) => string) | undefined
  /** Names this run over the list: a job is done once in each run. All processes give the same; empty unless given. */
  readonly run?: string | undefined
  /** Begins no more jobs. `processEach` rejects with the signal's reason when the jobs in progress have ended. */
  readonly signal?: AbortSignal | undefined
}

const optionNames: OptionNames<LeaseManagerOptions> = { ...recipeOptionNames, concurrency: true }
const processOptionNames: OptionNames<ProcessEachOptions<never>> = {
  concurrency: true,
  key: true,
  run: true,
  signal: true,
}

const DEFAULT_CONCURRENCY = 10

/** The longest pause between two rounds of `claimFirst`, in milliseconds. */
const LONGEST_PAUSE = 5_000

/**
 * Holds leases on many names at once, and does lists of jobs that several processes share.
 *
 * Guaranteed: each lease keeps the rules of a lease; one `lost` event for each grant that is lost; `stop` ends all leases
 * at once, and settles within its time. In `processEach`, a job whose mark was confirmed is not done again in the same
 * run, for as long as the store keeps the mark; no two processes do one job under valid leases at the same time.
 *
 * Not guaranteed: that a job starts once. The job of a process that died, or that lost its lease before the mark was
 * confirmed, is done again. Make jobs safe to repeat, or write their effects under the fencing token.
 */
export class LeaseManager extends Recipe<LeaseManagerEvents> {
  readonly #leases: KeyedLeases
  readonly #random: () => number
  readonly #inFlight: InFlight

  /** Throws a `LeaseConfigurationError` if an option is invalid. */
  constructor(store: LeaseStore, options: LeaseManagerOptions = {}) {
    checkOptionNames('LeaseManager', options, optionNames)
    const { concurrency = DEFAULT_CONCURRENCY, random = systemRandom } = options
    checkConcurrency('LeaseManager', concurrency)
    super('lease manager', store, options)
    this.#leases = new KeyedLeases(store, options, 'manager', (name, lease) => {
      this.watch(lease).on('lost', (lost) => this.emit('lost', name, lost))
    })
    this.#random = random
    this.#inFlight = new InFlight(concurrency)
  }

  /** See `healthOf`: as unhealthy as the first unhealthy lease. */
  [health](): Health {
    const leases = this.#leases.all.map(healthOf)
    return healthFrom(leases.find(({ healthy }) => !healthy)?.reason, { leases: leases.map(({ details }) => details) })
  }

  /** The names that are held now. */
  get names(): readonly string[] {
    return this.#leases.kept.filter(([, lease]) => lease.checkLease()).map(([name]) => name)
  }

  /** The lease on a name, while it is held. */
  get(name: string): StoreLease | undefined {
    const lease = this.#leases.get(name)
    return lease?.checkLease() === true ? lease : undefined
  }

  /**
   * Acquires the lease on a name and renews it until `release`, `stop` or its loss. Resolves with the lease, or with
   * `undefined` if someone else has it, for longer than `wait`. Rejects as `acquire` of a lease does, and with a
   * `LeaseConflictError` if this manager uses the name already, with another owner or ttl.
   */
  async acquireWithAutoRenew(
    name: string,
    { owner, heartbeatTimeout, ...options }: ManagedAcquireOptions = {},
  ): Promise<StoreLease | undefined> {
    const { preempt: _, ...withoutPreempt } = options
    const { wait = 0 } = options
    checkFault(faultOfLimit('wait', wait), { leaseName: name })
    const { clock } = this.#leases
    const startedAt = clock.now()
    this.throwIfStopped()
    return await this.#leases.use(
      name,
      async (lease) => {
        // Only the first request counts towards `concurrency`: a wait takes few requests, and must not hold up others.
        const once = wait > 0 ? { ...withoutPreempt, wait: 0 } : options
        if (await this.#inFlight.run(() => lease.acquire(once))) return lease
        const left = wait - (clock.now() - startedAt)
        if (left > 0 && (await lease.acquire({ ...options, wait: left }))) return lease
        this.throwIfStopped()
        return undefined
      },
      { owner, heartbeatTimeout },
    )
  }

  /**
   * Acquires the first name of the list that is free, in its order, and no other. It passes over names that this manager
   * holds or asks for, so that each call gets a name of its own. Resolves with `undefined` if all are taken, for longer
   * than `wait`. Rejects with the error of a name if it got no other.
   */
  claimFirst(names: Iterable<string>, options: ManagedAcquireOptions = {}): Promise<StoreLease | undefined> {
    return keptAlive(this.#leases.clock, this.#claimFirst(names, options))
  }

  async #claimFirst(names: Iterable<string>, options: ManagedAcquireOptions): Promise<StoreLease | undefined> {
    const asked = [...names]
    const { wait = 0, signal } = options
    checkFault(faultOfLimit('wait', wait) ?? faultOfSignal(signal))
    const { clock } = this.#leases
    const until = clock.now() + wait
    for (;;) {
      const failures: unknown[] = []
      for (const name of asked) {
        signal?.throwIfAborted()
        if (this.#leases.get(name) !== undefined) continue
        const lease = await this.acquireWithAutoRenew(name, { ...options, wait: 0 }).catch((error: unknown) => {
          if (error instanceof LeaseConfigurationError || this.stopping.aborted) throw error
          failures.push(error)
          if (clock.now() < until) this.outage.onFailure(`'${name}' could not be asked for`, error)
          return undefined
        })
        if (failures.length === 0) this.outage.onAnswer()
        if (lease !== undefined) return lease
      }
      const left = until - clock.now()
      if (left <= 0 && failures.length > 0) throw failures[0]
      if (left <= 0) return undefined
      await this.#pauseBetweenRounds(left, signal)
    }
  }

  /** Releases the lease on a name, as `release` of a lease does; `true` if this manager does not hold it. */
  async release(name: string): Promise<boolean> {
    return (await this.#leases.get(name)?.release()) ?? true
  }

  /**
   * Does each job of the list once, together with all processes that call it with the same list: each job under the lease
   * of its key, marked in the record when it is done. Resolves when all jobs are done, by this process or by others; the
   * job of a process that died is done again, after its ttl.
   *
   * A worker that fails does not stop the others. Its job is not marked and not repeated by this call, and another process
   * may do it. At the end, `processEach` rejects with a `FailedJobsError`. It repeats requests that fail, with an `error`
   * event, until they succeed, `signal` aborts, or the manager is stopped. Rejects with a `LeaseConfigurationError` if the
   * store keeps no metadata, or if two jobs have the same key.
   */
  async processEach<J = string>(
    jobs: Iterable<J>,
    worker: JobWorker<J>,
    options: ProcessEachOptions<J> = {},
  ): Promise<ProcessedJobs> {
    checkOptionNames<ProcessEachOptions<J>>('processEach', options, processOptionNames)
    const { concurrency = 1, key = (job: unknown) => job as string, run = '', signal } = options
    checkConcurrency('processEach', concurrency)
    checkWork('the worker of processEach', worker, { owner: this.#leases.settings.owner })
    checkFault(faultOfFunction('key', key) ?? faultOfSignal(signal))
    if (typeof run !== 'string') throw new LeaseConfigurationError('processEach: run must be a text')
    const mark = ofRecipe('lease-manager', { doneBy: this.#leases.settings.owner, doneIn: run })
    const advice = 'use a shorter owner, or a shorter run'
    checkMetadataRoom('processEach', this.#leases.store, mark, 'to mark a job as done', { advice, owner: mark.doneBy })
    const stop = new FirstAbort(this.stopping.signal, signal)
    try {
      stop.signal.throwIfAborted()
      const shared = { leases: this.#leases, mark, worker, outage: this.outage, stop }
      const jobRun = new JobRun(shared, byKey(jobs, key))
      const processed = await keptAlive(this.#leases.clock, jobRun.process(concurrency))
      if (jobRun.failed.size > 0) throw new FailedJobsError(jobRun.failed, processed)
      return processed
    } finally {
      stop.forget()
    }
  }

  /** @internal The reason of the losses is `closed`. */
  protected override async end(timeout: number): Promise<void> {
    await this.close(this.#leases.all, timeout)
  }

  async #pauseBetweenRounds(left: number, signal: AbortSignal | undefined): Promise<void> {
    const longest = Math.min(this.#leases.settings.timeouts.heartbeatTimeout / 4, LONGEST_PAUSE)
    const ends = new FirstAbort(signal, this.stopping.signal)
    await pauseUntil(this.#leases.clock, Math.min(left, backoff(0, longest, longest, this.#random)), ends)
    ends.forget()
    ends.signal.throwIfAborted()
  }
}

function checkConcurrency(of: string, concurrency: number): void {
  if (Number.isSafeInteger(concurrency) && concurrency > 0) return
  throw new LeaseConfigurationError(`${of}: concurrency must be a whole number from 1 on, not ${String(concurrency)}`)
}

function byKey<J>(jobs: Iterable<J>, keyOf: (job: J) => string): ReadonlyMap<string, J> {
  const found = new Map<string, J>()
  for (const job of jobs) {
    const key: unknown = keyOf(job)
    if (typeof key !== 'string') {
      throw new LeaseConfigurationError('processEach: the key of a job must be a text: give the option key')
    }
    if (found.has(key)) throw new LeaseConfigurationError(`processEach: two jobs have the key '${key}'`)
    found.set(key, job)
  }
  return found
}
