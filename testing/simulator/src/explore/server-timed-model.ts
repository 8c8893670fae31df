import type { Grant, LeaseRecord } from '@leasehold/core'
import type { StoreRequest } from '@leasehold/core/internal'
import { awaits, type EngineEvent, tokenInMemory } from '@leasehold/core/internal'
import {
  type Decision,
  LifeCycle,
  type NameState,
  type Place,
  type StoredLease,
  WaitQueue,
} from '@leasehold/core/life-cycle'
import type { AcquireOutcome, RenewOutcome } from '@leasehold/core/store'
import type { BrokenRule } from './broken-rule.js'
import type { ClientStep, Draft } from './client-step.js'
import { type Grid, NAME, ownerOf } from './grid.js'
import {
  ACQUIRE,
  FOREIGN,
  GRANTED,
  type Message,
  NOT_RENEWED,
  READ,
  RECORD,
  REFUSED,
  RELEASE,
  RELEASED,
  RENEW,
  RENEWED,
} from './message.js'
import type { CarriedOut, StoreModel } from './store-model.js'
import { type Client, idleCas, knows, type Server } from './world.js'

const NO_METADATA = Object.freeze({})

/** By the `detail` of a message. */
const refusals: readonly Extract<RenewOutcome, { renewed: false }>[] = [
  { renewed: false, reason: 'taken' },
  { renewed: false, reason: 'broken' },
  { renewed: false, reason: 'deleted' },
  { renewed: false, reason: 'expired' },
  { renewed: false, reason: 'expired', left: true },
]

/** The details of the answer to a read, and of the holder in a refusal. */
const NONE = 0
const FREE = 1
const LOCKED = 2

/** A store that decides on expiry by its own clock: the decisions are those of the store in memory. */
export class ServerTimedModel implements StoreModel {
  readonly #grid: Grid
  readonly #exact: boolean
  readonly #lifeCycle: LifeCycle
  #deletedToken = 0n

  /** `exact`: see the bounds. */
  constructor(grid: Grid, exact: boolean) {
    this.#grid = grid
    this.#exact = exact
    this.#lifeCycle = new LifeCycle({
      store: 'memory',
      uncertainty: 0,
      tokenAfter: (last) => tokenInMemory(last, this.#deletedToken),
    })
  }

  call(step: ClientStep, _index: number, draft: Draft, op: number, request: StoreRequest): void {
    step.send(draft, toMessage(op, request))
  }

  abort(): void {}

  awaits({ engine }: Client, { op }: Message): boolean {
    return op !== 0 && awaits(engine, op)
  }

  onAnswer(step: ClientStep, index: number, draft: Draft, message: Message): void {
    step.dispatch(index, draft, this.#eventOf(message, index))
  }

  carryOut(server: Server, index: number, client: Client, { kind, op, grantId, token, detail }: Message): CarriedOut {
    this.#deletedToken = BigInt(server.largest)
    const state: NameState = { lease: server.lease, queue: queueOf(server), now: 0 }
    const answer = (kind: number, detail = 0, token = 0): Message => ({ kind, op, grantId, token, version: 0, detail })
    switch (kind) {
      case ACQUIRE: {
        const request = { name: NAME, owner: ownerOf(index), grantId, ttl: this.#ttl, queue: detail === 1 }
        const decision = this.#lifeCycle.acquire(request, state)
        return this.#onAcquired(server, decision, index, answer)
      }
      case RENEW: {
        const decision = this.#lifeCycle.renew(this.#grantOf(index, grantId, token), state)
        const { outcome } = decision
        if (outcome.renewed) return { server: this.#after(server, decision), answer: answer(RENEWED) }
        const { reason, left } = outcome
        const detail = refusals.findIndex((refusal) => refusal.reason === reason && refusal.left === left)
        return { server, answer: answer(NOT_RENEWED, detail) }
      }
      case RELEASE: {
        const decision = this.#lifeCycle.release(this.#grantOf(index, grantId, token), state)
        const { released, holder } = { holder: undefined, ...decision.outcome }
        return { server: this.#after(server, decision), answer: answer(RELEASED, released ? 1 : holder ? 2 : 0) }
      }
      case READ: {
        const record = this.#lifeCycle.record(NAME, state)
        return { server, answer: recordMessage(op, client, record) }
      }
      default: {
        const leave = state.queue?.get(grantId) === undefined ? [] : [grantId]
        return { server: this.#after(server, { outcome: undefined, leave }), answer: answer(kind) }
      }
    }
  }

  later(server: Server, passed: number): Server {
    const { lease } = server
    const queue = server.queue.map(({ grantId, keptUntil }) => ({
      grantId,
      keptUntil: this.#onGrid(keptUntil, passed),
    }))
    return {
      ...server,
      lease: lease && { ...lease, lockedUntil: this.#onGrid(lease.lockedUntil, passed) },
      // A place that has ended is as good as none.
      queue: this.#exact ? queue : queue.filter(({ keptUntil }) => keptUntil > 0),
    }
  }

  clientLater(): Client['cas'] {
    return idleCas
  }

  isInForce({ lease }: Server, grantId: string): boolean {
    return lease?.grantId === grantId && lease.state === 'leased' && lease.lockedUntil > 0
  }

  get #ttl(): number {
    return this.#grid.ttl * this.#grid.unit
  }

  /** Rounded down, to the disadvantage of the holder, and cut off where it is over. */
  #onGrid(until: number, passed: number): number {
    return Math.max(this.#grid.floor(until) - passed, 0) * this.#grid.unit
  }

  #onAcquired(
    server: Server,
    decision: Decision<AcquireOutcome>,
    index: number,
    answer: (kind: number, detail?: number, token?: number) => Message,
  ): CarriedOut {
    const { outcome, next } = decision
    const after = this.#after(server, decision)
    if (!outcome.granted) return { server: after, answer: answer(REFUSED) }
    const token = Number(outcome.grant.fencingToken)
    const isRepeated = server.lease?.grantId === next?.grantId && (server.lease?.lockedUntil ?? 0) > 0
    let broken: BrokenRule | undefined
    if (isRepeated ? token < server.largest : token <= server.largest) {
      broken = { rule: 'fencing-token', message: `client ${index} was granted ${token} after ${server.largest}` }
    }
    return { server: { ...after, largest: Math.max(token, server.largest) }, answer: answer(GRANTED, 0, token), broken }
  }

  /** Brings a decision into force, as the store in memory does. */
  #after(server: Server, { next, leave = [], keep }: Decision<unknown>): Server {
    const queue = leave.length === 0 ? server.queue : server.queue.filter(({ grantId }) => !leave.includes(grantId))
    const kept = keep && { grantId: keep.grantId, keptUntil: this.#onGrid(keep.keptUntil, 0) }
    return {
      ...server,
      lease: next === undefined ? server.lease : this.#stored(next),
      queue: kept === undefined ? queue : withPlace(queue, kept),
    }
  }

  #stored({ owner, grantId, fencingToken, ttl, state, lockedUntil }: StoredLease): StoredLease {
    const until = this.#onGrid(lockedUntil, 0)
    return { owner, grantId, fencingToken, ttl, state, lockedUntil: until, metadata: NO_METADATA, previous: undefined }
  }

  #grantOf(index: number, grantId: string, token: number): Grant {
    return { name: NAME, owner: ownerOf(index), grantId, fencingToken: BigInt(token), ttl: this.#ttl }
  }

  #eventOf({ kind, op, grantId, token, detail }: Message, index: number): EngineEvent {
    switch (kind) {
      case GRANTED: {
        const grant = this.#grantOf(index, grantId, token)
        return { type: 'acquire-answer', op, outcome: { granted: true, grant } }
      }
      case REFUSED:
        return { type: 'acquire-answer', op, outcome: { granted: false } }
      case RENEWED:
        return { type: 'renew-answer', op, outcome: { renewed: true } }
      case NOT_RENEWED:
        return { type: 'renew-answer', op, outcome: refusals[detail] ?? { renewed: false, reason: 'taken' } }
      case RELEASED: {
        const holder = detail === 2 ? { holder: this.#record(index, FOREIGN, 0, LOCKED) } : {}
        return {
          type: 'release-answer',
          op,
          outcome: detail === 1 ? { released: true } : { released: false, ...holder },
        }
      }
      default:
        return {
          type: 'read-answer',
          op,
          record: detail === NONE ? undefined : this.#record(index, grantId, token, detail),
        }
    }
  }

  #record(index: number, grantId: string, token: number, detail: number): LeaseRecord {
    const state = detail === LOCKED ? 'leased' : 'available'
    return { ...this.#grantOf(index, grantId, token), state, metadata: NO_METADATA }
  }
}

function toMessage(op: number, request: StoreRequest): Message {
  const plain = { op, grantId: '', token: 0, version: 0, detail: 0 }
  switch (request.method) {
    case 'acquire':
      return { ...plain, kind: ACQUIRE, grantId: request.grantId, detail: request.queue ? 1 : 0 }
    case 'renew':
    case 'release': {
      const kind = request.method === 'renew' ? RENEW : RELEASE
      return { ...plain, kind, grantId: request.grant.grantId, token: Number(request.grant.fencingToken) }
    }
    case 'read':
      return { ...plain, kind: READ }
    default:
      throw new Error(`${request.method} is not explored`)
  }
}

function recordMessage(op: number, client: Client, record: LeaseRecord | undefined): Message {
  const plain = { kind: RECORD, op, version: 0, grantId: '', token: 0 }
  if (record === undefined) return { ...plain, detail: NONE }
  const isOwn = knows(client, record.grantId)
  const detail = record.state === 'leased' ? LOCKED : FREE
  return { ...plain, detail, grantId: isOwn ? record.grantId : FOREIGN, token: isOwn ? Number(record.fencingToken) : 0 }
}

function queueOf({ queue: places }: Server): WaitQueue | undefined {
  if (places.length === 0) return undefined
  const queue = new WaitQueue()
  for (const place of places) queue.keep(place)
  return queue
}

/** The place replaces the one of the same grant id, or is the last. */
function withPlace(queue: readonly Place[], place: Place): readonly Place[] {
  const isKept = queue.some(({ grantId }) => grantId === place.grantId)
  return isKept ? queue.map((kept) => (kept.grantId === place.grantId ? place : kept)) : [...queue, place]
}
