import { LeaseHeldError, LeaseLostError } from '@leasehold/core'
import type { CheckName } from './checks.js'
import { type ObservedLease, type ObservedRun, of } from './observed-lease.js'

/** Gets the reports of the monitor of runs. */
export interface RunObserver {
  fail(check: CheckName, message: string): void
  /** Whether a caller of `acquire` holds the grant of a run as well. */
  isKept(run: ObservedRun): boolean
  /** Checks that a grant can have been lost for this reason. */
  checkReason(lease: ObservedLease, fencingToken: bigint | undefined, reason: string): void
}

/** Watches the runs of all leases from outside. */
export class RunMonitor {
  readonly #monitor: RunObserver
  /** The runs whose promise or work has not ended, in the order of their calls. */
  readonly #runs = new Set<ObservedRun>()
  /** For each work that began since the last check: the earlier runs that had not begun. */
  readonly #overtaken = new Map<ObservedRun, readonly ObservedRun[]>()
  /** The runs that settled since the last check. */
  readonly #settled = new Set<ObservedRun>()
  /** The runs that were called while no other run of the same lease was unsettled. */
  readonly #alone = new WeakSet<ObservedRun>()
  readonly #reasonChecked = new WeakSet<ObservedRun>()

  constructor(monitor: RunObserver) {
    this.#monitor = monitor
  }

  add(run: ObservedRun): void {
    const isOther = (other: ObservedRun): boolean => other.lease === run.lease && !other.isSettled
    if (![...this.#runs].some(isOther)) this.#alone.add(run)
    this.#runs.add(run)
  }

  /** The process of the lease has died. */
  forget(lease: ObservedLease): void {
    for (const run of this.#runs) if (run.lease === lease) this.#runs.delete(run)
    for (const run of this.#settled) if (run.lease === lease) this.#settled.delete(run)
  }

  /** The matching run whose work has begun and was not aborted. */
  findBegun(matches: (run: ObservedRun) => boolean): ObservedRun | undefined {
    return [...this.#runs].find(
      (run) => run.work === 'begun' && !run.released && run.signal?.aborted === false && matches(run),
    )
  }

  onRelease(lease: ObservedLease): void {
    for (const run of this.#runs) {
      if (run.lease === lease && run.work === 'begun' && run.signal?.aborted === false) run.released = true
    }
  }

  onWorkBegun(run: ObservedRun): void {
    const { lease, fencingToken, signal } = run
    const isHeld = lease.checkLease() && lease.fencingToken === fencingToken && signal?.aborted === false
    if (!isHeld) this.#monitor.fail('granted-but-not-held', `a run began under token ${fencingToken}: ${of(lease)}`)
    const earlier: ObservedRun[] = []
    for (const other of this.#runs) {
      if (other === run) break
      if (other.lease === lease && other.work === 'not begun') earlier.push(other)
    }
    if (earlier.length > 0) this.#overtaken.set(run, earlier)
  }

  onSettled(run: ObservedRun, how: 'resolved' | 'rejected', error: unknown): void {
    // Not by the store: that may name this owner too, for an earlier grant of it.
    const isByRun = error instanceof LeaseHeldError && error.message.includes('another run of this same object')
    if (isByRun && this.#alone.has(run)) {
      this.#monitor.fail('needless-refusal', `to a run of ${of(run.lease)}: ${error.message}`)
    }
    if (how === 'resolved' && (run.work !== 'ended' || run.signal?.aborted === true)) {
      const why = run.work === 'ended' ? 'its grant had ended before its work' : 'its work had not ended'
      this.#monitor.fail('run-not-aborted', `a run resolved although ${why}: ${of(run.lease)}`)
    }
    this.#settled.add(run)
    if (run.work !== 'begun') this.#runs.delete(run)
  }

  /** After each step. */
  look(): void {
    this.#lookAtSettled()
    if (this.#runs.size === 0) return
    this.#lookAtOrder()
    const working = new Map<string, ObservedRun>()
    for (const run of this.#runs) {
      if (run.work === 'ended' && run.isSettled) this.#runs.delete(run)
      if (run.work !== 'begun' || !run.lease.process.isAwake) continue
      this.#lookAtSignal(run)
      if (!isUnderGrant(run)) continue
      const { name } = run.lease.settings
      const other = working.get(name)
      if (other !== undefined) {
        this.#monitor.fail('overlapping-works', `on '${name}', of ${of(other.lease)} and of ${of(run.lease)}`)
      }
      working.set(name, run)
    }
  }

  /** A run that has ended has freed its grant. */
  #lookAtSettled(): void {
    if (this.#settled.size === 0) return
    for (const run of this.#settled) {
      const { lease, fencingToken } = run
      const isHeld = fencingToken !== undefined && lease.fencingToken === fencingToken
      if (isHeld && !this.#monitor.isKept(run)) this.#monitor.fail('unfreed-run', of(lease))
    }
    this.#settled.clear()
  }

  /** Runs begin in the order of their calls. A run that was given up meanwhile has settled by now. */
  #lookAtOrder(): void {
    if (this.#overtaken.size === 0) return
    for (const [run, earlier] of this.#overtaken) {
      if (earlier.some(({ work, isSettled }) => work === 'not begun' && !isSettled)) {
        this.#monitor.fail('run-overtaken', `by a later one: ${of(run.lease)}`)
      }
    }
    this.#overtaken.clear()
  }

  /** After the end of the grant, the signal of the work has aborted and the run has rejected. */
  #lookAtSignal(run: ObservedRun): void {
    const { lease, fencingToken, signal } = run
    const monitor = this.#monitor
    if (signal?.aborted === false) {
      if (lease.fencingToken !== fencingToken) {
        monitor.fail(
          'run-not-aborted',
          `the grant with token ${fencingToken} has ended, the signal of its run was not aborted: ${of(lease)}`,
        )
      }
      return
    }
    if (!run.isSettled && lease.process.machine.isRunning)
      monitor.fail('run-not-aborted', `a run did not end with its grant: ${of(lease)}`)
    if (this.#reasonChecked.has(run)) return
    this.#reasonChecked.add(run)
    const reason = signal?.reason instanceof LeaseLostError ? signal.reason.reason : String(signal?.reason)
    if ((reason === 'released') !== run.released) monitor.fail('wrong-reason', `${reason} to a run of ${of(lease)}`)
    else if (reason !== 'released') monitor.checkReason(lease, fencingToken, reason)
  }
}

function isUnderGrant({ lease, fencingToken }: ObservedRun): boolean {
  return lease.checkLease() && lease.fencingToken === fencingToken
}
