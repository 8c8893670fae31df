import type { LeaseRecord } from '../store/lease-record.js'
import type {
  AcquireOutcome,
  AcquireRequest,
  ImmediateOperations,
  LeaseStore,
  ReleaseOutcome,
  RenewOutcome,
} from '../store/lease-store.js'
import type { Attempt } from './attempt-signals.js'
import type { StoreCall } from './engine-effect.js'
import type { AnswerEvent } from './engine-event.js'
import { invalidAnswer, isDefinitive, toLeaseError } from './failures.js'
import type { Instant } from './instant.js'
import type { LeaseRules } from './lease-rules.js'
import { faultOfAnswer } from './store-answers.js'
import type { StoreContext } from './store-context.js'

/** Makes the calls of one lease to its store, one at a time, each with a signal that ends it. */
export class StoreCaller {
  readonly #rules: LeaseRules
  readonly #store: LeaseStore
  readonly #context: StoreContext
  readonly #onAnswer: (answer: AnswerEvent) => void
  #attempt: Attempt | undefined

  constructor(rules: LeaseRules, store: LeaseStore, context: StoreContext, onAnswer: (answer: AnswerEvent) => void) {
    this.#rules = rules
    this.#store = store
    this.#context = context
    this.#onAnswer = onAnswer
  }

  /**
   * Every answer, and every failure, bears the number of the call. One that is known at once is returned; any other is
   * told later.
   */
  call(
    op: number,
    call: StoreCall,
    metadata: Readonly<Record<string, string>> | undefined,
    instant: Instant,
  ): AnswerEvent | undefined {
    const { immediate } = this.#store
    if (immediate !== undefined && (call.method === 'acquire' || call.method === 'release')) {
      return this.#askNow(immediate, op, call, metadata, instant)
    }
    this.#ask(op, call, metadata)
    return undefined
  }

  #ask(op: number, call: StoreCall, metadata: Readonly<Record<string, string>> | undefined): void {
    const attempt = this.#context.signals.take()
    this.#attempt = attempt
    this.#send(call, attempt.signal, metadata).then(
      (answer) => this.#ended(attempt, this.#eventOf(op, call, answer)),
      (failure) => this.#ended(attempt, this.#failureOf(op, call, failure)),
    )
  }

  #askNow(
    immediate: ImmediateOperations,
    op: number,
    call: Extract<StoreCall, { method: 'acquire' | 'release' }>,
    metadata: Readonly<Record<string, string>> | undefined,
    instant: Instant,
  ): AnswerEvent {
    try {
      if (call.method === 'release') return this.#eventOf(op, call, immediate.release(call.grant))
      const now = instant.isOf(immediate.clock) ? instant.now : immediate.clock.now()
      return this.#eventOf(op, call, immediate.acquire(this.#requestOf(call, metadata), now))
    } catch (failure) {
      return this.#failureOf(op, call, failure)
    }
  }

  /** The event for an answer. One that is not valid is a failure: whether the operation took effect is unknown. */
  #eventOf(op: number, { method }: StoreCall, answer: unknown): AnswerEvent {
    const fault = faultOfAnswer(method, answer)
    if (fault !== undefined) {
      return { type: 'failure', op, error: invalidAnswer(this.#rules, method, fault), definitive: false }
    }
    switch (method) {
      case 'acquire':
      case 'change':
        return { type: 'acquire-answer', op, outcome: answer as AcquireOutcome }
      case 'read':
        return { type: 'read-answer', op, record: answer as LeaseRecord | undefined }
      case 'renew':
        return { type: 'renew-answer', op, outcome: answer as RenewOutcome }
      case 'release':
        return { type: 'release-answer', op, outcome: answer as ReleaseOutcome }
    }
  }

  #failureOf(op: number, { method }: StoreCall, failure: unknown): AnswerEvent {
    const error = toLeaseError(this.#rules, method, failure)
    return { type: 'failure', op, error, definitive: isDefinitive(error) }
  }

  #requestOf(
    { grantId, queue }: Extract<StoreCall, { method: 'acquire' }>,
    metadata: Readonly<Record<string, string>> | undefined,
  ): AcquireRequest {
    const { name, owner, ttl } = this.#rules
    if (metadata === undefined) return { name, owner, grantId, ttl, queue }
    return { name, owner, grantId, ttl, queue, metadata }
  }

  /** Ends the call under way. Its answer, should it still come, is stale. */
  abort(): void {
    const attempt = this.#attempt
    if (attempt === undefined) return
    this.#attempt = undefined
    attempt.ended = true
    attempt.controller.abort()
  }

  /** `async`, so that a store that throws, returns no promise, or settles a thenable twice, still settles once. */
  async #send(
    call: StoreCall,
    signal: AbortSignal,
    metadata: Readonly<Record<string, string>> | undefined,
  ): Promise<unknown> {
    const store = this.#store
    switch (call.method) {
      case 'acquire':
        return await store.acquire(this.#requestOf(call, metadata), signal)
      case 'change':
        if (store.change === undefined) throw new TypeError('the store has no change')
        return await store.change(call.grant, call.to, signal)
      case 'read':
        return await store.read(this.#rules.name, signal)
      case 'renew':
        return await store.renew(call.grant, signal)
      case 'release':
        return await store.release(call.grant, signal)
    }
  }

  /** Only a call under way is ours to end: a signal that was given back may already serve another lease. */
  #ended(attempt: Attempt, answer: AnswerEvent): void {
    if (this.#attempt === attempt) this.#attempt = undefined
    this.#context.signals.give(attempt)
    this.#onAnswer(answer)
  }
}
