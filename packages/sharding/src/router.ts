import type { Clock } from '@leasehold/core'
import { carried } from './carried.js'
import type { AnswerMessage, AnswerOutcome, Batch, Receipt } from './message.js'
import { PROTOCOL } from './message.js'
import type { Outgoing } from './outgoing.js'
import { PeerLink, type SentMessage } from './peer-link.js'
import { endedSession, type Questions } from './questions.js'
import type { ShardDirectory } from './shard-directory.js'
import type { ShardHost } from './shard-host.js'
import { ShardQueue } from './shard-queue.js'
import type { Transport } from './transport.js'

/** How many addresses a message is sent to. Then it waits until the directory has changed. */
const MOST_HOPS = 3

/** With this number of ways, those that are not in use are forgotten: processes that have ended do not come back. */
const MOST_LINKS = 1_000

/** The time between two looks for messages whose time is over, in milliseconds. */
const SWEEP_INTERVAL = 250

export interface RouterOptions {
  readonly name: string
  readonly owner: string
  readonly shards: number
  readonly run: string
  readonly transport: Transport
  readonly directory: ShardDirectory
  readonly questions: Questions
  readonly clock: Clock
  readonly random: () => number
  /** The most messages of this process that are kept: held back, under way or unconfirmed. */
  readonly capacity: number
  /** How long a batch may be under way, in milliseconds. */
  readonly sendTimeout: number
  /** The open shard of this process. */
  readonly localShard: (shard: number) => ShardHost | undefined
  readonly onOutage: (error: unknown, address: string) => void
}

/** Brings the messages of this process to the shards of their entities, here or elsewhere, each shard's in their order. */
export class Router {
  readonly #options: RouterOptions
  readonly #queues = new Map<number, ShardQueue>()
  readonly #links = new Map<string, PeerLink>()
  readonly #removeListener: () => void
  #kept = 0
  /** One for all addresses, so that the numbers to each of them grow. */
  #sequence = 0
  #cancelSweep: (() => void) | undefined
  #isClosed = false

  constructor(options: RouterOptions) {
    this.#options = options
    this.#removeListener = options.directory.onChange(() => this.#onDirectory())
  }

  /** How many messages are held back, under way or unconfirmed. */
  get kept(): number {
    return this.#kept
  }

  /** Whether nothing is on its way to another process. */
  get isIdle(): boolean {
    return Array.from(this.#links.values()).every((link) => link.isIdle)
  }

  /** Sends a message. It is settled at once if there is no room for it. */
  send(message: Outgoing): void {
    const { capacity } = this.#options
    if (this.#kept >= capacity && message.id !== undefined) {
      this.#refuseForRoom(message)
      return
    }
    const queue = this.#queueOf(message.shard)
    const host = queue.hasWaiting || queue.isSending ? undefined : this.#options.localShard(message.shard)
    if (host !== undefined) {
      this.#enterLocal(queue, host)
      // To enter the session may have put unconfirmed messages before this one.
      if (!queue.hasWaiting) {
        this.#deliver(message, queue, host)
        return
      }
    }
    if (this.#kept >= capacity) {
      this.#refuseForRoom(message)
      return
    }
    this.#keep(message)
    queue.push(message)
    this.#pump(queue)
  }

  /** An answer of another process, or of an entity of this one. */
  onAnswer(question: number, outcome: AnswerOutcome): void {
    const message = this.#options.questions.get(question)
    if (message === undefined) return
    const queue = this.#queueOf(message.shard)
    const ended = endedSession(outcome)
    if (ended !== undefined && message.id !== undefined) {
      if (outcome.type === 'unknown') message.mayBeTaken = true
      // The answer of an earlier session says nothing of the present one.
      if (ended !== queue.session) return
      queue.leave()
      this.#options.directory.refresh()
      this.#pump(queue)
      return
    }
    queue.confirm(message)
    message.settle(outcome)
    this.release(message)
  }

  /** Sends an answer to the process that has asked. */
  answer(address: string, message: AnswerMessage): void {
    if (!this.#isClosed) this.#linkTo(address).answer(message)
  }

  /** A shard of this process has begun or ended. */
  onLocalShard(shard: number): void {
    const queue = this.#queues.get(shard)
    if (queue === undefined) return
    queue.hops = 0
    this.#pump(queue)
  }

  /** The message is settled: its place is free. */
  release(message: Outgoing): void {
    this.#options.questions.delete(message)
    if (!message.isKept) return
    message.isKept = false
    this.#kept -= 1
  }

  /** Gives up all messages. */
  close(reason: string): void {
    this.#isClosed = true
    this.#removeListener()
    this.#cancelSweep?.()
    for (const link of this.#links.values()) link.close()
    for (const queue of this.#queues.values()) {
      for (const message of queue.all) {
        if (queue.isUnderWay(message)) message.mayBeTaken = true
        message.giveUp(reason)
        this.release(message)
      }
    }
    this.#queues.clear()
  }

  #queueOf(shard: number): ShardQueue {
    let queue = this.#queues.get(shard)
    if (queue === undefined) {
      queue = new ShardQueue(shard)
      this.#queues.set(shard, queue)
    }
    return queue
  }

  #keep(message: Outgoing): void {
    if (!message.isKept) this.#kept += 1
    message.isKept = true
    this.#cancelSweep ??= this.#options.clock.schedule(SWEEP_INTERVAL, () => this.#sweep())
  }

  #refuseForRoom(message: Outgoing): void {
    const { capacity } = this.#options
    message.giveUp(`${capacity} messages are held back or under way: send more slowly, or raise capacity`)
    this.release(message)
  }

  /** Moves the messages of a shard on, as far as it is known where it lives. */
  #pump(queue: ShardQueue): void {
    if (this.#isClosed || queue.isSending) return
    const { directory, transport, localShard } = this.#options
    const host = localShard(queue.shard)
    if (host !== undefined) {
      this.#enterLocal(queue, host)
      for (;;) {
        const next = host.isOpen ? queue.shift() : undefined
        if (next === undefined) return
        this.#deliver(next, queue, host)
      }
    }
    const address = directory.addressOf(queue.shard)
    if (queue.address !== undefined && address !== queue.address) this.#links.get(queue.address)?.remove(queue)
    if (address === undefined || address === transport.address) {
      if (queue.hasWaiting) directory.refresh()
      return
    }
    if (queue.hops > MOST_HOPS) {
      directory.refresh()
      return
    }
    if (address !== queue.address) queue.enter(undefined, address)
    if (queue.hasWaiting) this.#linkTo(address).add(queue)
  }

  #enterLocal(queue: ShardQueue, host: ShardHost): void {
    if (queue.address !== undefined) this.#links.get(queue.address)?.remove(queue)
    queue.hops = 0
    if (queue.session !== host.session || queue.address !== undefined) queue.enter(host.session, undefined)
  }

  #deliver(message: Outgoing, queue: ShardQueue, host: ShardHost): void {
    const { event, id, question, wantsReply } = message
    const answer =
      question === undefined ? undefined : (outcome: AnswerOutcome): void => this.onAnswer(question, outcome)
    // An event that may be repeated must not change at the entity.
    const given = id === undefined ? event : (carried(event, 'event') as typeof event)
    const refusal = host.accept(message.entity, { event: given, id, wantsReply, answer })
    if (refusal === undefined) this.#onTaken(message, queue)
    else this.#onRefused(message, refusal)
  }

  #onTaken(message: Outgoing, queue: ShardQueue): void {
    message.mayBeTaken = true
    if (message.id !== undefined) {
      if (message.isSettled) return
      this.#keep(message)
      queue.expectConfirmation(message, this.#options.clock.now())
      return
    }
    if (message.question === undefined) {
      message.settle({ type: 'answered' })
      this.release(message)
    } else this.#letGo(message)
  }

  /** A question that was taken waits for its answer, and needs no place any more. */
  #letGo(message: Outgoing): void {
    if (!message.isKept) return
    message.isKept = false
    this.#kept -= 1
  }

  #onRefused(message: Outgoing, reason: string): void {
    message.giveUp(reason)
    this.release(message)
  }

  #linkTo(address: string): PeerLink {
    let link = this.#links.get(address)
    if (link === undefined) {
      const {
        clock,
        random,
        sendTimeout: timeout,
        directory,
        onOutage,
        name,
        shards,
        owner,
        run,
        transport,
      } = this.#options
      link = new PeerLink({
        address,
        clock,
        random,
        timeout,
        send: async (messages, signal) => {
          const sender = { owner, address: transport.address }
          this.#sequence += 1
          const batch: Batch = {
            protocol: PROTOCOL,
            region: name,
            shards,
            sender,
            run,
            sequence: this.#sequence,
            messages,
          }
          return await transport.send(address, batch, signal)
        },
        onSent: (queue, sent, isUnknown) => this.#onSent(queue, sent, isUnknown),
        onFailed: (error) => {
          directory.refresh()
          onOutage(error, address)
        },
      })
      if (this.#links.size >= MOST_LINKS) this.#forgetLinks()
      this.#links.set(address, link)
    }
    return link
  }

  #forgetLinks(): void {
    for (const [address, link] of this.#links) {
      if (!link.isIdle) continue
      link.close()
      this.#links.delete(address)
    }
  }

  #onSent(queue: ShardQueue, sent: readonly SentMessage[], isUnknown: boolean): void {
    if (this.#isClosed) return
    const again: Outgoing[] = []
    let moved: Receipt | undefined
    for (const { message, receipt } of sent) {
      if (receipt === undefined) this.#onNoReceipt(message, isUnknown, again)
      else if (receipt.outcome === 'accepted') this.#onTaken(message, queue)
      else if (receipt.outcome === 'refused') this.#onRefused(message, receipt.reason)
      else {
        moved ??= receipt
        again.push(message)
      }
    }
    queue.endSending(again)
    if (moved?.outcome === 'moved') this.#onMoved(queue, moved)
    else if (sent.some(({ receipt }) => receipt !== undefined)) queue.hops = 0
    this.#pump(queue)
  }

  #onNoReceipt(message: Outgoing, isUnknown: boolean, again: Outgoing[]): void {
    if (isUnknown) message.mayBeTaken = true
    if (!isUnknown || message.id !== undefined) again.push(message)
    // The answer to a question may come yet.
    else if (message.question === undefined) {
      message.giveUp('the connection failed while the message was under way')
      this.release(message)
    } else this.#letGo(message)
  }

  #onMoved(queue: ShardQueue, { address, session }: { readonly address?: string; readonly session?: string }): void {
    const { directory } = this.#options
    if (session !== undefined) {
      queue.enter(session, queue.address)
      return
    }
    queue.hops += 1
    queue.enter(undefined, undefined)
    directory.learn(queue.shard, address)
    if (address === undefined) directory.refresh()
  }

  #onDirectory(): void {
    for (const queue of this.#queues.values()) {
      queue.hops = 0
      if (!queue.isEmpty) this.#pump(queue)
    }
  }

  /** Gives up what is too old, repeats what is not confirmed, and looks whether something can move on. */
  #sweep(): void {
    this.#cancelSweep = undefined
    const now = this.#options.clock.now()
    let isEmpty = true
    for (const queue of this.#queues.values()) {
      if (queue.isEmpty) continue
      for (const message of queue.takeExpired(now)) {
        message.giveUp('it is not known where the shard lives, or nobody answers there')
        this.release(message)
      }
      queue.repeatIfDue(now)
      this.#pump(queue)
      isEmpty &&= queue.isEmpty
    }
    if (!isEmpty) this.#cancelSweep ??= this.#options.clock.schedule(SWEEP_INTERVAL, () => this.#sweep())
  }
}
