import type { LeaseLost } from '@leasehold/core'
import type { AnyActorRef, AnyActorScope, AnyEventObject, Snapshot } from 'xstate'
import { Claim, type Claimant } from './claim.js'
import { type ControlDetails, ControlEvent, type ControlType, isReserved } from './control-event.js'
import { Drain } from './drain.js'
import {
  type GuardContext,
  type GuardedSeed,
  GuardedSnapshot,
  type GuardState,
  type Outcome,
  type PersistedGuardedActor,
  running,
  stopped,
} from './guarded-snapshot.js'
import type { DropReason, GuardedPlan } from './lease-guarded-options.js'
import { settingsOf } from './lease-of-actor.js'
import { decideAfter } from './loss-policy.js'
import { report } from './report.js'
import { Standby } from './standby.js'
import { Stash, StashOverflowError } from './stash.js'
import { WorkerHost } from './worker-host.js'

type OwnSnapshot = GuardedSnapshot<GuardedActor>

/**
 * One guarded actor, referenced by all its snapshots. The state changes only in {@link transition}. Urgent actions, such
 * as stopping the worker after a loss, happen directly in the callbacks.
 */
export class GuardedActor implements Claimant {
  readonly plan: GuardedPlan
  readonly scope: AnyActorScope
  readonly input: unknown
  /** Created for the first stashed message. Most actors never stash one. */
  #stash: Stash | undefined
  /** Exists if messages are not stashed while another owner holds the lease. */
  readonly #standby: Standby | undefined
  readonly #claim: Claim
  #host: WorkerHost | undefined
  /** Set when the actor is going to end: the drop reason of all further messages. */
  #dropReason: DropReason | undefined
  /** Exists from the moment at which the worker was asked to finish. */
  #drain: Drain | undefined
  #phase: 'created' | 'started' | 'ended' = 'created'
  #restored: Snapshot<unknown> | undefined
  #context: GuardContext = { attempts: 0, generation: 0, stashed: 0, lastError: undefined, draining: false }

  constructor(plan: GuardedPlan, scope: AnyActorScope, { input, worker, stash }: GuardedSeed) {
    this.plan = plan
    this.scope = scope
    this.input = input
    this.#claim = new Claim(this)
    this.#restored = worker
    this.#standby = plan.standby && new Standby(plan.standby, this.#log)
    if (stash !== undefined) this.#stash = new Stash(plan, this.#log, stash)
  }

  start(): void {
    this.#phase = 'started'
    this.#acquire()
  }

  /** Resolves when the actor has ended and its lease has been released. */
  resign(): Promise<void> {
    if (this.#phase === 'created') return Promise.resolve()
    this.notify('lease.resign')
    return this.#claim.whenReleased()
  }

  transition(snapshot: OwnSnapshot, event: AnyEventObject | ControlEvent): OwnSnapshot {
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
  snapshotIn(value: GuardState, outcome: Outcome = running): OwnSnapshot {
    this.#change({ draining: this.#drain !== undefined && outcome === running })
    const worker = value === 'active' && outcome === running ? this.#host?.worker : undefined
    return new GuardedSnapshot<GuardedActor>(this, outcome, value, this.#context, worker)
  }

  /** Returns the persisted form of a snapshot. XState passes `options`, which go to the worker. */
  persist({ status, output, error, value, children }: OwnSnapshot, options: unknown): PersistedGuardedActor {
    if (status !== 'active') return { status, output, error, value }
    const { worker } = children
    const state = worker ? this.plan.worker.getPersistedSnapshot(worker.getSnapshot(), options) : this.#restored
    const stash = this.#stash?.toArray() ?? []
    return { ...running, value: 'acquiringLease', input: this.input, ...(state && { worker: state }), stash }
  }

  onTimeUp(): void {
    this.notify('lease.retry')
  }

  /**
   * Sends the actor a control event. Never throws: it is called from promises and timers, where an inspector's error would
   * be uncaught.
   */
  notify(type: ControlType, details?: ControlDetails): void {
    // XState warns about events sent to a stopped actor.
    if (this.#phase === 'ended') return
    try {
      this.scope.self.send(new ControlEvent(type, details))
    } catch (error) {
      this.#log(`the event '${type}' of a guarded actor could not be sent`, error)
    }
  }

  /** Stops forwarding and the worker at once, ahead of all events in the mailbox. */
  onLost(lost: LeaseLost): void {
    const { onLeaseLost } = this.plan
    // Before the worker is stopped, because its clean-up may send messages to the actor.
    if (onLeaseLost === 'stop') this.#dropReason = 'lost'
    this.#close()
    this.#host?.stop()
    if (this.#phase === 'ended') {
      this.#log('the lease was lost while the worker of a stopped actor drained', this.#claim.lossOf(lost))
      return
    }
    if (decideAfter(lost, onLeaseLost, this.#log) === 'stop') this.#dropReason = 'lost'
    this.notify('lease.lost', { lost })
  }

  onReleaseFailed(error: unknown): void {
    this.#log(`the release of lease '${settingsOf(this.#claim.lease).name}' failed`, error)
  }

  #onControl(snapshot: OwnSnapshot, { type, details }: ControlEvent): OwnSnapshot {
    switch (type) {
      case 'lease.granted':
        this.#change({ attempts: 0, lastError: undefined })
        return this.#tryAgain(snapshot)
      case 'lease.refused':
        this.#claim.drop()
        this.#change({ attempts: this.#context.attempts + 1, lastError: details.error })
        this.#claim.retryLater()
        this.#updateStandby()
        return this.snapshotIn('acquiringLease')
      case 'lease.retry':
        return this.#tryAgain(snapshot)
      case 'lease.unstash':
        this.#ensureStash().isUnstashing = false
        return this.#unstash(snapshot)
      case 'lease.standby':
        return this.#enterStandby(snapshot)
      case 'lease.lost':
        return this.#onLoss(snapshot, details.lost)
      case 'lease.resign':
        return this.#onResign(snapshot)
      case 'xstate.done.actor.worker':
        return this.#end({ status: 'done', output: details.output, error: undefined }, 'stopped')
      case 'lease.failed':
      case 'xstate.error.actor.worker':
        return this.#fail(details.error)
    }
  }

  /** Continues with the next pending step: a new attempt, the start of the worker, or the stash. */
  #tryAgain(snapshot: OwnSnapshot): OwnSnapshot {
    this.#acquire()
    if (!this.#claim.isHeld) {
      this.#watchHolder()
      return snapshot
    }
    if (this.#host === undefined) return this.#activate()
    return this.#unstash(snapshot)
  }

  #acquire(): void {
    if (this.#host !== undefined || this.#dropReason !== undefined) return
    // The first attempt does not wait, because its answer tells whether the actor is on standby.
    this.#claim.begin(this.#standby?.isEntered === false ? 0 : this.plan.wait)
  }

  #updateStandby(): void {
    this.#standby?.update(this.#claim.lease, () => this.notify('lease.standby'))
  }

  #enterStandby(snapshot: OwnSnapshot): OwnSnapshot {
    const isHeld = this.#host !== undefined || this.#claim.isHeld
    if (this.#standby === undefined || isHeld || this.#dropReason !== undefined) return snapshot
    const isFirst = !this.#standby.isEntered
    this.#standby.isEntered = true
    this.#standby.handOver(this.#ensureStash())
    if (isFirst && this.plan.wait > 0) this.#acquire()
    return this.snapshotIn('acquiringLease')
  }

  /** Looks who holds the lease: an attempt that waits is not answered while another owner holds it. */
  #watchHolder(): void {
    if (this.plan.wait === 0 || this.#standby?.isEntered !== true) return
    this.#updateStandby()
    this.#claim.retryLater()
  }

  #activate(): OwnSnapshot {
    // Granted but no longer valid: `onLost` will follow.
    if (!this.#claim.isValid) {
      this.#claim.retryLater()
      return this.snapshotIn('acquiringLease')
    }
    const seed = { input: this.input, ...(this.#restored && { snapshot: this.#restored }) }
    const host = new WorkerHost(this.scope, this.plan.worker, seed, (worker) => this.#onWorkerEnded(worker))
    this.#restored = undefined
    this.#standby?.leave()
    this.#host = host
    this.#change({ generation: this.#context.generation + 1 })
    // Deferred, so that the snapshot is already `active` when the worker starts. Observers are notified afterwards.
    this.scope.defer(() => this.#startWorker(host))
    return this.snapshotIn('active')
  }

  #startWorker(host: WorkerHost): void {
    // Creating the worker runs user code, and the lease may have been lost meanwhile.
    host.isOpen = this.#claim.isHeld
    try {
      if (host.isOpen) host.start()
      else host.stop()
      this.#askToUnstash()
    } catch (error) {
      this.notify('xstate.error.actor.worker', { error })
    }
  }

  #change(changes: Partial<GuardContext>): void {
    this.#context = { ...this.#context, stashed: this.#stashed, ...changes }
  }

  /** The worker while it may receive messages. */
  get #open(): AnyActorRef | undefined {
    return this.#host?.isOpen === true ? this.#host.worker : undefined
  }

  #close(): void {
    if (this.#host !== undefined) this.#host.isOpen = false
  }

  get #stashed(): number {
    return this.#stash?.length ?? 0
  }

  #maySend(): boolean {
    return this.#open !== undefined && this.#claim.isValid
  }

  /** Schedules the next stashed message, after the events in the mailbox. */
  #askToUnstash(): void {
    const stash = this.#stash
    if (stash === undefined || stash.isUnstashing || stash.length === 0) return
    stash.isUnstashing = true
    this.notify('lease.unstash')
  }

  /**
   * Forwards the next stashed message. Each message takes its own control event: if one event forwarded the whole stash,
   * a stop caused by the first message would have to wait until the last message was handled.
   */
  #unstash(snapshot: OwnSnapshot): OwnSnapshot {
    if (this.#maySend()) {
      this.#sendNext()
      this.#askToUnstash()
    } else if (this.#open !== undefined) this.#claim.retryLater()
    return this.snapshotIn(snapshot.value)
  }

  #sendNext(): void {
    const event = this.#stash?.shift()
    if (event !== undefined) this.#open?.send(event)
  }

  /** Handles a message that cannot be forwarded yet: the lease is not valid, or other messages are stashed. */
  #onHeldUp(snapshot: OwnSnapshot, event: AnyEventObject): OwnSnapshot {
    const stash = this.#ensureStash()
    if (this.#dropReason !== undefined) {
      stash.drop(event, this.#dropReason)
      return snapshot
    }
    if (this.#standby?.isEntered === true) {
      this.#standby.hand(event, stash)
      return snapshot
    }
    const isOpen = this.#maySend()
    if (!isOpen && this.#open !== undefined) this.#claim.retryLater()
    // Forwards one message before adding another, so that the stash does not overflow while it is being emptied.
    if (isOpen) this.#sendNext()
    stash.add(event)
    if (isOpen) this.#askToUnstash()
    return this.snapshotIn(snapshot.value)
  }

  #ensureStash(): Stash {
    this.#stash ??= new Stash(this.plan, this.#log)
    return this.#stash
  }

  #onLoss(snapshot: OwnSnapshot, lost: LeaseLost | undefined): OwnSnapshot {
    this.#claim.cancelRetry()
    this.#claim.drop()
    const error = this.#claim.lossOf(lost)
    if (this.#dropReason === 'lost') return this.#fail(error, 'lost')
    this.#change({ lastError: error })
    if (this.#drain !== undefined) this.#stopSelf()
    if (this.#dropReason !== undefined) return snapshot
    const host = this.#host
    // If the worker never ran, wait: a lease that is lost right after each grant would cause a busy loop.
    if (host === undefined) this.#claim.retryLater()
    host?.whenEnded(() => {
      this.#host = undefined
      this.#acquire()
    })
    return this.snapshotIn('acquiringLease')
  }

  /** Ends the actor by request: after the worker has ended, if it may drain. */
  #onResign(snapshot: OwnSnapshot): OwnSnapshot {
    if (this.#drain === undefined && !this.#beginDrain()) this.#stopSelf()
    this.#close()
    this.#claim.cancelRetry()
    this.#stash?.dropAll('stopped')
    return this.snapshotIn(snapshot.value)
  }

  #stopSelf(): void {
    if (this.#phase !== 'ended') this.scope.self.send({ type: 'xstate.stop' })
  }

  /** Asks the worker to finish, and returns whether it was asked. Like every message, that needs a valid lease. */
  #beginDrain(): boolean {
    const [host, { lease }] = [this.#host, this.#claim]
    if (this.plan.drain === undefined || host === undefined || lease === undefined) return false
    try {
      if (!this.#maySend()) return false
      this.#drain = new Drain(this.scope, host, () => this.#stopSelf())
      this.#dropReason = 'stopped'
      this.#close()
      this.#drain.begin(this.plan.drain, lease, this.#claim.whenReleased())
      return true
    } catch (error) {
      this.#log('the worker of a guarded actor could not drain', error)
      host.stop()
      return false
    }
  }

  #onWorkerEnded(worker: AnyActorRef): void {
    this.#close()
    this.#dropReason = 'stopped'
    const { status, output, error }: Snapshot<unknown> = worker.getSnapshot()
    if (this.#phase === 'ended') {
      if (status === 'error') this.#log('the worker of a stopped actor failed while it drained', error)
    } else if (status === 'done') this.notify('xstate.done.actor.worker', { output })
    else if (status === 'error') this.notify('xstate.error.actor.worker', { error })
    // Other code stopped the worker.
    else this.#stopSelf()
  }

  #fail(error: unknown, why: DropReason = 'stopped'): OwnSnapshot {
    return this.#end({ status: 'error', output: undefined, error }, why)
  }

  /** Ends the actor. The lease is released when the worker has ended, which can be later if the worker drains. */
  #end(outcome: Outcome, why: DropReason): OwnSnapshot {
    const value = this.#host === undefined ? 'acquiringLease' : 'active'
    this.#phase = 'ended'
    const isDraining = outcome === stopped && (this.#drain !== undefined || this.#beginDrain())
    this.#dropReason = why
    this.#close()
    if (!isDraining) this.#host?.stop()
    this.#claim.end((release) => (this.#host === undefined ? release() : this.#host.whenEnded(release)))
    this.#stash?.dropAll(why)
    return this.snapshotIn(value, outcome)
  }

  get #log(): (message: string, error: unknown) => void {
    return (message, error) => report(this.scope, message, error)
  }
}
