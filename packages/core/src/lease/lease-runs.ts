import { LeaseConflictError } from '../errors/lease-conflict-error.js'
import type { LeaseErrorDetails } from '../errors/lease-error.js'
import { LeaseHeldError } from '../errors/lease-held-error.js'
import { LeaseLostError, lossError } from '../errors/lease-lost-error.js'
import type { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'
import { shownText } from '../errors/shown-value.js'
import type { LeastWait } from '../store/one-look.js'
import type { AbortListeners } from '../time/abort-listeners.js'
import type { Clock } from '../time/clock.js'
import type { AcquireOptions } from './acquire-options.js'
import { checkWork } from './check-work.js'
import type { Held } from './held.js'
import { LeaseRun, type RunGrant } from './lease-run.js'
import { RunQueue } from './run-queue.js'
import { workContext } from './work-context.js'

/** The part of a lease that its runs need. */
export interface RunHost {
  readonly clock: Clock
  readonly aborts: AbortListeners
  readonly details: LeaseErrorDetails & { readonly leaseName: string; readonly owner: string }
  /** The grant that was neither lost nor released yet, valid or not. */
  currentGrant(): RunGrant | undefined
  isValid(): boolean
  /** Whether an `acquire()` or `adopt()` asked for the current grant, so that a run leaves it held. */
  isKept(): boolean
  /** Asks for a grant for the run; `true` once the run has begun under one. */
  claim(options: AcquireOptions, run: LeaseRun): Promise<boolean>
  /** The holder for which a claim was refused, if it is known. Never rejects. */
  holder(): Promise<string | undefined>
  /** The least `wait` with which the store can tell a dead holder from a live one; `undefined` where one look is enough. */
  leastWait(): LeastWait | undefined
  release(): Promise<unknown>
  /** Does the work, and tells the channels of it. */
  publish<T>(work: () => Promise<T>): Promise<T>
  report(error: unknown): void
}

/** The runs of one lease object: one at a time, each under the grant that is held, or under one of its own. */
export class LeaseRuns {
  readonly #host: RunHost
  readonly #queue: RunQueue
  #current: LeaseRun | undefined

  constructor(host: RunHost) {
    this.#host = host
    this.#queue = new RunQueue(host.clock, host.aborts)
  }

  /** The run in progress, if it works under this grant. */
  under(grant: Pick<RunGrant, 'grantId'>): LeaseRun | undefined {
    return this.#current?.isUnder(grant) === true ? this.#current : undefined
  }

  async run<T>(lease: Held, work: (held: Held) => Promise<T>, options: AcquireOptions): Promise<T> {
    const { clock, details } = this.#host
    checkWork('the work of run', work, details)
    if (workContext.includes(lease)) {
      // The inner run would wait for the outer one, and the outer one for its work.
      throw new LeaseConflictError(
        `run of lease '${details.leaseName}' was called inside its own work, which holds the lease already: do the work ` +
          'there, or use a lease of another name',
        details,
      )
    }
    const { wait = 0 } = options
    const startedAt = clock.now()
    if (!this.#queue.tryEnter() && !(await this.#queue.enter(options))) {
      throw new LeaseHeldError(
        `lease '${details.leaseName}' is held by another run of this same object (owner '${details.owner}'): raise wait, ` +
          'or try later',
        { ...details, holder: details.owner },
      )
    }
    const run = new LeaseRun(options.onLost)
    this.#current = run
    try {
      await this.#begin(run, options, wait === 0 ? 0 : Math.max(wait - (clock.now() - startedAt), 0))
      return await workContext.run(lease, () => this.#host.publish(() => this.#do(run, lease, work)))
    } finally {
      await this.#end(run)
      this.#queue.leave()
    }
  }

  /** Rejects also if the work has ended after the validity: when a paused process goes on, its timers may come after that. */
  async #do<T>(run: LeaseRun, lease: Held, work: (held: Held) => Promise<T>): Promise<T> {
    const outcome = await run.do(lease, work)
    if (!run.isUnder(this.#host.currentGrant()) || this.#host.isValid()) return outcome
    const error = lossError({ reason: 'expired' }, this.#host.details)
    run.end(error)
    throw error
  }

  /** The owner gives the grant up: aborts the run in progress. */
  onReleased(): void {
    const { details } = this.#host
    const message = `lease '${details.leaseName}' was released while a run was in progress`
    this.#current?.end(new LeaseLostError(message, { ...details, reason: 'released' }))
  }

  /** Rejects the runs that wait for their turn with `error`, and the run in progress with `loss`. */
  close(error: LeaseUnavailableError, loss: LeaseLostError): void {
    this.#queue.rejectAll(error)
    this.#current?.end(loss)
  }

  /** Gets the run its grant: the one that is held already, or a new one within `wait` milliseconds. */
  async #begin(run: LeaseRun, options: AcquireOptions, wait: number): Promise<void> {
    const { details } = this.#host
    const grant = this.#host.currentGrant()
    if (grant !== undefined && this.#host.isValid()) {
      options.signal?.throwIfAborted()
      run.begin(grant)
      return
    }
    const isHeld = await this.#host.claim({ ...options, wait }, run)
    run.throwIfEnded()
    if (isHeld) return
    const holder = await this.#host.holder()
    const other = holder === details.owner ? 'another grant of this owner' : 'another owner'
    const by = holder === undefined ? other : `${other}, '${shownText(holder)}'`
    const least = this.#host.leastWait()
    const short = least !== undefined && (options.wait ?? 0) < least.wait ? least : undefined
    const advice = short === undefined ? ': raise wait, or try later' : `. ${short.advice}`
    throw new LeaseHeldError(`lease '${details.leaseName}' is held by ${by}${advice}`, {
      ...details,
      ...(holder === undefined ? {} : { holder }),
      ...(short === undefined ? {} : { leastWait: short.wait }),
    })
  }

  /** Releases the grant of a run, unless it has ended, another grant has replaced it, or an `acquire()` shares it. */
  async #end(run: LeaseRun): Promise<void> {
    if (this.#current === run) this.#current = undefined
    if (this.#host.isKept() || !run.isUnder(this.#host.currentGrant())) return
    try {
      await this.#host.release()
    } catch (error) {
      this.#host.report(error)
    }
  }
}
