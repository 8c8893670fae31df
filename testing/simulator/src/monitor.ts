import type { Grant, LeaseLost, Metadata } from '@leasehold/core'
import type { VirtualTime } from '../../../packages/testkit/src/time/virtual-time.js'
import type { CheckName, Violation } from './checks.js'
import type { Actor, HistoryEntry, HistoryEvent } from './history.js'
import { type Asked, type LeaseObserver, type ObservedLease, type ObservedRun, of } from './observed-lease.js'
import type { SimulationPlan } from './plan.js'
import { PreviousMonitor } from './previous-monitor.js'
import { RunMonitor, type RunObserver } from './run-monitor.js'
import type { SeenBreak, SeenGrant } from './seen-grant.js'
import { LEASE_NAME } from './workload.js'

/** How long after the end of validity a holder is notified at the latest, in milliseconds. */
const LATEST_NOTICE = 250

/** Watches a run from outside, in true time, and notes the first rule that it breaks. */
export class Monitor implements LeaseObserver, RunObserver {
  readonly history: HistoryEntry[] = []
  violation: Violation | undefined
  /** Every grant that the store has made so far. */
  readonly grants: SeenGrant[] = []
  /** Every break that a store with a clock of its own has carried out so far, with its instant of true time. */
  readonly breaks: (SeenBreak & { readonly at: number })[] = []
  losses = 0
  writes = 0
  /** Which faults have happened that can make a holder lose its lease for a reason of their own. */
  readonly happened = new Set<'broken' | 'deleted' | 'suspended' | 'closed'>()
  readonly previous: PreviousMonitor
  readonly #plan: SimulationPlan
  readonly #time: VirtualTime
  /** Whether anything in the run can make a lease be lost. Faulty user code must not cost a lease. */
  readonly #isDisturbed: boolean
  /** Whether a client of the store answers with nonsense: it can then spoil records as well. */
  readonly #isSpoilt: boolean
  readonly #leases = new Map<string, Set<ObservedLease>>()
  readonly #asked = new Set<Asked>()
  readonly #askedNames = new Set<string>()
  /** The ids of all grants, by name and token, and of those that a challenger asked to break. */
  readonly #grantIds = new Map<string, string>()
  readonly #broken = new Set<string | undefined>()
  readonly #lastGrant = new Map<string, SeenGrant>()
  /** For each lease whose validity ended: the token of the grant, and the latest instant of the notification. */
  readonly #over = new Map<ObservedLease, { readonly fencingToken: bigint; latest: number }>()
  readonly #largestAccepted = new Map<string, bigint>()
  readonly #runs: RunMonitor

  constructor(plan: SimulationPlan, time: VirtualTime) {
    const { faults } = plan
    this.#plan = plan
    this.#time = time
    this.#isDisturbed = faults.some(({ kind }) => kind !== 'user-code')
    this.#isSpoilt = faults.some(({ kind }) => kind === 'nonsense')
    this.previous = new PreviousMonitor(faults)
    this.#runs = new RunMonitor(this)
  }

  note(actor: Actor, event: HistoryEvent, detail = ''): void {
    this.history.push({ at: this.#time.now, actor, event, detail })
  }

  /** Notes a violation; the first one counts. */
  fail(check: CheckName, message: string, cause?: unknown): void {
    if (this.violation !== undefined) return
    this.violation = { check, at: this.#time.now, message, cause }
    this.note('check', 'violation', `${check}: ${message}`)
  }

  watch(lease: ObservedLease): void {
    const { name } = lease.settings
    this.#leases.set(name, (this.#leases.get(name) ?? new Set()).add(lease))
  }

  /** The process of the lease has died. */
  forget(lease: ObservedLease): void {
    this.#leases.get(lease.settings.name)?.delete(lease)
    this.#over.delete(lease)
    this.#runs.forget(lease)
    for (const asked of this.#asked) if (asked.lease === lease) this.#asked.delete(asked)
  }

  /** After each step: at most one holder of each name, and one work under its grant. */
  look(): void {
    this.#runs.look()
    for (const [name, leases] of this.#leases) {
      let holder: ObservedLease | undefined
      for (const lease of leases) {
        if (!this.#isValid(lease)) {
          this.#lookAtEnd(lease)
          continue
        }
        if (this.#over.get(lease)?.fencingToken === lease.fencingToken) this.fail('revived', of(lease))
        if (holder !== undefined) this.fail('exclusion', `'${name}' is held by ${of(holder)} and by ${of(lease)}`)
        holder = lease
      }
      if (holder !== undefined) this.#lookAtHolder(holder)
    }
  }

  /** Whether an awake node holds the contended lease; any lease counts if the contended one was never requested. */
  get isHeld(): boolean {
    for (const [name, leases] of this.#leases) {
      if (name !== LEASE_NAME && this.#askedNames.has(LEASE_NAME)) continue
      for (const lease of leases) if (this.#isValid(lease)) return true
    }
    return false
  }

  /** The token of the last grant of a name. */
  lastTokenOf(name: string): bigint | undefined {
    return this.#lastGrant.get(name)?.fencingToken
  }

  /** A store may report a grant again whenever it writes it or answers with it. */
  onGrant(grant: SeenGrant): void {
    const { name, owner, grantId, fencingToken } = grant
    const key = `${name} ${fencingToken}`
    if (this.#grantIds.get(key) === grantId) return
    this.grants.push(grant)
    this.note('store', 'granted', `'${name}' to ${owner}, token ${fencingToken}`)
    const last = this.#lastGrant.get(name)
    if (last !== undefined && fencingToken <= last.fencingToken) {
      this.fail('fencing-token', `token ${fencingToken} for ${owner} after ${last.fencingToken} for ${last.owner}`)
    }
    this.#lastGrant.set(name, grant)
    this.#grantIds.set(key, grantId)
    this.previous.onGrant(grant)
  }

  onHeartbeat(lease: ObservedLease | undefined, owner: string): void {
    if (lease === undefined) this.fail('heartbeat-after-release', `of a grant of ${owner} that is not held`)
    else if (!lease.checkLease()) this.fail('late-heartbeat', `of ${of(lease)}`)
  }

  /** A challenger asks the store to break a grant. */
  onBreak(grantId: string | undefined): void {
    if (grantId !== undefined) this.#broken.add(grantId)
  }

  /** A process asks the store to free a grant. */
  onFreeing(grant: Grant): void {
    const isOf = ({ lease, fencingToken }: Asked | ObservedRun): boolean =>
      lease.settings.name === grant.name && lease.settings.owner === grant.owner && fencingToken === grant.fencingToken
    for (const asked of this.#asked) {
      if (!isOf(asked) || asked.outcome !== 'granted' || asked.released || asked.lost !== undefined) continue
      this.fail('unasked-release', `of ${of(asked.lease)}, which a caller of acquire still holds`)
    }
    const run = this.#runs.findBegun(isOf)
    if (run !== undefined) this.fail('unasked-release', `of ${of(run.lease)}, under which a run still works`)
  }

  onWrite(lease: ObservedLease, fencingToken: bigint, isAccepted: boolean): void {
    this.writes += 1
    const { name } = lease.settings
    const largest = this.#largestAccepted.get(name)
    this.note(lease.process.node, 'wrote', `token ${fencingToken} ${isAccepted ? 'accepted' : 'refused'}`)
    if (isAccepted) {
      if (largest !== undefined && fencingToken < largest) {
        this.fail('stale-write', `token ${fencingToken} was accepted after ${largest}`)
      }
      this.#largestAccepted.set(name, fencingToken)
    } else if (this.#isValid(lease) && lease.fencingToken === fencingToken) {
      this.fail('refused-write', `token ${fencingToken} of ${of(lease)}, which holds '${name}'`)
    }
  }

  onAsked(asked: Asked): void {
    this.#asked.add(asked)
    this.#askedNames.add(asked.lease.settings.name)
    this.note(asked.lease.process.node, 'acquire')
  }

  onAnswered(asked: Asked): void {
    const { lease, outcome, fencingToken } = asked
    if (outcome !== 'granted') {
      this.#asked.delete(asked)
      this.note(lease.process.node, outcome === 'refused' ? 'refused' : 'failed')
      return
    }
    this.note(lease.process.node, 'acquired', `token ${fencingToken}`)
    if (!lease.checkLease()) this.fail('granted-but-not-held', of(lease))
  }

  onLost(asked: Asked, lost: LeaseLost): void {
    const { lease } = asked
    this.note(lease.process.node, 'lost', lost.reason)
    this.losses += 1
    if (asked.lost !== undefined) this.fail('callback-twice', `to ${of(lease)}: ${lost.reason}`)
    asked.lost = lost
    if (asked.released) this.fail('callback-after-release', `to ${of(lease)}: ${lost.reason}`)
    else if (asked.outcome !== 'granted') this.fail('callback-early', `to ${of(lease)}: ${lost.reason}`)
    this.checkReason(lease, asked.fencingToken, lost.reason)
  }

  onRelease(lease: ObservedLease): void {
    this.note(lease.process.node, 'release')
    this.#runs.onRelease(lease)
    for (const asked of this.#asked) {
      if (asked.lease !== lease || asked.outcome !== 'granted' || asked.lost !== undefined) continue
      asked.released = true
    }
  }

  onReleased(lease: ObservedLease, how: string): void {
    this.note(lease.process.node, 'released', how)
  }

  onUpdated(lease: ObservedLease, fencingToken: bigint, metadata: Metadata): void {
    this.note(lease.process.node, 'updated', `token ${fencingToken}, ${JSON.stringify(metadata)}`)
    this.previous.onConfirmed(lease.settings.name, fencingToken, metadata)
  }

  onRunAsked(run: ObservedRun): void {
    this.#askedNames.add(run.lease.settings.name)
    this.note(run.lease.process.node, 'run')
    this.#runs.add(run)
  }

  onWorkBegun(run: ObservedRun): void {
    this.note(run.lease.process.node, 'acquired', `token ${run.fencingToken}, by a run`)
    this.#runs.onWorkBegun(run)
  }

  onRunSettled(run: ObservedRun, how: 'resolved' | 'rejected', error?: unknown): void {
    this.note(run.lease.process.node, 'ran', how)
    this.#runs.onSettled(run, how, error)
  }

  /** Each caller with a grant holds it, has released it, or was notified of its loss. */
  lookAtLosses(): void {
    for (const asked of this.#asked) {
      const { lease, outcome, released, lost, fencingToken } = asked
      if (outcome !== 'granted') continue
      if (lost !== undefined || released) {
        this.#asked.delete(asked)
      } else if (lease.process.isAwake && lease.fencingToken !== fencingToken) {
        this.fail('loss-not-notified', `to ${of(lease)}, of token ${fencingToken}`)
      }
    }
  }

  /** The holder of a lease has the last grant. */
  #lookAtHolder(lease: ObservedLease): void {
    const { name } = lease.settings
    const last = this.#lastGrant.get(name)
    if (last !== undefined && last.fencingToken !== lease.fencingToken) {
      this.fail('validity-outlives-grant', `${of(lease)} holds '${name}', which was granted to ${last.owner}`)
    }
    const fault = this.#isSpoilt ? undefined : this.previous.faultOf(lease)
    if (fault !== undefined) this.fail('wrong-previous', `${of(lease)} found ${fault}`)
  }

  /** A validity that has ended does not return, and the holder is soon notified of the loss. */
  #lookAtEnd(lease: ObservedLease): void {
    const { fencingToken } = lease
    if (fencingToken === undefined || !lease.process.isAwake) return
    const { now } = this.#time
    const known = this.#over.get(lease)
    const over = known?.fencingToken === fencingToken ? known : { fencingToken, latest: Number.POSITIVE_INFINITY }
    this.#over.set(lease, over)
    // The timers of a suspended machine run late by the length of the suspend.
    const isTimely = lease.process.machine.isRunning && !this.happened.has('suspended')
    if (!isTimely) over.latest = Number.POSITIVE_INFINITY
    else if (over.latest === Number.POSITIVE_INFINITY) over.latest = now + LATEST_NOTICE
    else if (now > over.latest) {
      this.fail('loss-not-notified', `to ${of(lease)} within ${LATEST_NOTICE} ms of the end of its validity`)
    }
  }

  #isValid(lease: ObservedLease): boolean {
    const { state } = lease
    return (state === 'held' || state === 'jeopardy') && lease.process.isAwake && lease.checkLease()
  }

  /** Whether a caller of `acquire` holds the grant of a run as well. */
  isKept({ lease, fencingToken }: ObservedRun): boolean {
    return [...this.#asked].some((asked) => asked.lease === lease && asked.fencingToken === fencingToken)
  }

  /** Checks that a grant can have been lost for this reason. */
  checkReason(lease: ObservedLease, fencingToken: bigint | undefined, reason: string): void {
    const loss = `${reason} to ${of(lease)}`
    if (reason === 'max-hold' || reason === 'closed') return
    const grantId = this.#grantIds.get(`${lease.settings.name} ${fencingToken}`)
    if (reason === 'broken' && grantId !== undefined && this.#broken.has(grantId)) return
    // Grants that are renewed only by hand expire where nobody does.
    const isManual = this.#plan.timeouts.strategy === 'manual'
    if (!this.#isDisturbed && !(isManual && reason === 'expired')) this.fail('needless-loss', loss)
    if (reason === 'expired') return
    const last = this.#lastGrant.get(lease.settings.name)
    const isTaken = last !== undefined && fencingToken !== undefined && last.fencingToken > fencingToken
    const isTrue = reason === 'taken' ? isTaken || this.happened.has('deleted') : this.happened.has(reason as 'broken')
    if (!isTrue) this.fail('wrong-reason', loss)
  }
}
