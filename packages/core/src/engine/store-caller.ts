import { publishCall, tracers } from '../channels/channels.js'
import type { AcquireOptions } from '../lease/acquire-options.js'
import type { AcquireRequest, LeaseStore } from '../store/lease-store.js'
import { AbortableCall, type StoreCall } from '../store/store-call.js'
import type { StoreRequest } from './engine-effect.js'
import type { AnswerEvent } from './engine-event.js'
import type { LeaseGroup } from './lease-group.js'
import type { LeaseRules } from './lease-rules.js'
import { answerOf, failureOf } from './store-answers.js'

/** The engine that asked for a call. */
export interface AnswerListener {
  readonly rules: LeaseRules
  readonly group: Pick<LeaseGroup, 'claims'>
  onAnswer(answer: AnswerEvent): void
}

/** Makes the calls of one lease to its store, one at a time. */
export class StoreCaller {
  readonly #listener: AnswerListener
  readonly #store: LeaseStore
  #underWay: AbortableCall | undefined
  /** The claim that counts as under way. */
  #claim: AbortableCall | undefined

  constructor(listener: AnswerListener, store: LeaseStore) {
    this.#listener = listener
    this.#store = store
  }

  /**
   * Calls the store. Every answer, and every failure, bears the number `op`. `timeout` in milliseconds tells the store the
   * time limit. `options`: those of the caller that an `acquire` is for.
   */
  call(op: number, request: StoreRequest, timeout: number, options?: AcquireOptions): void {
    const call = new AbortableCall(timeout)
    this.#underWay = call
    if (request.method === 'acquire') {
      this.#endClaim(this.#claim)
      this.#claim = call
      this.#listener.group.claims.begin()
    }
    this.#published(request, call, options).then(
      (answer) => this.#ended(call, answerOf(this.#listener.rules, op, request.method, answer)),
      (error) => this.#ended(call, failureOf(this.#listener.rules, op, request.method, error)),
    )
  }

  /** Ends the call under way. Its answer, should it still come, is stale. */
  abort(): void {
    const call = this.#underWay
    this.#underWay = undefined
    call?.abort()
    this.#endClaim(call)
  }

  #ended(call: AbortableCall, answer: AnswerEvent): void {
    if (this.#underWay === call) this.#underWay = undefined
    this.#endClaim(call)
    this.#listener.onAnswer(answer)
  }

  #endClaim(call: AbortableCall | undefined): void {
    if (call === undefined || this.#claim !== call) return
    this.#claim = undefined
    this.#listener.group.claims.end(1)
  }

  #published(request: StoreRequest, call: StoreCall, options: AcquireOptions | undefined): Promise<unknown> {
    if (!tracers.store.isOn) return this.#send(request, call, options)
    const { name: leaseName, owner, kind: store } = this.#listener.rules
    const message = { leaseName, owner, store, operation: request.method, leases: 1 }
    return publishCall(message, () => this.#send(request, call, options))
  }

  /** `async`, so that a store that throws, returns no promise, or settles a thenable twice, still settles once. */
  async #send(request: StoreRequest, call: StoreCall, options: AcquireOptions | undefined): Promise<unknown> {
    const store = this.#store
    const { name, owner, ttl } = this.#listener.rules
    switch (request.method) {
      case 'acquire': {
        const { grantId, queue, again } = request
        const claim = { name, owner, grantId, ttl, queue }
        return await store.acquire(again === true ? claim : withRecorded(claim, options), call)
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

/** The claim with the options that are for the record of the lease. */
function withRecorded(claim: AcquireRequest, options: AcquireOptions | undefined): AcquireRequest {
  const { metadata, ifMatch } = options ?? {}
  if (metadata === undefined && ifMatch === undefined) return claim
  return { ...claim, ...(metadata && { metadata }), ...(ifMatch && { ifMatch }) }
}
