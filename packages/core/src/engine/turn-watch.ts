import type { LeaseRecord } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import { AbortableCall, type StoreCall } from '../store/store-call.js'
import type { EngineEnvironment } from './event-context.js'
import type { LeaseRules } from './lease-rules.js'
import { outagePause } from './pauses.js'

/**
 * Listens, for one waiter, to the store's signal that it may be its turn. A watch that ends or fails is started again after
 * a pause, and then counts as a signal of the store, because changes in between are unknown.
 */
export class TurnWatch {
  readonly #rules: LeaseRules
  readonly #environment: EngineEnvironment
  readonly #onTurn: (holder?: LeaseRecord) => void
  readonly #watch: (call: StoreCall) => AsyncIterable<LeaseRecord | undefined>
  readonly #call = new AbortableCall()
  #failures = 0
  #cancel: (() => void) | undefined

  /** `onTurn` is called with the holder where the store saw the name held, and has no queue in which to keep a place. */
  constructor(
    rules: LeaseRules,
    store: LeaseStore,
    environment: EngineEnvironment,
    grantId: string | undefined,
    onTurn: (holder?: LeaseRecord) => void,
  ) {
    this.#rules = rules
    this.#environment = environment
    this.#onTurn = onTurn
    this.#watch = (call) => store.watch?.(rules.name, call, grantId) ?? silent
    void this.#listen()
  }

  stop(): void {
    this.#call.abort()
    this.#cancel?.()
  }

  async #listen(): Promise<void> {
    const call = this.#call
    try {
      for await (const record of this.#watch(call)) {
        if (call.aborted) return
        this.#failures = 0
        if (record === undefined || this.#rules.ordered || !isHeld(record)) this.#onTurn()
        else this.#onTurn(record)
      }
    } catch {
      // Watching only saves polls: the next poll finds and reports what is wrong with the store.
    }
    if (call.aborted) return
    this.#failures += 1
    const { clock, random } = this.#environment
    this.#cancel = clock.schedule(outagePause(this.#rules, this.#failures, random()), () => {
      this.#onTurn()
      if (!call.aborted) void this.#listen()
    })
  }
}

function isHeld({ state }: LeaseRecord): boolean {
  return state === 'leased' || state === 'breaking'
}

const silent: AsyncIterable<never> = {
  async *[Symbol.asyncIterator]() {},
}
