import type { AcquireRequest, ImmediateOperations, LeaseStore } from '../store/lease-store.js'
import type { Attempt } from './attempt-signals.js'
import type { StoreCall } from './engine-effect.js'
import type { AnswerEvent } from './engine-event.js'
import { isDefinitive, toLeaseError } from './failures.js'
import type { Instant } from './instant.js'
import type { LeaseRules } from './lease-rules.js'
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
    const failed = (failure: unknown): void => this.#ended(attempt, this.#failureOf(op, call, failure))
    try {
      this.#send(op, call, attempt, metadata, failed)
    } catch (failure) {
      // A store that throws instead of rejecting; told in a microtask, as every other failure.
      queueMicrotask(() => failed(failure))
    }
  }

  #askNow(
    immediate: ImmediateOperations,
    op: number,
    call: Extract<StoreCall, { method: 'acquire' | 'release' }>,
    metadata: Readonly<Record<string, string>> | undefined,
    instant: Instant,
  ): AnswerEvent {
    try {
      if (call.method === 'release') return { type: 'release-answer', op, outcome: immediate.release(call.grant) }
      const now = instant.isOf(immediate.clock) ? instant.now : immediate.clock.now()
      return { type: 'acquire-answer', op, outcome: immediate.acquire(this.#requestOf(call, metadata), now) }
    } catch (failure) {
      return this.#failureOf(op, call, failure)
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

  #send(
    op: number,
    call: StoreCall,
    attempt: Attempt,
    metadata: Readonly<Record<string, string>> | undefined,
    failed: (failure: unknown) => void,
  ): void {
    const store = this.#store
    const { signal } = attempt
    switch (call.method) {
      case 'acquire':
        store
          .acquire(this.#requestOf(call, metadata), signal)
          .then((outcome) => this.#ended(attempt, { type: 'acquire-answer', op, outcome }), failed)
        return
      case 'change':
        if (store.change === undefined) throw new TypeError('the store has no change')
        store
          .change(call.grant, call.to, signal)
          .then((outcome) => this.#ended(attempt, { type: 'acquire-answer', op, outcome }), failed)
        return
      case 'read':
        store
          .read(this.#rules.name, signal)
          .then((record) => this.#ended(attempt, { type: 'read-answer', op, record }), failed)
        return
      case 'renew':
        store
          .renew(call.grant, signal)
          .then((outcome) => this.#ended(attempt, { type: 'renew-answer', op, outcome }), failed)
        return
      case 'release':
        store
          .release(call.grant, signal)
          .then((outcome) => this.#ended(attempt, { type: 'release-answer', op, outcome }), failed)
    }
  }

  /** Only a call under way is ours to end: a signal that was given back may already serve another lease. */
  #ended(attempt: Attempt, answer: AnswerEvent): void {
    if (this.#attempt === attempt) this.#attempt = undefined
    this.#context.signals.give(attempt)
    this.#onAnswer(answer)
  }
}
