import { type Clock, LeaseConfigurationError } from '@leasehold/core'
import type { DeliveryMessage, ShardMessage } from '@leasehold/core/channels'
import { checkIdentifier, keptAlive, shownValue } from '@leasehold/core/internal'
import { checkOptionNames, type OptionNames, RecentMap } from '@leasehold/core/store-kit'
import { carried } from './carried.js'
import { NotDeliveredError, OutcomeUnknownError } from './delivery-errors.js'
import type { EntityRules } from './entity-host.js'
import { shardOf } from './hash.js'
import { type AnswerOutcome, type Batch, type EventMessage, type Json, PROTOCOL, type Receipt } from './message.js'
import { Outgoing } from './outgoing.js'
import { Questions } from './questions.js'
import { Router } from './router.js'
import type { ShardDirectory } from './shard-directory.js'
import { type HeldShard, ShardHost, type ShardRules } from './shard-host.js'
import { shardingPublishers } from './sharding-channels.js'
import type { Transport } from './transport.js'

/** How many processes are remembered by their last batch. */
const KEPT_PEERS = 10_000

/** For how long `ask` waits unless it is given a time, in milliseconds. */
const DEFAULT_ASK_TIMEOUT = 5_000

export type Delivery = 'at-most-once' | 'at-least-once'

/** What is certain about an event that was sent. */
export type TellOutcome = 'delivered' | 'not-delivered' | 'unknown'

export interface TellOptions {
  /** How the event is delivered; as the region's option `deliver` unless given. */
  readonly deliver?: Delivery | undefined
}

export interface AskOptions {
  /** How long to wait for the answer, in milliseconds; 5,000 unless given. */
  readonly timeout?: number | undefined
}

export interface RegionCoreOptions {
  readonly name: string
  /** The owner of the leases of this process. */
  readonly owner: string
  readonly shards: number
  readonly transport: Transport
  readonly directory: ShardDirectory
  readonly clock: Clock
  readonly random: () => number
  readonly deliver: Delivery
  readonly capacity: number
  /** For how long a message is held back or repeated, in milliseconds. */
  readonly holdFor: number
  readonly sendTimeout: number
  readonly drainTimeout: number
  /** The time without a message after which an entity is stopped, in milliseconds. */
  readonly passivateAfter: number
  readonly entities: Omit<EntityRules, 'clock'>
  readonly onDropped: (count: number, reason: string) => void
  readonly onOutage: (error: unknown, address: string) => void
}

const tellOptionNames: OptionNames<TellOptions> = { deliver: true }
const askOptionNames: OptionNames<AskOptions> = { timeout: true }

interface LastBatch {
  readonly sequence: number
  readonly receipts: readonly Receipt[]
}

const NEVER_SENT: Promise<TellOutcome> = Promise.resolve('not-delivered')
const DELIVERED: Promise<TellOutcome> = Promise.resolve('delivered')

/** The part of a region that does not know how its shards are shared: it takes them as they are granted. */
export class RegionCore {
  readonly #options: RegionCoreOptions
  readonly #run: string
  readonly #questions: Questions
  readonly #router: Router
  readonly #rules: ShardRules
  readonly #hosts = new Map<number, ShardHost>()
  readonly #lastBatches = new RecentMap<LastBatch>(KEPT_PEERS)
  #lastId = 0
  #moves = 0
  #cancelSweep = (): void => {}
  #state: 'open' | 'closing' | 'closed' = 'open'

  constructor(options: RegionCoreOptions) {
    const { random, clock, entities, drainTimeout, onDropped } = options
    this.#options = options
    this.#run = textFrom(random) + textFrom(random)
    this.#questions = new Questions(Math.floor(random() * 2 ** 32) * 2 ** 20)
    const localShard = (shard: number): ShardHost | undefined => {
      const host = this.#hosts.get(shard)
      return host?.isOpen ? host : undefined
    }
    this.#router = new Router({ ...options, run: this.#run, questions: this.#questions, localShard })
    this.#rules = {
      ...entities,
      clock,
      drainTimeout,
      onDropped,
      onClosed: ({ shard }) => this.#router.onLocalShard(shard),
    }
  }

  /** The number of entities that run here. */
  get entities(): number {
    let sum = 0
    for (const { size } of this.#hosts.values()) sum += size
    return sum
  }

  /** How many shards this process has taken, and given up or lost. */
  get moves(): number {
    return this.#moves
  }

  /** How many messages are held back, under way or unconfirmed. */
  get kept(): number {
    return this.#router.kept
  }

  /** Publishes how many entities run here, and how many messages wait, if anyone listens. */
  publish(): void {
    const { region } = shardingPublishers
    if (!region.isOn) return
    const { name, owner } = this.#options
    region.publish({ region: name, owner, entities: this.entities, waiting: this.kept })
  }

  /** Begins to take messages of other processes. Rejects if the address of the transport cannot be used. */
  async listen(): Promise<void> {
    await this.#options.transport.listen(this.#options.name, (batch) => this.#onBatch(batch))
    if (this.#state === 'open') this.#scheduleSweep()
  }

  /**
   * Runs the entities of a shard until its signal aborts. Resolves when none runs any more. Rejects if the lease has to be
   * released, because it is not known what is saved. `resident`: an entity that runs all the time, without a message too.
   */
  async own(held: HeldShard, resident?: string): Promise<void> {
    const host = new ShardHost(held, this.#rules, resident)
    const before = this.#hosts.get(held.shard)
    this.#hosts.set(held.shard, host)
    // The lease before was lost, and nothing of it runs any more.
    before?.end('it was acquired again')
    this.#moves += 1
    this.#publishShard(held.shard, 'taken')
    const drain = (): void => host.drain()
    held.signal.addEventListener('abort', drain, { once: true })
    if (held.signal.aborted) drain()
    else this.#router.onLocalShard(held.shard)
    host.wake()
    try {
      await host.ended
    } finally {
      this.#moves += 1
      this.#publishShard(held.shard, held.checkLease() ? 'handed-over' : 'lost')
      held.signal.removeEventListener('abort', drain)
      if (this.#hosts.get(held.shard) === host) this.#hosts.delete(held.shard)
      this.#router.onLocalShard(held.shard)
    }
  }

  /** See `ShardRegion`. */
  tell(id: string, event: unknown, options: TellOptions = {}): Promise<TellOutcome> {
    const { name, clock, deliver: usual, shards, holdFor } = this.#options
    checkIdentifier('id of an entity', id)
    checkOptionNames('tell', options, tellOptionNames, { leaseName: name })
    const deliver = options.deliver ?? usual
    checkDelivery(deliver, name)
    const copy = eventOf(event)
    if (this.#state !== 'open') {
      this.#publishDelivery('tell', 'not-delivered')
      return NEVER_SENT
    }
    let settle: ((outcome: TellOutcome) => void) | undefined
    let settled: TellOutcome | undefined
    const isRepeated = deliver === 'at-least-once'
    const message = new Outgoing({
      shard: shardOf(id, shards),
      entity: id,
      event: copy,
      ...(isRepeated ? { id: this.#nextId(), question: this.#questions.nextNumber() } : {}),
      giveUpAt: clock.now() + holdFor,
      onSettled: ({ type }) => {
        settled = type === 'answered' ? 'delivered' : type
        this.#publishDelivery('tell', settled)
        settle?.(settled)
      },
    })
    this.#questions.add(message)
    this.#router.send(message)
    if (settled === 'delivered') return DELIVERED
    if (settled === 'not-delivered') return NEVER_SENT
    return new Promise((resolve) => {
      settle = resolve
      if (settled !== undefined) resolve(settled)
    })
  }

  /** See `ShardRegion`. */
  async ask<A>(id: string, event: unknown, options: AskOptions = {}): Promise<A> {
    const { name, clock, shards, capacity } = this.#options
    checkIdentifier('id of an entity', id)
    checkOptionNames('ask', options, askOptionNames, { leaseName: name })
    const { timeout = DEFAULT_ASK_TIMEOUT } = options
    if (!(typeof timeout === 'number' && timeout > 0 && timeout < Number.POSITIVE_INFINITY)) {
      const message = `timeout must be a positive, finite number of milliseconds, not ${shownValue(timeout)}`
      throw new LeaseConfigurationError(message, { leaseName: name })
    }
    const copy = eventOf(event)
    if (this.#state !== 'open' || this.#questions.size >= capacity) {
      this.#publishDelivery('ask', 'not-delivered')
      if (this.#state !== 'open') throw new NotDeliveredError(`region '${name}' was stopped`)
      throw new NotDeliveredError(`${capacity} questions wait for an answer: ask more slowly, or raise capacity`)
    }
    const asked = new Promise<AnswerOutcome>((resolve) => {
      const cancel = clock.schedule(timeout, () => {
        const fault = message.mayBeTaken
          ? `entity '${id}' of '${name}' gave no answer`
          : `no owner of its shard was reached`
        message.giveUp(`${fault} within ${timeout} ms`)
        this.#router.release(message)
      })
      const message = new Outgoing({
        shard: shardOf(id, shards),
        entity: id,
        event: copy,
        question: this.#questions.nextNumber(),
        wantsReply: true,
        // Its own timer gives it up.
        giveUpAt: Number.POSITIVE_INFINITY,
        onSettled: (outcome) => {
          cancel()
          this.#questions.delete(message)
          this.#publishDelivery('ask', outcome.type === 'answered' ? 'delivered' : outcome.type)
          resolve(outcome)
        },
      })
      this.#questions.add(message)
      this.#router.send(message)
    })
    const outcome = await keptAlive(clock, asked)
    if (outcome.type === 'answered') return outcome.answer as A
    if (outcome.type === 'not-delivered') throw new NotDeliveredError(`the event was not delivered: ${outcome.reason}`)
    throw new OutcomeUnknownError(`it is not known whether the event was handled: ${outcome.reason}`)
  }

  /** Takes no more events of this process. Those that are held back are given up by `close`. */
  refuseEvents(): void {
    if (this.#state === 'open') this.#state = 'closing'
  }

  /**
   * Sends what is on its way, for `timeout` milliseconds at most, gives up what is held back, and closes the transport. The
   * shards have to be given up before.
   */
  async close(timeout: number): Promise<void> {
    if (this.#state === 'closed') return
    this.#state = 'closing'
    const { clock, name, transport } = this.#options
    const end = clock.now() + timeout
    while (!this.#router.isIdle && clock.now() < end) {
      await new Promise<void>((resolve) =>
        clock.schedule(Math.min(CLOSE_STEP, Math.max(0, end - clock.now())), resolve),
      )
    }
    this.#state = 'closed'
    for (const host of this.#hosts.values()) host.end('the region was stopped')
    const reason = `region '${name}' was stopped`
    this.#router.close(reason)
    this.#questions.giveUp(reason)
    this.#cancelSweep()
    this.publish()
    await transport.close(name)
  }

  #publishShard(shard: number, state: ShardMessage['state']): void {
    const { name, owner } = this.#options
    if (shardingPublishers.shard.isOn) shardingPublishers.shard.publish({ region: name, owner, shard, state })
  }

  #publishDelivery(operation: DeliveryMessage['operation'], outcome: TellOutcome): void {
    const { delivery } = shardingPublishers
    if (!delivery.isOn) return
    const { name, owner } = this.#options
    delivery.publish({ region: name, owner, operation, outcome })
  }

  #nextId(): string {
    this.#lastId += 1
    return `${this.#run.slice(0, RUN_IN_ID)}.${this.#lastId.toString(36)}`
  }

  async #onBatch(batch: Batch): Promise<readonly Receipt[]> {
    const fault = this.#faultOf(batch)
    if (fault !== undefined) return batch.messages.map(() => ({ outcome: 'refused', reason: fault }))
    const last = this.#lastBatches.get(batch.run)
    if (last !== undefined && batch.sequence === last.sequence) return last.receipts
    if (last !== undefined && batch.sequence < last.sequence) {
      return batch.messages.map(() => ({ outcome: 'refused', reason: 'the batch came after a later one' }))
    }
    const receipts = batch.messages.map((message): Receipt => {
      if (message.kind === 'event') return this.#onEvent(message, batch.sender.address)
      if (message.kind === 'answer') this.#router.onAnswer(message.question, message.outcome)
      return { outcome: 'accepted' }
    })
    this.#lastBatches.set(batch.run, { sequence: batch.sequence, receipts })
    return receipts
  }

  #faultOf({ protocol, region, shards }: Batch): string | undefined {
    const { name, shards: own } = this.#options
    if (protocol !== PROTOCOL) {
      return `this process speaks version ${PROTOCOL} of the protocol, not ${protocol}: run the same version of @leasehold/sharding`
    }
    if (region !== name) return `this is region '${name}', not '${region}'`
    if (shards !== own) {
      return `region '${name}' has ${own} shards here, and ${shards} at the sender: give all processes the same number`
    }
    return this.#state === 'closed' ? `region '${name}' was stopped` : undefined
  }

  #onEvent({ shard, entity, event, id, question, wantsReply, session }: EventMessage, sender: string): Receipt {
    const { shards, directory, transport } = this.#options
    if (typeof entity !== 'string' || shardOf(entity, shards) !== shard) {
      return { outcome: 'refused', reason: `entity '${entity}' is not in shard ${shard}` }
    }
    const host = this.#hosts.get(shard)
    if (!host?.isOpen) {
      const address = directory.addressOf(shard)
      return address === undefined || address === transport.address
        ? { outcome: 'moved' }
        : { outcome: 'moved', address }
    }
    if (session !== host.session) return { outcome: 'moved', session: host.session }
    if (!isEvent(event)) return { outcome: 'refused', reason: NO_EVENT }
    const answer =
      question === undefined
        ? undefined
        : (outcome: AnswerOutcome): void => this.#router.answer(sender, { kind: 'answer', question, outcome })
    const refusal = host.accept(entity, { event, id, wantsReply: wantsReply === true, answer })
    return refusal === undefined ? { outcome: 'accepted' } : { outcome: 'refused', reason: refusal }
  }

  #scheduleSweep(): void {
    const { passivateAfter, clock } = this.#options
    if (passivateAfter === Number.POSITIVE_INFINITY) return
    this.#cancelSweep = clock.schedule(passivateAfter / SWEEPS, () => {
      const before = clock.now() - passivateAfter
      for (const host of [...this.#hosts.values()]) host.passivate(before)
      if (this.#state !== 'closed') this.#scheduleSweep()
    })
  }
}

/** How often in `passivateAfter` idle entities are looked for. */
const SWEEPS = 4

/** The pause between two looks whether all is sent, in milliseconds. */
const CLOSE_STEP = 10

/** The part of the run in the id of a message: short, because an entity is saved with the ids it has handled. */
const RUN_IN_ID = 9

const NO_EVENT = "an event must be an object with a text 'type', and must not have a member 'reply'"

function textFrom(random: () => number): string {
  return Math.floor(random() * 36 ** 9)
    .toString(36)
    .padStart(9, '0')
}

function isEvent(event: unknown): event is { readonly [key: string]: Json | undefined } {
  return (
    typeof event === 'object' && event !== null && typeof Reflect.get(event, 'type') === 'string' && !('reply' in event)
  )
}

function eventOf(event: unknown): { readonly [key: string]: Json | undefined } {
  if (!isEvent(event)) throw new LeaseConfigurationError(`${NO_EVENT}: ${shownValue(event)}`)
  return carried(event, 'event') as { readonly [key: string]: Json | undefined }
}

export function checkDelivery(deliver: unknown, leaseName: string): void {
  if (deliver === 'at-most-once' || deliver === 'at-least-once') return
  const message = `deliver must be 'at-most-once' or 'at-least-once', not ${shownValue(deliver)}`
  throw new LeaseConfigurationError(message, { leaseName })
}
