import { type Grant, isLocked } from '@leasehold/core'
import {
  type CasRecord,
  decideClaim,
  decideRelease,
  decideRenewal,
  type EngineEvent,
  observe,
  rewrite,
  type StoreRequest,
  standingOf,
  toGrant,
  tokenAfter,
  toLeaseRecord,
} from '@leasehold/core/internal'
import type { BrokenRule } from './broken-rule.js'
import type { ClientStep, Draft } from './client-step.js'
import { type Grid, NAME, ownerOf } from './grid.js'
import { CONFLICT, ENTRY, FETCH, FOREIGN, type Message, REPLACE, WRITTEN } from './message.js'
import type { CarriedOut, StoreModel } from './store-model.js'
import { type CasClient, type CasOperation, type Client, type Entry, knows, noEntry, type Server } from './world.js'

/** What an operation does next: it writes, or it ends. `isOver`: the grant has ended, and what was written is forgotten. */
type Decided = { readonly write: CasRecord } | { readonly event: EngineEvent; readonly isOver?: true }

const NO_METADATA = Object.freeze({})

/** The owner of an entry that is held by another client, where only that matters. */
const SOMEBODY = 'another client'

/**
 * A register, and in each client the decisions of `casStore`: expiry is what a client has seen of it, by its own clock. Each
 * operation reads the entry, decides, writes on the condition that the version is still the same, and begins again if it is
 * not. A heartbeat begins with the entry that its client wrote last.
 */
export class ObservedModel implements StoreModel {
  readonly #grid: Grid

  constructor(grid: Grid) {
    this.#grid = grid
  }

  call(step: ClientStep, index: number, draft: Draft, op: number, request: StoreRequest): void {
    const operation = toOperation(op, request)
    const { written } = draft.cas
    const isKnown = operation.method === 'renew' || operation.method === 'release'
    if (isKnown && written.grantId === operation.grantId) this.#decide(step, index, draft, operation, written)
    else this.#fetch(step, draft, operation)
  }

  abort(draft: Draft): void {
    draft.cas = { ...draft.cas, operation: undefined }
  }

  awaits({ cas: { operation } }: Client, { kind, op }: Message): boolean {
    if (op === 0 || operation?.op !== op) return false
    return (kind === FETCH || kind === ENTRY) === (operation.writes === undefined)
  }

  onAnswer(step: ClientStep, index: number, draft: Draft, message: Message): void {
    const { operation } = draft.cas
    if (operation === undefined) return
    if (message.kind === ENTRY) this.#decide(step, index, draft, operation, entryOf(index, message), true)
    else if (message.kind === CONFLICT) this.#fetch(step, draft, operation)
    else this.#onWritten(step, index, draft, operation, message.version)
  }

  carryOut(server: Server, index: number, client: Client, message: Message): CarriedOut {
    const { kind, op, grantId, token, version, detail } = message
    const { entry, largest } = server
    if (kind === FETCH) {
      const { version, token } = entry
      const isOurs = knows(client, entry.grantId)
      const id = isOurs ? entry.grantId : FOREIGN
      const owned = entry.owner === '' ? 0 : isOurs ? 2 : 1
      return { server, answer: { kind: ENTRY, op, grantId: id, token, version, detail: owned } }
    }
    if (version !== entry.version)
      return { server, answer: { kind: CONFLICT, op, grantId: '', token: 0, version: 0, detail: 0 } }
    const isOwned = detail === 2
    // Frees the grant of another only in a store with a bug.
    const id = grantId === FOREIGN ? entry.grantId : grantId
    const next = { version: version + 1, owner: isOwned ? ownerOf(index) : '', grantId: id, token }
    let broken: BrokenRule | undefined
    if (isOwned && (id === entry.grantId ? token < entry.token : token <= largest)) {
      broken = { rule: 'fencing-token', message: `client ${index} was granted ${token} after ${largest}` }
    }
    const answer = { kind: WRITTEN, op, grantId: '', token: 0, version: next.version, detail: 0 }
    return { server: { ...server, entry: next, unchangedFor: 0, largest: Math.max(token, largest) }, answer, broken }
  }

  later(server: Server, passed: number): Server {
    if (server.entry.owner === '') return server
    return { ...server, unchangedFor: Math.min(server.unchangedFor + passed, this.#grid.ttl) }
  }

  clientLater({ cas }: Client, passed: number): CasClient {
    if (cas.seenVersion === 0) return cas
    const { unit, ttl } = this.#grid
    // After the ttl and the margin, it is seen unchanged for long enough.
    return { ...cas, seenSince: Math.max(this.#grid.ceil(cas.seenSince) - passed, -(ttl + 1)) * unit }
  }

  /** As soon as an entry was not written for a ttl, a client with a fast clock may take over. */
  isInForce({ entry, unchangedFor }: Server, grantId: string): boolean {
    return entry.grantId === grantId && entry.owner !== '' && unchangedFor < this.#grid.ttl
  }

  #fetch(step: ClientStep, draft: Draft, operation: CasOperation): void {
    draft.cas = { ...draft.cas, operation: { ...operation, writes: undefined } }
    step.send(draft, { kind: FETCH, op: operation.op, grantId: '', token: 0, version: 0, detail: 0 })
  }

  /** Goes on with the entry that was read, or that this client wrote last. */
  #decide(step: ClientStep, index: number, draft: Draft, operation: CasOperation, entry: Entry, isRead = false): void {
    const unchanged = isRead ? this.#see(draft, entry.version) : 0
    const decision = this.#decisionOn(index, operation, this.#recordOf(entry), unchanged)
    if ('write' in decision) {
      this.#write(step, draft, operation, entry.version, decision.write)
      return
    }
    const { written } = draft.cas
    draft.cas = { ...draft.cas, operation: undefined, written: decision.isOver === true ? noEntry : written }
    step.dispatch(index, draft, decision.event)
  }

  #decisionOn(
    index: number,
    { op, method, grantId, token }: CasOperation,
    record: CasRecord,
    unchanged: number,
  ): Decided {
    const standing = standingOf(record, { unchanged, displaced: 0 }, this.#ttl)
    switch (method) {
      case 'read':
        return { event: { type: 'read-answer', op, record: toLeaseRecord(NAME, record, standing) } }
      case 'acquire': {
        const request = { name: NAME, owner: ownerOf(index), grantId, ttl: this.#ttl }
        const claim = decideClaim(request, record, standing)
        if ('granted' in claim) return { event: { type: 'acquire-answer', op, outcome: claim } }
        const { fencingToken = tokenAfter({ record }, 0n) } = claim.changes
        return { write: rewrite(record, { ...claim.changes, fencingToken }) }
      }
      case 'renew': {
        const decision = decideRenewal(this.#grantOf(index, grantId, token), record)
        if ('write' in decision) return decision
        return { event: { type: 'renew-answer', op, outcome: decision.refusal }, isOver: true }
      }
      case 'release': {
        const freed = decideRelease(this.#grantOf(index, grantId, token), record, undefined)
        if (freed !== undefined) return { write: freed }
        const holder = isLocked(standing) ? { holder: toLeaseRecord(NAME, record, standing) } : {}
        return { event: { type: 'release-answer', op, outcome: { released: false, ...holder } } }
      }
    }
  }

  #write(step: ClientStep, draft: Draft, operation: CasOperation, version: number, next: CasRecord): void {
    const { op } = operation
    const { owner, grantId, fencingToken } = next
    const token = Number(fencingToken)
    draft.cas = { ...draft.cas, operation: { ...operation, writes: { version: 0, owner, grantId, token } } }
    step.send(draft, { kind: REPLACE, op, grantId, token, version, detail: owner === '' ? 0 : 2 })
  }

  #onWritten(step: ClientStep, index: number, draft: Draft, operation: CasOperation, version: number): void {
    const { op, method, writes = noEntry } = operation
    const written = { ...writes, version }
    this.#see(draft, version)
    draft.cas = { ...draft.cas, written: method === 'release' ? noEntry : written, operation: undefined }
    step.dispatch(index, draft, this.#eventAfter(method, op, written))
  }

  #eventAfter(method: CasOperation['method'], op: number, written: Entry): EngineEvent {
    if (method === 'release') return { type: 'release-answer', op, outcome: { released: true } }
    if (method === 'renew') return { type: 'renew-answer', op, outcome: { renewed: true } }
    return { type: 'acquire-answer', op, outcome: { granted: true, grant: toGrant(NAME, this.#recordOf(written)) } }
  }

  /** For how long the client has seen this version. */
  #see(draft: Draft, version: number): number {
    const { seenVersion, seenSince } = draft.cas
    // This store has no time of its own: since when a version can be at the earliest is not limited.
    const seen = { version: seenVersion, after: Number.NEGATIVE_INFINITY, since: seenSince, seenAt: 0 }
    const next = observe(seenVersion === 0 ? undefined : seen, version, 0)
    draft.cas = { ...draft.cas, seenVersion: next.version, seenSince: next.since }
    return 0 - next.since
  }

  #recordOf({ owner, grantId, token }: Entry): CasRecord {
    return { owner, grantId, fencingToken: BigInt(token), ttl: this.#ttl, revision: 0, metadata: NO_METADATA }
  }

  #grantOf(index: number, grantId: string, token: number): Grant {
    return { name: NAME, owner: ownerOf(index), grantId, fencingToken: BigInt(token), ttl: this.#ttl }
  }

  get #ttl(): number {
    return this.#grid.ttl * this.#grid.unit
  }
}

/** Whether a client has made this grant id. */
export function isIdOf(index: number, grantId: string): boolean {
  return grantId.startsWith(`${index}.`)
}

function toOperation(op: number, request: StoreRequest): CasOperation {
  switch (request.method) {
    case 'acquire':
      return { method: 'acquire', op, grantId: request.grantId, token: 0, writes: undefined }
    case 'renew':
    case 'release': {
      const { grantId, fencingToken } = request.grant
      return { method: request.method, op, grantId, token: Number(fencingToken), writes: undefined }
    }
    case 'read':
      return { method: 'read', op, grantId: '', token: 0, writes: undefined }
    default:
      throw new Error(`${request.method} is not explored`)
  }
}

function entryOf(index: number, { version, grantId, token, detail }: Message): Entry {
  const owner = detail === 2 ? ownerOf(index) : detail === 1 ? SOMEBODY : ''
  return { version, owner, grantId, token }
}
