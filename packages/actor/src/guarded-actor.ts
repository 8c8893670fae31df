import { type Lease, type LeaseLost, LeaseLostError } from '@leasehold/core'
import type { AnyActorRef, AnyActorScope, AnyEventObject, Snapshot } from 'xstate'
import { Attempt, type AttemptListener } from './attempt.js'
import { type ControlDetails, ControlEvent, type ControlType, isReserved } from './control-event.js'
import {
  GuardedSnapshot,
  type GuardState,
  type Outcome,
  type PersistedGuardedActor,
  running,
  stopped,
} from './guarded-snapshot.js'
import type { DropReason, GuardedPlan } from './lease-guarded-options.js'
import { leaseOf, settingsOf } from './lease-of-actor.js'
import { report } from './report.js'
import { type RetryListener, RetryTimer } from './retry-timer.js'
import { Stash, StashOverflowError } from './stash.js'
import { WorkerHost } from './worker-host.js'

/** Default for a lease without this setting, in milliseconds. */
const RETRY_INTERVAL = 5_000

/** The input of a guarded actor, and its restored parts, if any. */
export interface GuardedSeed {
  readonly input: unknown
  readonly worker?: Snapshot<unknown> | undefined
  readonly stash?: readonly AnyEventObject[] | undefined
}

/**
 * One guarded actor, referenced by all its snapshots. The state changes only in {@link transition}. Urgent actions, such
 * as stopping the worker after a loss, happen directly in the callbacks.
 */
export class GuardedActor implements AttemptListener, RetryListener {
  readonly #plan: GuardedPlan
  readonly #scope: AnyActorScope
  readonly #input: unknown
  /** Created for the first stashed message. Most actors never stash one. */
  #stash: Stash | undefined
  #lease: Lease | undefined
  #attempt: Attempt | undefined
  #timer: RetryTimer | undefined
  #host: WorkerHost | undefined
  /** The worker while it may receive messages: from its start until its end or the loss. */
  #open: AnyActorRef | undefined
  /** Set when the actor is going to end: the drop reason of all further messages. */
  #dropReason: DropReason | undefined
  #unstashing = false
  #restored: Snapshot<unknown> | undefined
  #attempts = 0
  #generation = 0
  #lastError: unknown

  constructor(plan: GuardedPlan, scope: AnyActorScope, { input, worker, stash }: GuardedSeed) {
    this.#plan = plan
    this.#scope = scope
    this.#input = input
    this.#restored = worker
    if (stash !== undefined) this.#stash = new Stash(plan, this.#log, stash)
  }

  /** Called when the actor starts. */
  start(): void {
    try {
      this.#lease = leaseOf(this.#plan.lease, { input: this.#input, self: this.#scope.self })
    } catch (error) {
      // Rethrown, the error would end the actor at once, and stashed messages would be lost without `onDropped`.
      this.#sendControl('lease.failed', { error })
      return
    }
    this.#acquire()
  }

  transition(
    snapshot: GuardedSnapshot<GuardedActor>,
    event: AnyEventObject | ControlEvent,
  ): GuardedSnapshot<GuardedActor> {
    try {
      if (ControlEvent.is(event)) return this.#onControl(snapshot, event)
      if (event.type === 'xstate.stop') return this.#end(stopped, 'stopped')
      if (isReserved(event.type)) return snapshot
      if (this.#stashed > 0 || !this.#maySend()) return this.#onHeldUp(snapshot, event)
      this.#open?.send(event)
      return snapshot
    } catch (error) {
      // The message was neither stashed nor forwarded yet, except for an overflow, where the stash has dropped it.
      const isMessage = !ControlEvent.is(event) && !isReserved(event.type)
      if (isMessage && !(error instanceof StashOverflowError)) this.#ensureStash().drop(event, 'stopped')
      return this.#fail(error)
    }
  }

  /** Returns a snapshot of the current data, in the given state. */
  snapshotIn(value: GuardState, outcome: Outcome = running): GuardedSnapshot<GuardedActor> {
    const context = {
      attempts: this.#attempts,
      generation: this.#generation,
      stashed: this.#stashed,
      lastError: this.#lastError,
    }
    const worker = value === 'active' && outcome === running ? this.#host?.worker : undefined
    return new GuardedSnapshot<GuardedActor>(this, outcome, value, context, worker)
  }

  /** Returns the persisted form of a snapshot. XState passes `options`, which go to the worker. */
  persist(
    { status, output, error, value, children: { worker } }: GuardedSnapshot<GuardedActor>,
    options: unknown,
  ): PersistedGuardedActor {
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
    this.#sendControl('lease.granted')
  }

  onRefused(error?: unknown): void {
    this.#sendControl('lease.refused', { error })
  }

  onRetry(): void {
    this.#sendControl('lease.retry')
  }

  /** Stops forwarding and the worker at once, ahead of all events in the mailbox. */
  onLost(lost: LeaseLost): void {
    if (!this.#plan.reacquires) this.#dropReason = 'lost'
    this.#open = undefined
    this.#host?.stop()
    this.#sendControl('lease.lost', { lost })
  }

  onReleaseFailed(error: unknown): void {
    this.#log(`the release of lease '${settingsOf(this.#lease).name}' failed`, error)
  }

  #onControl(snapshot: GuardedSnapshot<GuardedActor>, { type, details }: ControlEvent): GuardedSnapshot<GuardedActor> {
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

  /** Continues with the next pending step: a new attempt, the start of the worker, or the stash. */
  #tryAgain(snapshot: GuardedSnapshot<GuardedActor>): GuardedSnapshot<GuardedActor> {
    this.#acquire()
    if (this.#attempt?.isHeld !== true) return snapshot
    if (this.#host === undefined) return this.#activate()
    return this.#unstash(snapshot)
  }

  #acquire(): void {
    const lease = this.#lease
    if (lease === undefined || this.#attempt !== undefined || this.#host !== undefined || this.#dropReason) return
    this.#attempt = new Attempt(lease, this.#plan.wait, this)
    this.#attempt.begin()
  }

  #activate(): GuardedSnapshot<GuardedActor> {
    // Granted but no longer valid: `onLost` will follow.
    if (this.#lease?.checkLease() !== true) {
      this.#arm()
      return this.snapshotIn('acquiringLease')
    }
    const snapshot = this.#restored
    const seed = { input: this.#input, ...(snapshot === undefined ? {} : { snapshot }) }
    const host = new WorkerHost(this.#scope, this.#plan.worker, seed, (worker) => this.#onWorkerEnded(worker))
    this.#restored = undefined
    this.#host = host
    this.#generation += 1
    // Deferred, so that the snapshot is already `active` when the worker starts. Observers are notified afterwards.
    this.#scope.defer(() => this.#startWorker(host))
    return this.snapshotIn('active')
  }

  #startWorker(host: WorkerHost): void {
    try {
      // Creating the worker runs user code, and the lease may have been lost meanwhile.
      if (this.#attempt?.isHeld !== true) {
        host.stop()
        return
      }
      this.#open = host.worker
      host.start()
      this.#askToUnstash()
    } catch (error) {
      this.#sendControl('xstate.error.actor.worker', { error })
    }
  }

  get #stashed(): number {
    return this.#stash?.length ?? 0
  }

  /** Whether the worker may receive a message now. */
  #maySend(): boolean {
    return this.#open !== undefined && this.#lease?.checkLease() === true
  }

  /** Schedules the next stashed message, after the events in the mailbox. */
  #askToUnstash(): void {
    if (this.#unstashing || this.#stashed === 0) return
    this.#unstashing = true
    this.#sendControl('lease.unstash')
  }

  /**
   * Forwards the next stashed message. Each message takes its own control event: if one event forwarded the whole stash,
   * a stop caused by the first message would have to wait until the last message was handled.
   */
  #unstash(snapshot: GuardedSnapshot<GuardedActor>): GuardedSnapshot<GuardedActor> {
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

  /** Handles a message that cannot be forwarded yet: the lease is not valid, or other messages are stashed. */
  #onHeldUp(snapshot: GuardedSnapshot<GuardedActor>, event: AnyEventObject): GuardedSnapshot<GuardedActor> {
    const stash = this.#ensureStash()
    if (this.#dropReason !== undefined) {
      stash.drop(event, this.#dropReason)
      return snapshot
    }
    const isOpen = this.#maySend()
    if (!isOpen && this.#open !== undefined) this.#arm()
    // Forwards one message before adding another, so that the stash does not overflow while it is being emptied.
    if (isOpen) this.#sendNext()
    stash.add(event)
    if (isOpen) this.#askToUnstash()
    return this.snapshotIn(snapshot.value)
  }

  #ensureStash(): Stash {
    this.#stash ??= new Stash(this.#plan, this.#log)
    return this.#stash
  }

  #onLoss(lost: LeaseLost | undefined): GuardedSnapshot<GuardedActor> {
    this.#timer?.disarm()
    this.#attempt = undefined
    const error = this.#lossOf(lost)
    if (!this.#plan.reacquires) return this.#fail(error, 'lost')
    this.#lastError = error
    const host = this.#host
    // If the worker never ran, wait: a lease that is lost right after each grant would cause a busy loop.
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
    this.#dropReason = 'stopped'
    const { status, output, error }: Snapshot<unknown> = worker.getSnapshot()
    if (status === 'done') this.#sendControl('xstate.done.actor.worker', { output })
    else if (status === 'error') this.#sendControl('xstate.error.actor.worker', { error })
    // Other code stopped the worker.
    else this.#scope.self.send({ type: 'xstate.stop' })
  }

  #fail(error: unknown, why: DropReason = 'stopped'): GuardedSnapshot<GuardedActor> {
    return this.#end({ status: 'error', output: undefined, error }, why)
  }

  /** Ends the actor. The lease is released when the worker has ended. */
  #end(outcome: Outcome, why: DropReason): GuardedSnapshot<GuardedActor> {
    const value = this.#host === undefined ? 'acquiringLease' : 'active'
    const attempt = this.#attempt
    this.#dropReason = why
    this.#open = undefined
    this.#timer?.disarm()
    this.#host?.stop()
    if (this.#host === undefined) attempt?.end()
    else this.#host.whenEnded(() => attempt?.end())
    this.#stash?.dropAll(why)
    return this.snapshotIn(value, outcome)
  }

  #arm(): void {
    const interval = this.#plan.retryInterval ?? settingsOf(this.#lease).retryInterval ?? RETRY_INTERVAL
    this.#timer ??= new RetryTimer(this.#scope, this)
    this.#timer.arm(interval)
  }

  /** Never throws: it is called from promises and timers, where an inspector's error would be uncaught. */
  #sendControl(type: ControlType, details?: ControlDetails): void {
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
