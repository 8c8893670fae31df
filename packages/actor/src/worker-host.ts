import {
  type ActorLogic,
  type ActorRefFrom,
  type AnyActorLogic,
  type AnyActorRef,
  type AnyActorScope,
  type AnyEventObject,
  createActor,
  type Snapshot,
} from 'xstate'
import { isReserved } from './control-event.js'

type PortSnapshot = Snapshot<undefined> & { readonly stopChild: (child: AnyActorRef) => void }

/**
 * The worker's parent. It forwards the events that the worker sends to its parent (`sendParent`, `sendBack`) to the
 * parent of the guarded actor. XState's events do not name their sender, so if the guarded actor were the worker's
 * parent, it would forward these events back to the worker, in an endless loop.
 */
const portLogic: ActorLogic<PortSnapshot, AnyEventObject> = {
  getInitialSnapshot: ({ stopChild }) => ({ status: 'active', output: undefined, error: undefined, stopChild }),
  transition: (snapshot, event, scope) => {
    if (!isReserved(event.type)) scope.self._parent?._parent?.send(event)
    // The worker has ended. If the port stopped earlier, XState would warn about an event sent to a stopped actor.
    else if (event.type.endsWith('.actor.worker')) scope.self.send({ type: 'xstate.stop' })
    return snapshot
  },
  getPersistedSnapshot: (snapshot) => snapshot,
}

/** One run of the worker, as a child of the port. It cannot be started again. */
export class WorkerHost {
  readonly worker: AnyActorRef
  /** Whether the worker may receive messages: from its start until its end or the loss. */
  isOpen = false
  readonly #scope: AnyActorScope
  readonly #port: ActorRefFrom<typeof portLogic>
  readonly #onEnd: (worker: AnyActorRef) => void
  #phase: 'created' | 'running' | 'stopping' | 'ended' = 'created'
  #whenEnded: (() => void)[] = []

  /**
   * `seed`: the input of the guarded actor, and the worker's stored snapshot, if any. `onEnd` is called when the worker ends
   * by itself, not after {@link stop}.
   */
  constructor(
    scope: AnyActorScope,
    logic: AnyActorLogic,
    seed: { readonly input: unknown; readonly snapshot?: Snapshot<unknown> },
    onEnd: (worker: AnyActorRef) => void,
  ) {
    this.#scope = scope
    this.#onEnd = onEnd
    this.#port = createActor(portLogic, { parent: scope.self, id: 'port' })
    this.worker = createActor(logic, { parent: this.#port, id: 'worker', ...seed })
  }

  /** Must not be called after {@link stop}: XState starts stopped actors again. */
  start(): void {
    this.#phase = 'running'
    this.#port.start()
    this.worker.on('*', (event) => this.#scope.emit(event))
    const ended = (): void => this.#end()
    this.worker.subscribe({ complete: ended, error: ended })
    this.worker.start()
  }

  /** Stops the worker before it returns. If the worker is on the call stack, it stops when that call has ended. */
  stop(): void {
    if (this.#phase === 'created') this.#end()
    if (this.#phase !== 'running') return
    this.#phase = 'stopping'
    this.#port.getSnapshot().stopChild(this.worker)
  }

  /** Calls back when the worker has ended, at once if it already has. */
  whenEnded(callback: () => void): void {
    if (this.#phase === 'ended') callback()
    else this.#whenEnded.push(callback)
  }

  #end(): void {
    if (this.#phase === 'ended') return
    const before = this.#phase
    this.#phase = 'ended'
    const { status }: Snapshot<unknown> = this.worker.getSnapshot()
    const willNotifyPort = before !== 'created' && (status === 'done' || status === 'error')
    if (!willNotifyPort) this.#scope.stopChild(this.#port)
    if (before === 'running') this.#onEnd(this.worker)
    for (const callback of this.#whenEnded) callback()
  }
}
