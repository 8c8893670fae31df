import { Deferred, reasonOf } from '@leasehold/core/internal'
import { EntityHost, type EntityRules, type EntitySession } from './entity-host.js'
import type { Incoming } from './incoming.js'

/** A shard that this process owns: one grant of its lease. */
export interface HeldShard {
  readonly shard: number
  /** Aborts when the shard is to be drained, or is lost: `checkLease` tells which. */
  readonly signal: AbortSignal
  /** Larger for every later owner of the shard. */
  readonly fencingToken: bigint
  /** Whether the lease is held now: compares clocks, without I/O. */
  checkLease(): boolean
}

export interface ShardRules extends EntityRules {
  /** For how long a shard may drain, in milliseconds. Then its entities stop without a save. */
  readonly drainTimeout: number
  /** Called when the shard takes no more messages. */
  readonly onClosed: (shard: ShardHost) => void
  /** Called with the number of events that nobody waits for, and that are gone. */
  readonly onDropped: (count: number, reason: string) => void
}

/** The pause before a resident entity that has failed is started again, in milliseconds. */
const WAKE_PAUSE = 1_000

/** The entities of one shard, for one grant of its lease. */
export class ShardHost implements EntitySession {
  readonly shard: number
  readonly session: string
  readonly token: bigint
  readonly #held: HeldShard
  readonly #rules: ShardRules
  readonly #entities = new Map<string, EntityHost>()
  readonly #ended = new Deferred<void>()
  #state: 'open' | 'draining' | 'ended' = 'open'
  #cancelDrain = (): void => {}
  #cancelWake = (): void => {}
  /** The entity that runs as long as the shard is here, without a message too. */
  readonly #resident: string | undefined

  constructor(held: HeldShard, rules: ShardRules, resident?: string) {
    this.#held = held
    this.#rules = rules
    this.#resident = resident
    this.shard = held.shard
    this.token = held.fencingToken
    this.session = String(held.fencingToken)
  }

  /**
   * Resolves when no entity of the shard runs any more: drained, or lost. Rejects if the lease has to be released, because it is
   * not known what is saved.
   */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** Whether it takes messages. */
  get isOpen(): boolean {
    return this.#state === 'open' && this.mayAct()
  }

  /** The number of entities that run. */
  get size(): number {
    return this.#entities.size
  }

  /** Takes an event for an entity. Returns the reason if its queue is full. Call it only while the shard is open. */
  accept(id: string, incoming: Incoming): string | undefined {
    let entity = this.#entities.get(id)
    if (entity === undefined) {
      entity = new EntityHost(id, this.#rules, this)
      this.#entities.set(id, entity)
    }
    return entity.accept(incoming)
  }

  /** Starts the resident entity, unless it runs. */
  wake(): void {
    const id = this.#resident
    if (id === undefined || !this.isOpen) return
    const entity = this.#entities.get(id) ?? new EntityHost(id, this.#rules, this)
    this.#entities.set(id, entity)
    this.#rules.dispatcher.add(entity)
  }

  mayAct(): boolean {
    if (this.#state === 'ended') return false
    if (this.#held.checkLease()) return true
    this.#end(`the lease of shard ${this.shard} is lost`)
    return false
  }

  end(cause: unknown): void {
    this.#end(`shard ${this.shard} has another owner: ${reasonOf(cause)}`)
  }

  fail(cause: unknown): void {
    if (this.#state === 'ended') return
    this.#ended.reject(cause)
    this.#end(`it is not known what was saved in shard ${this.shard}: ${reasonOf(cause)}`)
  }

  onRest(entity: EntityHost): void {
    if (!entity.isRunning && this.#entities.get(entity.id) === entity) {
      this.#entities.delete(entity.id)
      // The next message makes another one: this one must not begin again.
      entity.end('it has ended')
    }
    if (this.#state === 'draining') this.#drainEntity(entity)
  }

  onFailed(entity: EntityHost): void {
    if (entity.id !== this.#resident || this.#state !== 'open') return
    this.#cancelWake()
    this.#cancelWake = this.#rules.clock.schedule(WAKE_PAUSE, () => this.wake())
  }

  /** Takes no more messages. The entities handle those that are queued, and are saved. */
  drain(): void {
    if (!this.mayAct() || this.#state !== 'open') return
    const { clock, drainTimeout, onClosed } = this.#rules
    this.#state = 'draining'
    onClosed(this)
    this.#cancelDrain = clock.schedule(drainTimeout, () => {
      this.#end(`shard ${this.shard} was not drained within ${drainTimeout} ms`)
    })
    for (const entity of [...this.#entities.values()]) this.#drainEntity(entity)
    this.#finishDrain()
  }

  /** Stops the entities that have had no message since `before`, and that lose nothing. */
  passivate(before: number): void {
    for (const entity of this.#entities.values()) {
      if (entity.lastUsed > before || !entity.isIdle || !this.mayAct()) continue
      this.#entities.delete(entity.id)
      entity.end(`entity '${entity.id}' gave no answer before it was passivated`)
    }
  }

  #drainEntity(entity: EntityHost): void {
    if (!entity.isAtRest || entity.isAnswering) return
    this.#entities.delete(entity.id)
    entity.end(`entity '${entity.id}' gave no answer before shard ${this.shard} moved`, this.session)
    this.#finishDrain()
  }

  #finishDrain(): void {
    if (this.#state === 'draining' && this.#entities.size === 0) this.#end(`shard ${this.shard} has moved`)
  }

  #end(reason: string): void {
    if (this.#state === 'ended') return
    const wasOpen = this.#state === 'open'
    this.#state = 'ended'
    this.#cancelDrain()
    this.#cancelWake()
    let dropped = 0
    for (const entity of this.#entities.values()) dropped += entity.end(reason, this.session)
    this.#entities.clear()
    if (wasOpen) this.#rules.onClosed(this)
    if (dropped > 0) this.#rules.onDropped(dropped, reason)
    this.#ended.resolve()
  }
}
