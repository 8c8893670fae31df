import type { Clock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { NotDeliveredError } from './delivery-errors.js'
import type { AnswerMessage, EventMessage, Message, Receipt } from './message.js'
import type { Outgoing } from './outgoing.js'
import type { ShardQueue } from './shard-queue.js'

/** The most messages of one batch. The transport sends fewer if they are large. */
const MOST_IN_BATCH = 1_000

/** The most answers that wait for one address. */
const MOST_ANSWERS = 10_000

/** How often an answer is sent before it is dropped: its sender asks again, or gives up. */
const ANSWER_TRIES = 8

/** The pauses after a batch has failed, in milliseconds: the first one doubles. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 2_000

export interface PeerLinkOptions {
  readonly address: string
  readonly clock: Clock
  readonly random: () => number
  /** How long a batch may be under way, in milliseconds. */
  readonly timeout: number
  /** Sends a batch to the address. */
  readonly send: (messages: readonly Message[], signal: AbortSignal) => Promise<readonly Receipt[]>
  /**
   * Called for each queue of a batch: its messages, and their receipts. `undefined`: it was not sent. `isUnknown`: the messages
   * without a receipt may have arrived.
   */
  readonly onSent: (queue: ShardQueue, sent: readonly SentMessage[], isUnknown: boolean) => void
  /** Called when a batch has failed. */
  readonly onFailed: (error: unknown) => void
}

export interface SentMessage {
  readonly message: Outgoing
  readonly receipt: Receipt | undefined
}

interface WaitingAnswer {
  readonly message: AnswerMessage
  tries: number
}

/** The way to one address. One batch at a time is under way. */
export class PeerLink {
  readonly #options: PeerLinkOptions
  readonly #ready = new Set<ShardQueue>()
  #answers: WaitingAnswer[] = []
  #state: 'idle' | 'scheduled' | 'sending' | 'paused' | 'closed' = 'idle'
  #pause = FIRST_PAUSE
  #call: AbortableCall | undefined
  #cancelPause = (): void => {}

  constructor(options: PeerLinkOptions) {
    this.#options = options
  }

  get isIdle(): boolean {
    return this.#ready.size === 0 && this.#answers.length === 0 && this.#state !== 'sending'
  }

  /** The messages of the queue may be sent to this address. */
  add(queue: ShardQueue): void {
    this.#ready.add(queue)
    this.#schedule()
  }

  /** The messages of the queue go somewhere else. */
  remove(queue: ShardQueue): void {
    this.#ready.delete(queue)
  }

  answer(message: AnswerMessage): void {
    if (this.#answers.length >= MOST_ANSWERS) this.#answers.shift()
    this.#answers.push({ message, tries: 0 })
    this.#schedule()
  }

  /** Gives up the batch under way, and what waits. */
  close(): void {
    this.#state = 'closed'
    this.#ready.clear()
    this.#answers = []
    this.#cancelPause()
    this.#call?.abort(new Error('the region was stopped'))
  }

  #schedule(): void {
    if (this.#state !== 'idle') return
    this.#state = 'scheduled'
    // All that is sent in this turn goes in one batch.
    queueMicrotask(() => {
      if (this.#state === 'scheduled') void this.#send()
    })
  }

  async #send(): Promise<void> {
    const answers = this.#answers.splice(0, MOST_IN_BATCH)
    const sent = new Map<ShardQueue, readonly Outgoing[]>()
    const messages: Message[] = answers.map(({ message }) => message)
    for (const queue of this.#ready) {
      if (messages.length >= MOST_IN_BATCH) break
      this.#ready.delete(queue)
      const taken = queue.beginSending(MOST_IN_BATCH - messages.length)
      if (taken.length === 0) continue
      sent.set(queue, taken)
      for (const message of taken) messages.push(toMessage(message, queue))
    }
    this.#state = 'idle'
    if (messages.length === 0) return
    this.#state = 'sending'
    let receipts: readonly Receipt[] = []
    let failure: { readonly error: unknown } | undefined
    try {
      receipts = await this.#sendInTime(messages)
    } catch (error) {
      failure = { error }
    }
    this.#onSettled(answers, sent, receipts, failure)
  }

  #onSettled(
    answers: readonly WaitingAnswer[],
    sent: ReadonlyMap<ShardQueue, readonly Outgoing[]>,
    receipts: readonly Receipt[],
    failure: { readonly error: unknown } | undefined,
  ): void {
    const isClosed = this.#state === 'closed'
    if (!isClosed) this.#state = 'idle'
    const kept = answers.slice(receipts.length).filter((answer) => {
      answer.tries += 1
      return answer.tries < ANSWER_TRIES
    })
    if (!isClosed) this.#answers.unshift(...kept)
    if (failure !== undefined && !isClosed) this.#rest(failure.error)
    else this.#pause = FIRST_PAUSE
    const isUnknown = failure !== undefined && !(failure.error instanceof NotDeliveredError)
    let at = answers.length
    for (const [queue, taken] of sent) {
      const start = at
      at += taken.length
      const of = taken.map((message, place): SentMessage => ({ message, receipt: receipts[start + place] }))
      this.#options.onSent(queue, of, isUnknown)
    }
    if (this.#answers.length > 0 || this.#ready.size > 0) this.#schedule()
  }

  /** A pause after a failure, so that an address that does not answer is not asked all the time. */
  #rest(error: unknown): void {
    const { clock, random, onFailed } = this.#options
    this.#state = 'paused'
    this.#cancelPause = clock.schedule(this.#pause * (0.5 + random()), () => {
      if (this.#state !== 'paused') return
      this.#state = 'idle'
      if (!this.isIdle) this.#schedule()
    })
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE)
    onFailed(error)
  }

  async #sendInTime(messages: readonly Message[]): Promise<readonly Receipt[]> {
    const { clock, timeout, send, address } = this.#options
    const call = new AbortableCall(timeout)
    this.#call = call
    const cancel = clock.schedule(timeout, () =>
      call.abort(new Error(`${address} did not answer within ${timeout} ms`)),
    )
    const aborted = new Promise<never>((_, reject) => {
      call.onAbort(() => reject(call.signal.reason))
    })
    aborted.catch(() => {})
    try {
      const receipts = await Promise.race([send(messages, call.signal), aborted])
      if (Array.isArray(receipts) && receipts.length > 0) return receipts
      throw new TypeError(`the transport gave no receipts for a batch to ${address}`)
    } finally {
      cancel()
      this.#call = undefined
    }
  }
}

function toMessage({ shard, entity, event, id, question, wantsReply }: Outgoing, queue: ShardQueue): EventMessage {
  return {
    kind: 'event',
    shard,
    entity,
    event,
    ...(id === undefined ? {} : { id }),
    ...(question === undefined ? {} : { question }),
    ...(wantsReply ? { wantsReply } : {}),
    ...(queue.session === undefined ? {} : { session: queue.session }),
  }
}
