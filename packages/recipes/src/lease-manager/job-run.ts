import {
  type Clock,
  LeaseConfigurationError,
  LeaseConflictError,
  LeaseHeldError,
  LeaseLostError,
  LeaseNameError,
  type LeaseStore,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
  type Metadata,
  readLease,
  type StoreLease,
} from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { pauseUntil } from '../waiting.js'
import { JobQueue } from './job-queue.js'

/** The lease of a job, as its worker gets it. */
export interface JobHeld {
  /** Aborted when the lease is lost. */
  readonly signal: AbortSignal
  readonly fencingToken: bigint
}

/** Does one job, under the lease of its key. */
export type JobWorker<J> = (job: J, held: JobHeld) => Promise<unknown>

/** The keys of the jobs of a list that are done. */
export interface ProcessedJobs {
  /** Done by this call. */
  readonly done: readonly string[]
  /** Done by other processes, or by an earlier call. */
  readonly doneElsewhere: readonly string[]
}

/** The part of a manager that its jobs need. */
export interface JobHost {
  readonly store: LeaseStore
  readonly clock: Clock
  readonly isClosed: boolean
  /** The lease of a key, until `leave`. */
  take(key: string): StoreLease
  leave(key: string): void
  report(error: unknown): void
}

/** The metadata of a record that marks its job as done: by which owner, and in which run. */
type DoneMark = Metadata & { readonly doneBy: string; readonly doneIn: string }

interface Job<J> {
  readonly key: string
  readonly job: J
  /** Whether it was refused or lost before. */
  isAgain: boolean
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
  readonly #host: JobHost
  readonly #mark: DoneMark
  readonly #worker: JobWorker<J>
  readonly #jobs: readonly Job<J>[]
  readonly #queue: JobQueue<Job<J>>
  readonly #outcomes = new Map<string, Outcome>()
  /** The jobs whose worker has not ended: one that lost its lease may go on for a while. */
  readonly #working = new Set<string>()
  /** The jobs whose worker has ended well. */
  readonly #worked = new Set<string>()
  readonly #stop = new AbortableCall()
  #failure: { readonly error: unknown } | undefined

  constructor(host: JobHost, mark: DoneMark, worker: JobWorker<J>, jobs: ReadonlyMap<string, J>) {
    this.#host = host
    this.#mark = mark
    this.#worker = worker
    this.#jobs = Array.from(jobs, ([key, job]) => ({ key, job, isAgain: false }))
    this.#queue = new JobQueue(this.#jobs)
  }

  /** Begins no more jobs; `process` rejects with the error when those in progress have ended. */
  stop(error: unknown): void {
    this.#failure ??= { error }
    this.#queue.stop()
    this.#stop.abort(error)
  }

  async process(concurrency: number): Promise<ProcessedJobs> {
    await Promise.all(Array.from({ length: Math.min(concurrency, this.#jobs.length) }, () => this.#work()))
    if (this.#failure !== undefined) throw this.#failure.error
    return { done: this.#keysWith('done'), doneElsewhere: this.#keysWith('done-elsewhere') }
  }

  #keysWith(outcome: Outcome): string[] {
    return this.#jobs.filter(({ key }) => this.#outcomes.get(key) === outcome).map(({ key }) => key)
  }

  async #work(): Promise<void> {
    for (;;) {
      const job = await this.#queue.next()
      if (job === undefined) return
      const outcome = await this.#attempt(job)
      if (this.#host.isClosed) this.stop(new LeaseUnavailableError(`job '${job.key}': the LeaseManager was closed`))
      this.#outcomes.set(job.key, outcome)
      job.isAgain = true
      this.#queue.settle(job, outcome !== 'again')
    }
  }

  /** Never rejects. */
  async #attempt(job: Job<J>): Promise<Outcome> {
    try {
      const lease = this.#host.take(job.key)
      try {
        return await this.#attemptWith(lease, job)
      } finally {
        this.#host.leave(job.key)
      }
    } catch (error) {
      if (this.#stop.aborted || error instanceof LeaseHeldError || error instanceof LeaseLostError) return 'again'
      if (definitive.some((type) => error instanceof type)) this.stop(error)
      else {
        this.#host.report(error)
        await pauseUntil(this.#host.clock, LONGEST_WAIT / 100, this.#stop)
      }
      return 'again'
    }
  }

  async #attemptWith(lease: StoreLease, job: Job<J>): Promise<Outcome> {
    const { clock, store } = this.#host
    const { signal } = this.#stop
    const { name, timeouts } = lease.settings
    const record = await readLease(store, name, { timeout: timeouts.operationTimeout, clock, signal })
    if (isDoneIn(this.#mark.doneIn, record?.metadata)) return this.#found(job, record.metadata)
    const longest = Math.min(timeouts.heartbeatTimeout / 2, LONGEST_WAIT)
    if (this.#working.has(job.key)) {
      // Its worker has lost the lease and has not ended: only another process may begin.
      await pauseUntil(clock, longest / 2, this.#stop)
      return 'again'
    }
    return await lease.run((held) => this.#do(lease, job, held), { wait: job.isAgain ? longest : 0, signal })
  }

  /** By this call too: its own mark, whose confirmation was lost. */
  #found({ key }: Job<J>, { doneBy }: DoneMark): Outcome {
    return this.#worked.has(key) && doneBy === this.#mark.doneBy ? 'done' : 'done-elsewhere'
  }

  async #do(lease: StoreLease, job: Job<J>, held: JobHeld): Promise<Outcome> {
    const { previous } = lease
    if (isDoneIn(this.#mark.doneIn, previous)) return this.#found(job, previous)
    this.#working.add(job.key)
    try {
      await this.#worker(job.job, held)
    } catch (error) {
      // A worker that was aborted has lost its lease: its job is done again.
      if (held.signal.aborted) throw error
      this.failed.set(job.key, error)
      return 'failed'
    } finally {
      this.#working.delete(job.key)
    }
    // The lease may have been acquired again since: a mark counts only for work under its own grant.
    held.signal.throwIfAborted()
    this.#worked.add(job.key)
    // The name stays locked until the store has confirmed the mark.
    if (await lease.update(this.#mark)) return 'done'
    throw new LeaseLostError(`the mark of job '${job.key}' was not confirmed`, { reason: 'expired' })
  }
}

/** Whether the metadata of a record says that its job was done in this run. */
function isDoneIn(run: string, metadata: Metadata | undefined): metadata is DoneMark {
  return typeof metadata?.doneBy === 'string' && metadata.doneIn === run
}
