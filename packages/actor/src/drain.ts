import type { Lease } from '@leasehold/core'
import type { AnyActorScope, AnyEventObject } from 'xstate'
import { ActorTimer, type TimerListener } from './actor-timer.js'
import type { DrainOptions } from './lease-guarded-options.js'
import type { WorkerHost } from './worker-host.js'

/**
 * The time in which a worker may finish its work before a voluntary end. The lease stays held until the worker has ended.
 * If the guarded actor was stopped, this can be long after its end: meanwhile no other actor of this process may use the
 * same `Lease` object, because `acquire` would return `true` at once.
 */
export class Drain implements TimerListener {
  static readonly #drained = new WeakMap<Lease, Promise<void>>()
  readonly scope: AnyActorScope
  readonly #host: WorkerHost
  readonly #timer: ActorTimer
  readonly #overdue: () => void

  /** `overdue`: called when the worker had to be stopped because the time was up. */
  constructor(scope: AnyActorScope, host: WorkerHost, overdue: () => void) {
    this.scope = scope
    this.#host = host
    this.#timer = new ActorTimer(this)
    this.#overdue = overdue
  }

  /** Resolves when the lease has been released. `undefined` if no worker drains under it. */
  static endOf(lease: Lease): Promise<void> | undefined {
    return Drain.#drained.get(lease)
  }

  /** `released` resolves when the lease has been released. Rethrows errors of the clock. */
  begin({ event, stopTimeout }: DrainOptions<AnyEventObject>, lease: Lease, released: Promise<void>): void {
    this.#timer.arm(stopTimeout)
    this.#host.whenEnded(() => this.#timer.disarm())
    Drain.#drained.set(lease, released)
    void released.then(() => Drain.#drained.delete(lease))
    this.#host.worker.send(event)
  }

  onTimeUp(): void {
    this.#host.stop()
    this.#host.whenEnded(this.#overdue)
  }
}
