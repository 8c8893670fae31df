import {
  LeaseConfigurationError,
  LeaseConflictError,
  LeaseHeldError,
  LeaseLostError,
  LeaseNameError,
  LeaseUnauthorisedError,
  type Metadata,
  type StoreHeld,
  type StoreLease,
} from '@leasehold/core'
import type { AbortableCall } from '@leasehold/core/store'
import { InFlight } from '../in-flight.js'
import type { KeyedLeases } from '../keyed-leases.js'
import { checkRecipe, recipeOf } from '../record-kind.js'
import type { StoreOutage } from '../store-outage.js'
import { pauseUntil } from '../waiting.js'

/** Does one job, under the lease of its key. */
export type JobWorker<J> = (job: J, held: StoreHeld) => Promise<unknown>

/** The keys of the jobs of a list that are done. */
export interface ProcessedJobs {
  /** Done by this call. */
  readonly done: readonly string[]
  /** Done by other processes, or by an earlier call. */
  readonly doneElsewhere: readonly string[]
}

/** The metadata of a record that marks its job as done: by which owner, and in which run. */
type DoneMark = Metadata & { readonly doneBy: string; readonly doneIn: string }

/** The parts of a call that all of its jobs share. */
interface JobRunOptions<J> {
  readonly leases: KeyedLeases
  readonly mark: DoneMark
  readonly worker: JobWorker<J>
  /** Gets the failures of requests that are repeated. */
  readonly outage: StoreOutage
  /** Once it is aborted, no more jobs begin; `process` rejects with its reason when those in progress have ended. */
  readonly stop: AbortableCall
}

type Outcome = 'done' | 'done-elsewhere' | 'failed' | 'again'

/** The longest wait for a job that another process does, in milliseconds: then the next job has its turn. */
const LONGEST_WAIT = 30_000

/** Errors that no repetition mends. */
const definitive = [LeaseConfigurationError, LeaseNameError, LeaseUnauthorisedError, LeaseConflictError]

/** One call of `processEach`. */
export class JobRun<J> {
  /** The jobs whose worker has failed. */
  readonly failed = new Map<string, unknown>()
  readonly #options: JobRunOptions<J>
  readonly #jobs: ReadonlyMap<string, J>
  readonly #outcomes = new Map<string, Outcome>()
  /** The jobs whose worker has not ended: one that lost its lease may go on for a while. */
  readonly #working = new Set<string>()
  /** The jobs whose worker has ended well. */
  readonly #worked = new Set<string>()

  constructor(options: JobRunOptions<J>, jobs: ReadonlyMap<string, J>) {
    this.#options = options
    this.#jobs = jobs
  }

  async process(concurrency: number): Promise<ProcessedJobs> {
    const { stop } = this.#options
    const inFlight = new InFlight(concurrency)
    await Promise.all(Array.from(this.#jobs, ([key, job]) => this.#decide(key, job, inFlight)))
    stop.signal.throwIfAborted()
    return { done: this.#keysWith('done'), doneElsewhere: this.#keysWith('done-elsewhere') }
  }

  #keysWith(outcome: Outcome): string[] {
    return [...this.#jobs.keys()].filter((key) => this.#outcomes.get(key) === outcome)
  }

  /** A job that was refused or lost is attempted again after those that wait. */
  async #decide(key: string, job: J, inFlight: InFlight): Promise<void> {
    const { stop } = this.#options
    let outcome: Outcome = 'again'
    for (let isFirst = true; outcome === 'again' && !stop.aborted; isFirst = false) {
      outcome = await inFlight.run(() => this.#attempt(key, job, isFirst))
    }
    this.#outcomes.set(key, outcome)
  }

  /** Never rejects. */
  async #attempt(key: string, job: J, isFirst: boolean): Promise<Outcome> {
    const { leases, outage, stop } = this.#options
    if (stop.aborted) return 'again'
    try {
      const outcome = await leases.use(key, (lease) => this.#attemptWith(lease, key, job, isFirst))
      outage.onAnswer()
      return outcome
    } catch (error) {
      if (stop.aborted || error instanceof LeaseHeldError || error instanceof LeaseLostError) return 'again'
      if (definitive.some((type) => error instanceof type)) stop.abort(error)
      else {
        outage.onFailure(`job '${key}' could not be done`, error)
        await pauseUntil(leases.clock, LONGEST_WAIT / 100, stop)
      }
      return 'again'
    }
  }

  async #attemptWith(lease: StoreLease, key: string, job: J, isFirst: boolean): Promise<Outcome> {
    const { leases, stop } = this.#options
    const { signal } = stop
    const { timeouts } = lease.settings
    const record = await leases.read(key, signal)
    if (this.#isDone(lease, record?.metadata)) return this.#found(key, record.metadata)
    const longest = Math.min(timeouts.heartbeatTimeout / 2, LONGEST_WAIT)
    if (this.#working.has(key)) {
      // The worker here has lost the lease and has not ended: only another process may begin the job.
      await pauseUntil(leases.clock, longest / 2, stop)
      return 'again'
    }
    return await lease.run((held) => this.#do(lease, key, job, held), { wait: isFirst ? 0 : longest, signal })
  }

  /** Whether the metadata of a record say that its job was done in this run. Throws if they are those of another recipe. */
  #isDone({ settings: { name, owner } }: StoreLease, metadata: Metadata | undefined): metadata is DoneMark {
    checkRecipe('lease-manager', metadata, { leaseName: name, owner })
    if (recipeOf(metadata) === undefined) return false
    return typeof metadata?.doneBy === 'string' && metadata.doneIn === this.#options.mark.doneIn
  }

  /** The outcome for a mark that was found. It may be our own mark, whose confirmation was lost. */
  #found(key: string, { doneBy }: DoneMark): Outcome {
    return this.#worked.has(key) && doneBy === this.#options.mark.doneBy ? 'done' : 'done-elsewhere'
  }

  async #do(lease: StoreLease, key: string, job: J, held: StoreHeld): Promise<Outcome> {
    const { mark, worker } = this.#options
    const { previous } = lease
    if (this.#isDone(lease, previous)) return this.#found(key, previous)
    this.#working.add(key)
    try {
      await worker(job, held)
    } catch (error) {
      // A worker that was aborted has lost its lease: its job is done again.
      if (held.signal.aborted) throw error
      this.failed.set(key, error)
      return 'failed'
    } finally {
      this.#working.delete(key)
    }
    // The lease may have been acquired again since: a mark counts only for work under its own grant.
    held.signal.throwIfAborted()
    this.#worked.add(key)
    // The name stays locked until the store has confirmed the mark.
    if (await lease.update(mark)) return 'done'
    throw new LeaseLostError(`the mark of job '${key}' was not confirmed`, { reason: 'expired' })
  }
}
