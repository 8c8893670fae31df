import type { LeaseLost } from '../errors/lease-lost.js'
import { lossError } from '../errors/lease-lost-error.js'
import { shownText } from '../errors/shown-value.js'
import { createGrantId } from '../store/grant-id.js'
import { type LeastWait, leastWaitOf } from '../store/one-look.js'
import { AbortListeners } from '../time/abort-listeners.js'
import { systemClock } from '../time/system-clock.js'
import { isThenable, readGuarded } from '../user-code/guarded-calls.js'
import { defaultLogger, logSafely } from '../user-code/logger.js'
import type { AcquireOptions } from './acquire-options.js'
import type { LeaseRun, RunGrant } from './lease-run.js'
import { LeaseRuns, type RunHost } from './lease-runs.js'
import { observeLoss, observeReleases, type PlainLease } from './observed-lease.js'

/** A grant of a lease that does not identify its grants. */
class ObservedGrant implements RunGrant {
  readonly grantId = createGrantId()
  readonly lost = new AbortController()
  fencingToken: bigint | undefined
}

/** `leastWaitOf`: of a recipe, which knows its store. */
type ObservedSubject = PlainLease &
  Required<Pick<PlainLease, 'settings'>> & { readonly [leastWaitOf]?: () => LeastWait | undefined }

/** The grants of a lease that has `acquire`, `release` and `checkLease` only, and its runs. A release of it ends the run. */
export class ObservedGrants implements RunHost {
  readonly clock = systemClock
  readonly aborts = new AbortListeners()
  readonly details: RunHost['details']
  readonly runs: LeaseRuns = new LeaseRuns(this)
  /** How many pieces of work go on although the loss of their grant was reported. */
  overdue = 0
  readonly #lease: ObservedSubject
  #grant: ObservedGrant | undefined
  #isKept = false
  /** Settles with the last release; never rejects. */
  #releasing: Promise<unknown> | undefined

  constructor(lease: ObservedSubject) {
    const { name, owner } = lease.settings
    this.#lease = lease
    this.details = { leaseName: name, owner }
    observeReleases(lease, (release) => this.#released(release))
  }

  get signal(): AbortSignal {
    if (this.#lease.checkLease()) return this.#current().lost.signal
    return AbortSignal.abort(lossError({ reason: 'expired' }, this.details))
  }

  currentGrant(): RunGrant | undefined {
    return this.#lease.checkLease() ? this.#current() : this.#grant
  }

  isValid(): boolean {
    return this.#lease.checkLease()
  }

  isKept(): boolean {
    return this.#isKept
  }

  async claim(options: AcquireOptions, run: LeaseRun): Promise<boolean> {
    const grant = new ObservedGrant()
    // The grant may be lost before this function continues.
    run.begin(grant)
    if (!(await this.#lease.acquire({ ...options, onLost: (lost) => this.#lose(grant, lost) }))) return false
    if (grant.lost.signal.aborted) return true
    grant.fencingToken = this.#lease.fencingToken
    this.#isKept = false
    this.#grant = grant
    if (this.#releasing === undefined) return true
    // A release that was asked for during the attempt may have freed the grant.
    await this.#releasing
    if (!this.#lease.checkLease()) this.#onRelease()
    return true
  }

  async holder(): Promise<undefined> {
    return undefined
  }

  leastWait(): LeastWait | undefined {
    return this.#lease[leastWaitOf]?.()
  }

  /** What a lease of the user does is published by itself. */
  publish<T>(work: () => Promise<T>): Promise<T> {
    return work()
  }

  async release(): Promise<void> {
    await this.#lease.release()
  }

  report(error: unknown): void {
    const { leaseName, owner } = this.details
    logSafely(
      defaultLogger,
      'error',
      `lease '${shownText(leaseName)}' of '${shownText(owner)}': an error in the background`,
      error,
    )
  }

  /** The grant that is held. If it is not known yet, it was acquired outside of a run. */
  #current(): ObservedGrant {
    if (this.#grant !== undefined && !this.#grant.lost.signal.aborted) return this.#grant
    const grant = new ObservedGrant()
    grant.fencingToken = this.#lease.fencingToken
    this.#grant = grant
    this.#isKept = true
    observeLoss(
      this.#lease,
      (lost) => this.#lose(grant, lost),
      (error) => this.report(error),
    )
    return grant
  }

  /** Ends a lost grant. Settles when the work under it has ended, for a lease that waits for that. Never rejects. */
  #lose(grant: ObservedGrant, lost: LeaseLost): Promise<void> | undefined {
    if (grant.lost.signal.aborted) return undefined
    if (this.#grant === grant) this.#grant = undefined
    const error = lossError(lost, this.details)
    const run = this.runs.under(grant)
    grant.lost.abort(error)
    run?.end(error)
    const told = readGuarded(
      () => run?.onLost?.(lost),
      (failure) => this.report(failure),
    )
    const work = [run?.working, told].filter(isThenable)
    if (work.length === 0) return undefined
    this.overdue += 1
    return Promise.allSettled(work).then(() => {
      this.overdue -= 1
    })
  }

  #onRelease(): void {
    if (this.#grant === undefined) return
    this.#grant = undefined
    this.runs.onReleased()
  }

  #released(release: () => Promise<boolean>): Promise<boolean> {
    this.#onRelease()
    const released = release()
    const end = (): void => {
      if (this.#releasing === settled) this.#releasing = undefined
    }
    const settled = Promise.resolve(released).then(end, end)
    this.#releasing = settled
    return released
  }
}
