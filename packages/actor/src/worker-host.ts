import type { Snapshot } from 'xstate'
import { type ActorRefFrom, type AnyActorLogic, type AnyActorRef, type AnyActorScope, createActor } from 'xstate'
import { portLogic } from './port.js'

/** What a worker is made of: the input of its guard, or a stored snapshot of itself. */
export interface WorkerSeed {
  readonly input: unknown
  readonly snapshot: Snapshot<unknown> | undefined
}

/** One run of the worker, as an actor of its own behind a port. It never runs again once it has ended. */
export class WorkerHost {
  readonly worker: AnyActorRef
  readonly #scope: AnyActorScope
  readonly #port: ActorRefFrom<typeof portLogic>
  readonly #onEnd: (worker: AnyActorRef) => void
  #phase: 'created' | 'running' | 'stopping' | 'ended' = 'created'
  #whenEnded: (() => void)[] = []

  /** `onEnd` is called when the worker ends by itself, not when it is stopped here. */
  constructor(scope: AnyActorScope, logic: AnyActorLogic, seed: WorkerSeed, onEnd: (worker: AnyActorRef) => void) {
    this.#scope = scope
    this.#onEnd = onEnd
    this.#port = createActor(portLogic, { parent: scope.self, id: 'port' })
    const { input, snapshot } = seed
    const restored = snapshot === undefined ? {} : { snapshot }
    this.worker = createActor(logic, { parent: this.#port, id: 'worker', input, ...restored })
  }

  /** Not to be called after {@link stop}: XState would start what was stopped. */
  start(): void {
    this.#phase = 'running'
    this.#port.start()
    this.worker.on('*', (event) => this.#scope.emit(event))
    const ended = (): void => this.#end()
    this.worker.subscribe({ complete: ended, error: ended })
    this.worker.start()
  }

  /** Stops the worker: before this returns, unless the worker itself is on the call stack; then right after it. */
  stop(): void {
    if (this.#phase === 'created') this.#end()
    if (this.#phase !== 'running') return
    this.#phase = 'stopping'
    this.#port.getSnapshot().stopChild(this.worker)
  }

  /** Calls back when the worker does nothing any more, at once where that is so. */
  whenEnded(callback: () => void): void {
    if (this.#phase === 'ended') callback()
    else this.#whenEnded.push(callback)
  }

  #end(): void {
    if (this.#phase === 'ended') return
    const before = this.#phase
    this.#phase = 'ended'
    const { status }: Snapshot<unknown> = this.worker.getSnapshot()
    const isLastWordDue = before !== 'created' && (status === 'done' || status === 'error')
    if (!isLastWordDue) this.#scope.stopChild(this.#port)
    if (before === 'running') this.#onEnd(this.worker)
    for (const callback of this.#whenEnded) callback()
  }
}
