import type { LeaseRecord } from '../store/lease-record.js'
import type { AcquireOutcome, LeaseStore, ReleaseOutcome, RenewOutcome } from '../store/lease-store.js'
import { AbortableCall, type StoreCall } from '../store/store-call.js'
import type { Wishes } from './claims.js'
import type { StoreRequest } from './engine-effect.js'
import type { AnswerEvent } from './engine-event.js'
import { invalidAnswer, isDefinitive, toLeaseError } from './failures.js'
import type { LeaseGroup } from './lease-group.js'
import type { LeaseRules } from './lease-rules.js'
import type { BatchCaller, Heartbeat } from './renewal-batch.js'
import { faultOfAnswer } from './store-answers.js'

/** The engine that asked for a call. */
export interface Caller {
  readonly rules: LeaseRules
  onAnswer(answer: AnswerEvent): void
  /** The answer to a heartbeat that was sent in a batch. */
  onRenewal(answer: AnswerEvent): void
}

/** Makes the calls of one lease to its store, one at a time; heartbeats in batches, where the store can. */
export class StoreCaller implements BatchCaller {
  readonly #caller: Caller
  readonly #store: LeaseStore
  readonly #group: Pick<LeaseGroup, 'renewals' | 'claims'>
  #underWay: AbortableCall | undefined
  /** The claim that counts as under way. */
  #claim: AbortableCall | undefined

  constructor(caller: Caller, store: LeaseStore, group: Pick<LeaseGroup, 'renewals' | 'claims'>) {
    this.#caller = caller
    this.#store = store
    this.#group = group
  }

  /** Every answer, and every failure, bears the number of the call. `timeout` in milliseconds is for the store to know. */
  call(op: number, request: StoreRequest, timeout: number, wishes: Wishes): void {
    const { renewals, claims } = this.#group
    if (request.method === 'renew' && renewals !== undefined) {
      renewals.add({ caller: this, op, grant: request.grant, limit: this.#caller.rules.operationTimeout })
      return
    }
    const call = new AbortableCall(timeout)
    this.#underWay = call
    if (request.method === 'acquire') {
      this.#endClaim(this.#claim)
      this.#claim = call
      claims.begin()
    }
    this.#send(request, call, wishes).then(
      (answer) => this.#ended(call, this.#eventOf(op, request.method, answer)),
      (failure) => this.#ended(call, this.#failureOf(op, request.method, failure)),
    )
  }

  /** Ends the call under way. Its answer, should it still come, is stale. */
  abort(): void {
    const call = this.#underWay
    this.#underWay = undefined
    call?.abort()
    this.#endClaim(call)
  }

  onRenewed({ op }: Heartbeat, answer: unknown): void {
    this.#caller.onRenewal(this.#eventOf(op, 'renew', answer))
  }

  onRenewalFailed({ op }: Heartbeat, failure: unknown): void {
    this.#caller.onRenewal(this.#failureOf(op, 'renew', failure))
  }

  #ended(call: AbortableCall, answer: AnswerEvent): void {
    if (this.#underWay === call) this.#underWay = undefined
    this.#endClaim(call)
    this.#caller.onAnswer(answer)
  }

  #endClaim(call: AbortableCall | undefined): void {
    if (call === undefined || this.#claim !== call) return
    this.#claim = undefined
    this.#group.claims.end(1)
  }

  /** The event for an answer. An answer that is not valid is a failure: whether the operation took effect is unknown. */
  #eventOf(op: number, method: StoreRequest['method'], answer: unknown): AnswerEvent {
    const fault = faultOfAnswer(method, answer)
    if (fault !== undefined) {
      return { type: 'failure', op, error: invalidAnswer(this.#caller.rules, method, fault), definitive: false }
    }
    switch (method) {
      case 'acquire':
      case 'change':
        return { type: 'acquire-answer', op, outcome: answer as AcquireOutcome }
      case 'read':
        return { type: 'read-answer', op, record: answer as LeaseRecord | undefined }
      case 'break':
        return { type: 'break-answer', op, remaining: (answer as { readonly remaining: number }).remaining }
      case 'renew':
      case 'update':
        return { type: 'renew-answer', op, outcome: answer as RenewOutcome }
      case 'release':
        return { type: 'release-answer', op, outcome: answer as ReleaseOutcome }
    }
  }

  #failureOf(op: number, method: StoreRequest['method'], failure: unknown): AnswerEvent {
    const error = toLeaseError(this.#caller.rules, method, failure)
    return { type: 'failure', op, error, definitive: isDefinitive(error) }
  }

  /** `async`, so that a store that throws, returns no promise, or settles a thenable twice, still settles once. */
  async #send(request: StoreRequest, call: StoreCall, wishes: Wishes): Promise<unknown> {
    const store = this.#store
    const { name, owner, ttl } = this.#caller.rules
    switch (request.method) {
      case 'acquire': {
        const { grantId, queue, again } = request
        return await store.acquire({ ...(again === true ? {} : wishes), name, owner, grantId, ttl, queue }, call)
      }
      case 'change':
        if (store.change === undefined) throw new TypeError('the store has no change')
        return await store.change(request.grant, request.to, call)
      case 'break':
        if (store.break === undefined) throw new TypeError('the store has no break')
        // Without a period, the name stays locked until the holder has stopped, even if it hears nothing.
        return await store.break(name, { grantId: request.grantId }, call)
      case 'read':
        return await store.read(name, call)
      case 'renew':
        return await store.renew(request.grant, call)
      case 'update':
        if (store.update === undefined) throw new TypeError('the store has no update')
        return await store.update(request.grant, request.metadata, call)
      case 'release':
        return await store.release(request.grant, call, request.metadata)
    }
  }
}
