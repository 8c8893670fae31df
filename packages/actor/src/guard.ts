import { type Lease, type LeaseLost, LeaseLostError } from '@leasehold/core'
import type { AnyActorRef, AnyActorScope, AnyEventObject, Snapshot } from 'xstate'
import { Attempt, type AttemptListener } from './attempt.js'
import { type ControlDetails, ControlEvent, type ControlType, isReserved } from './control-event.js'
import type { DropReason, GuardPlan } from './guard-options.js'
import {
  GuardSnapshot,
  type GuardState,
  type Outcome,
  type PersistedGuard,
  running,
  stopped,
} from './guard-snapshot.js'
import { leaseOf, settingsOf } from './lease-of-actor.js'
import { report } from './report.js'
import { type RetryListener, RetryTimer } from './retry-timer.js'
import { Stash } from './stash.js'
import { StashOverflowError } from './stash-overflow-error.js'
import { WorkerHost } from './worker-host.js'

/** For a lease without a setting of its own, in milliseconds. */
const RETRY_INTERVAL = 5_000

/** What a guard is restored from. */
export interface GuardSeed {
  readonly input: unknown
  readonly worker?: Snapshot<unknown> | undefined
  readonly stash?: readonly AnyEventObject[] | undefined
}

/**
 * One guarded actor: what its snapshots stand for. States change only in {@link transition}; what must not wait for
 * its turn there (the end of forwarding, of the worker, of the claim) happens in the callbacks themselves.
 */
export class Guard implements AttemptListener, RetryListener {
  readonly #plan: GuardPlan
  readonly #scope: AnyActorScope
  readonly #input: unknown
  /** Made for the first message: most guards never see one before they hold their lease. */
  #stash: Stash | undefined
  #lease: Lease | undefined
  #attempt: Attempt | undefined
  #timer: RetryTimer | undefined
  #host: WorkerHost | undefined
  /** The worker while messages may go to it: from its start until its end or the loss. */
  #open: AnyActorRef | undefined
  /** Once it is certain that the actor ends: what becomes of messages until it has. */
  #fate: DropReason | undefined
  #unstashing = false
  #restored: Snapshot<unknown> | undefined
  #attempts = 0
  #generation = 0
  #lastError: unknown

  constructor(plan: GuardPlan, scope: AnyActorScope, { input, worker, stash }: GuardSeed) {
    this.#plan = plan
    this.#scope = scope
    this.#input = input
    this.#restored = worker
    if (stash !== undefined) this.#stash = new Stash(plan, this.#log, stash)
  }

  /** The actor has started. */
  start(): void {
    try {
      this.#lease = leaseOf(this.#plan.lease, { input: this.#input, self: this.#scope.self })
    } catch (error) {
      // Not thrown: XState would end the actor by itself, and messages that wait would be lost without `onDropped`.
      this.#tell('lease.failed', { error })
      return
    }
    this.#acquire()
  }

  transition(snapshot: GuardSnapshot<Guard>, event: AnyEventObject | ControlEvent): GuardSnapshot<Guard> {
    try {
      if (ControlEvent.is(event)) return this.#onControl(snapshot, event)
      if (event.type === 'xstate.stop') return this.#end(stopped, 'stopped')
      if (isReserved(event.type)) return snapshot
      if (this.#stashed > 0 || !this.#maySend()) return this.#onHeldUp(snapshot, event)
      this.#open?.send(event)
      return snapshot
    } catch (error) {
      // What fails, fails before the message is stashed or handed on; a stash that overflows has dropped it.
      const isMessage = !ControlEvent.is(event) && !isReserved(event.type)
      if (isMessage && !(error instanceof StashOverflowError)) this.#ensureStash().drop(event, 'stopped')
      return this.#fail(error)
    }
  }

  /** The snapshot of the guard as it is now, in the given state. */
  snapshotIn(value: GuardState, outcome: Outcome = running): GuardSnapshot<Guard> {
    const context = {
      attempts: this.#attempts,
      generation: this.#generation,
      stashed: this.#stashed,
      lastError: this.#lastError,
    }
    const worker = value === 'active' && outcome === running ? this.#host?.worker : undefined
    return new GuardSnapshot<Guard>(this, outcome, value, context, worker)
  }

  /** What is stored of the actor, in the given state of it; `options` are XState's, for the worker. */
  persist(
    { status, output, error, value, children: { worker } }: GuardSnapshot<Guard>,
    options: unknown,
  ): PersistedGuard {
    if (status !== 'active') return { status, output, error, value }
    const state = worker ? this.#plan.worker.getPersistedSnapshot(worker.getSnapshot(), options) : this.#restored
    return {
      ...running,
      value: 'acquiringLease',
      input: this.#input,
      ...(state === undefined ? {} : { worker: state }),
      stash: this.#stash?.toArray() ?? [],
    }
  }

  onGranted(): void {
    this.#tell('lease.granted')
  }

  onRefused(error?: unknown): void {
    this.#tell('lease.refused', { error })
  }

  onRetry(): void {
    this.#tell('lease.retry')
  }

  /** From here on nothing reaches the worker, and the worker does nothing, whatever stands before us in the mailbox. */
  onLost(lost: LeaseLost): void {
    if (!this.#plan.reacquires) this.#fate = 'lost'
    this.#open = undefined
    this.#host?.stop()
    this.#tell('lease.lost', { lost })
  }

  onReleaseFailed(error: unknown): void {
    this.#log(`the release of lease '${settingsOf(this.#lease).name}' failed`, error)
  }

  #onControl(snapshot: GuardSnapshot<Guard>, { type, details }: ControlEvent): GuardSnapshot<Guard> {
    switch (type) {
      case 'lease.granted':
        this.#attempts = 0
        this.#lastError = undefined
        return this.#tryAgain(snapshot)
      case 'lease.refused':
        this.#attempt = undefined
        this.#attempts += 1
        this.#lastError = details.error
        this.#arm()
        return this.snapshotIn('acquiringLease')
      case 'lease.retry':
        return this.#tryAgain(snapshot)
      case 'lease.unstash':
        this.#unstashing = false
        return this.#unstash(snapshot)
      case 'lease.lost':
        return this.#onLoss(details.lost)
      case 'xstate.done.actor.worker':
        return this.#end({ status: 'done', output: details.output, error: undefined }, 'stopped')
      case 'lease.failed':
      case 'xstate.error.actor.worker':
        return this.#fail(details.error)
    }
  }

  /** Takes up whatever was put off: the next attempt, the start of the worker, or what waits for a doubtful lease. */
  #tryAgain(snapshot: GuardSnapshot<Guard>): GuardSnapshot<Guard> {
    this.#acquire()
    if (this.#attempt?.isHeld !== true) return snapshot
    if (this.#host === undefined) return this.#activate()
    return this.#unstash(snapshot)
  }

  #acquire(): void {
    const lease = this.#lease
    if (lease === undefined || this.#attempt !== undefined || this.#host !== undefined || this.#fate) return
    this.#attempt = new Attempt(lease, this.#plan.wait, this)
    this.#attempt.begin()
  }

  #activate(): GuardSnapshot<Guard> {
    // Granted, but not valid any more: the loss is about to be told.
    if (this.#lease?.checkLease() !== true) {
      this.#arm()
      return this.snapshotIn('acquiringLease')
    }
    const seed = { input: this.#input, snapshot: this.#restored }
    const host = new WorkerHost(this.#scope, this.#plan.worker, seed, (worker) => this.#onWorkerEnded(worker))
    this.#restored = undefined
    this.#host = host
    this.#generation += 1
    // After the snapshot is in place, so that the worker finds its guard active, and before observers see it.
    this.#scope.defer(() => this.#startWorker(host))
    return this.snapshotIn('active')
  }

  #startWorker(host: WorkerHost): void {
    try {
      // Making the worker runs code of its own, which may have cost the lease.
      if (this.#attempt?.isHeld !== true) {
        host.stop()
        return
      }
      this.#open = host.worker
      host.start()
      this.#askToUnstash()
    } catch (error) {
      this.#tell('xstate.error.actor.worker', { error })
    }
  }

  get #stashed(): number {
    return this.#stash === undefined ? 0 : this.#stash.length
  }

  /** Whether the worker may be given a message at this instant. */
  #maySend(): boolean {
    return this.#open !== undefined && this.#lease?.checkLease() === true
  }

  /** Has the next of those who wait handed on, behind what is in the mailbox. */
  #askToUnstash(): void {
    if (this.#unstashing || this.#stashed === 0) return
    this.#unstashing = true
    this.#tell('lease.unstash')
  }

  /**
   * Hands on the message whose turn it is. One an event, as if it were sent now: were the whole stash handed on in one
   * event, a stop that the first message leads to would have to wait until the last was handled.
   */
  #unstash(snapshot: GuardSnapshot<Guard>): GuardSnapshot<Guard> {
    if (this.#maySend()) {
      this.#sendNext()
      this.#askToUnstash()
    } else if (this.#open !== undefined) this.#arm()
    return this.snapshotIn(snapshot.value)
  }

  #sendNext(): void {
    const event = this.#stash?.shift()
    if (event !== undefined) this.#open?.send(event)
  }

  /** A message that cannot go straight on: the lease is not held, or others wait before it. */
  #onHeldUp(snapshot: GuardSnapshot<Guard>, event: AnyEventObject): GuardSnapshot<Guard> {
    const stash = this.#ensureStash()
    if (this.#fate !== undefined) {
      stash.drop(event, this.#fate)
      return snapshot
    }
    const isOpen = this.#maySend()
    if (!isOpen && this.#open !== undefined) this.#arm()
    // Room is made before the message is added, so that a stash that is being handed on does not overflow.
    if (isOpen) this.#sendNext()
    stash.add(event)
    if (isOpen) this.#askToUnstash()
    return this.snapshotIn(snapshot.value)
  }

  #ensureStash(): Stash {
    this.#stash ??= new Stash(this.#plan, this.#log)
    return this.#stash
  }

  #onLoss(lost: LeaseLost | undefined): GuardSnapshot<Guard> {
    this.#timer?.disarm(this.#scope)
    this.#attempt = undefined
    const error = this.#lossOf(lost)
    if (!this.#plan.reacquires) return this.#fail(error, 'lost')
    this.#lastError = error
    const host = this.#host
    // Not at once where the worker never ran: a lease that is lost as soon as it is granted would spin.
    if (host === undefined) this.#arm()
    host?.whenEnded(() => {
      this.#host = undefined
      this.#acquire()
    })
    return this.snapshotIn('acquiringLease')
  }

  #lossOf(lost: LeaseLost = { reason: 'expired' }): LeaseLostError {
    const { name, owner } = settingsOf(this.#lease)
    const { reason, cause } = lost
    return new LeaseLostError(`lease '${name}' was lost: ${reason}`, { leaseName: name, owner, reason, cause })
  }

  #onWorkerEnded(worker: AnyActorRef): void {
    this.#open = undefined
    this.#fate = 'stopped'
    const { status, output, error }: Snapshot<unknown> = worker.getSnapshot()
    if (status === 'done') this.#tell('xstate.done.actor.worker', { output })
    else if (status === 'error') this.#tell('xstate.error.actor.worker', { error })
    // Someone sent it a stop. There is nothing left to guard.
    else this.#scope.self.send({ type: 'xstate.stop' })
  }

  #fail(error: unknown, why: DropReason = 'stopped'): GuardSnapshot<Guard> {
    return this.#end({ status: 'error', output: undefined, error }, why)
  }

  /** The end of the actor, of whatever kind. The lease is released when the worker does nothing any more. */
  #end(outcome: Outcome, why: DropReason): GuardSnapshot<Guard> {
    const value = this.#host === undefined ? 'acquiringLease' : 'active'
    const attempt = this.#attempt
    this.#fate = why
    this.#open = undefined
    this.#timer?.disarm(this.#scope)
    this.#host?.stop()
    if (this.#host === undefined) attempt?.end()
    else this.#host.whenEnded(() => attempt?.end())
    this.#stash?.dropAll(why)
    return this.snapshotIn(value, outcome)
  }

  #arm(): void {
    const interval = this.#plan.retryInterval ?? settingsOf(this.#lease).retryInterval ?? RETRY_INTERVAL
    this.#timer ??= new RetryTimer(this)
    this.#timer.arm(this.#scope, interval)
  }

  /** Never throws: it is called from promises and timers, where nobody would catch an inspector's error. */
  #tell(type: ControlType, details?: ControlDetails): void {
    try {
      this.#scope.self.send(new ControlEvent(type, details))
    } catch (error) {
      this.#log(`the event '${type}' of a guarded actor could not be sent`, error)
    }
  }

  get #log(): (message: string, error: unknown) => void {
    return (message, error) => report(this.#scope, message, error)
  }
}
