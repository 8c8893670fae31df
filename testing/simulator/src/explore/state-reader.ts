import type { Grant } from '@leasehold/core'
import type { Acquiring, EngineState, Held, Releasing } from '@leasehold/core/internal'
import type { Place, StoredLease } from '@leasehold/core/life-cycle'
import type { Bounds } from './bounds.js'
import { FAILURE } from './engine-on-grid.js'
import { type Grid, NAME, ownerOf } from './grid.js'
import { FOREIGN, type Message } from './message.js'
import { ABSENT, CURRENT, methods, NEVER, OTHERS, phases, ZERO } from './state-format.js'
import { type Client, type Entry, idleCas, noEntry, type Server, type World } from './world.js'

type Call = NonNullable<Acquiring['call']>

const NO_METADATA = Object.freeze({})

/** Reads the states that a `StateWriter` wrote. Their clients, grant ids, tokens and versions have the names of their numbers. */
export class StateReader {
  readonly #bounds: Bounds
  readonly #grid: Grid
  readonly #isObserved: boolean
  #bytes: Uint8Array = new Uint8Array(0)
  #at = 0

  constructor(bounds: Bounds, grid: Grid) {
    this.#bounds = bounds
    this.#grid = grid
    this.#isObserved = bounds.store === 'observed'
  }

  read(bytes: Uint8Array, from: number): World {
    this.#bytes = bytes
    this.#at = from
    const clients = Array.from({ length: this.#bounds.clients }, (_, index) => this.#readClient(index))
    const server = this.#readServer()
    return { clients, server, steady: this.#next() }
  }

  #next(): number {
    const value = this.#bytes[this.#at] as number
    this.#at += 1
    return value
  }

  #nextTime(): number {
    const value = this.#next()
    return value === NEVER ? Number.POSITIVE_INFINITY : (value - ZERO) * this.#grid.unit
  }

  #nextId(index: number): string {
    const number = this.#next()
    if (number === 0) return ''
    return number === OTHERS ? FOREIGN : `${index}.${number}`
  }

  #nextCall(): Call | undefined {
    const code = this.#next()
    const method = methods[code & 7]
    if (method === undefined) return undefined
    const call = { method, sentAt: this.#nextTime(), limitAt: this.#nextTime() }
    return (code & 8) === 0 ? call : { ...call, isOverdue: true }
  }

  #readAcquiring(index: number): Acquiring {
    const grantId = this.#nextId(index)
    const bits = this.#next()
    const call = this.#nextCall()
    const sentAt = this.#nextSentAt()
    const firstSentAt = this.#nextTime()
    const retryAt = this.#nextTime()
    const uncertainSince = this.#bytes[this.#at] === ABSENT ? this.#absent() : this.#nextTime()
    return {
      phase: 'acquiring',
      op: 1,
      grantId,
      queue: (bits & 1) !== 0,
      adopted: undefined,
      offered: undefined,
      changedAt: undefined,
      call,
      sentAt,
      firstSentAt,
      retryAt,
      woken: (bits & 2) !== 0,
      refusals: (bits & 4) !== 0 ? 1 : 0,
      failures: (bits & 8) !== 0 ? 1 : 0,
      failure: (bits & 16) !== 0 ? FAILURE : undefined,
      uncertainSince,
    }
  }

  /** Long ago, if it makes no difference when. */
  #nextSentAt(): number {
    if (this.#bytes[this.#at] !== ABSENT) return this.#nextTime()
    this.#at += 1
    return -this.#grid.ttl * this.#grid.unit
  }

  #absent(): undefined {
    this.#at += 1
    return undefined
  }

  #nextGrant(index: number): Grant {
    const grantId = this.#nextId(index)
    const fencingToken = BigInt(this.#next())
    return { name: NAME, owner: ownerOf(index), grantId, fencingToken, ttl: this.#grid.ttl * this.#grid.unit }
  }

  #readHeld(phase: Held['phase'], index: number): Held {
    const grant = this.#nextGrant(index)
    const bits = this.#next()
    const call = this.#nextCall()
    const confirmedAt = this.#bounds.exact ? this.#nextTime() : undefined
    const validUntil = this.#nextTime()
    return {
      phase,
      op: 1,
      grant,
      confirmedAt: confirmedAt ?? validUntil - (this.#grid.ttl - 1) * this.#grid.unit,
      validUntil,
      holdUntil: Number.POSITIVE_INFINITY,
      suspended: 0,
      call,
      heartbeatAt: this.#nextTime(),
      attemptTimeout: this.#grid.unit,
      hasOtherTtl: undefined,
      update: undefined,
      changed: (bits & 2) !== 0 ? true : undefined,
      failures: (bits & 4) !== 0 ? 1 : 0,
      failure: (bits & 8) !== 0 ? FAILURE : undefined,
      hasStray: (bits & 1) !== 0,
    }
  }

  #readReleasing(index: number): Releasing {
    const grant = this.#nextGrant(index)
    const bits = this.#next()
    return {
      phase: 'releasing',
      op: 1,
      grant,
      to: undefined,
      metadata: undefined,
      call: (bits & 2) !== 0 ? 'release' : undefined,
      retryAt: this.#nextTime(),
      limitAt: this.#nextTime(),
      failures: (bits & 4) !== 0 ? 1 : 0,
      failure: (bits & 8) !== 0 ? FAILURE : undefined,
      hasStray: (bits & 1) !== 0,
    }
  }

  #readEngine(phase: (typeof phases)[number], index: number): EngineState {
    switch (phase) {
      case 'idle':
        return { phase, op: 1 }
      case 'acquiring':
        return this.#readAcquiring(index)
      case 'releasing':
        return this.#readReleasing(index)
      default:
        return this.#readHeld(phase, index)
    }
  }

  #readClient(index: number): Client {
    const head = this.#next()
    const engine = this.#readEngine(phases[head & 7] ?? 'idle', index)
    const leftover = this.#bounds.cleanup ? this.#nextId(index) : ''
    const cas = this.#isObserved ? this.#readCas(index) : idleCas
    const count = this.#next()
    const messages = Array.from({ length: count }, () => this.#readMessage(index))
    this.#next()
    // More ids than any state has: a new one is none of the numbered ones.
    return {
      engine,
      waits: ((head >> 3) & 3) as Client['waits'],
      isOwed: (head & 32) !== 0,
      leftover,
      nextId: OTHERS + 1,
      messages,
      cas,
    }
  }

  #readMessage(index: number): Message {
    const head = this.#next()
    const grantId = this.#nextId(index)
    const token = this.#next()
    const version = this.#isObserved ? this.#next() : 0
    return { kind: head & 31, op: (head & CURRENT) !== 0 ? 1 : 0, grantId, token, version, detail: this.#next() }
  }

  #readCas(index: number): Client['cas'] {
    const seenVersion = this.#next()
    const seenSince = seenVersion === 0 ? 0 : this.#nextTime()
    const version = this.#next()
    const written = version === 0 ? noEntry : this.#readEntry(index, version)
    const code = this.#next()
    const method = methods[code & 7]
    if (method === undefined) return { seenVersion, seenSince, written, operation: undefined }
    const operation = { method, op: 1, grantId: this.#nextId(index), token: this.#next() }
    const writes = (code & 8) === 0 ? undefined : this.#readEntry(index, 0)
    return { seenVersion, seenSince, written, operation: { ...operation, writes } }
  }

  #readEntry(index: number, version: number): Entry {
    const grantId = this.#nextId(index)
    const token = this.#next()
    return { version, grantId, token, owner: this.#next() === 0 ? '' : ownerOf(index) }
  }

  #nextHolder(): { readonly owner: string; readonly grantId: string } {
    const place = this.#next() - 1
    const number = this.#next()
    if (place === -1) return { owner: 'somebody', grantId: FOREIGN }
    return { owner: ownerOf(place), grantId: `${place}.${number}` }
  }

  #readServer(): Server {
    const largest = this.#next()
    if (this.#isObserved) {
      const isOwned = this.#next() === 1
      const { owner, grantId } = this.#nextHolder()
      const entry = { owner: isOwned ? owner : '', grantId, token: this.#next(), version: this.#next() }
      return { lease: undefined, queue: [], entry, unchangedFor: this.#next(), largest }
    }
    const state = this.#next()
    const lease = state === 0 ? undefined : this.#readLease(state)
    const queue: Place[] = []
    for (let left = this.#next(); left > 0; left -= 1) {
      const { grantId } = this.#nextHolder()
      // Each place has another grant id, also those of clients that have given up.
      queue.push({ grantId: grantId === FOREIGN ? `${FOREIGN}${left}` : grantId, keptUntil: this.#nextTime() })
    }
    return { lease, queue, entry: noEntry, unchangedFor: 0, largest }
  }

  #readLease(state: number): StoredLease {
    const { owner, grantId } = this.#nextHolder()
    return {
      owner,
      grantId,
      fencingToken: BigInt(this.#next()),
      lockedUntil: this.#nextTime(),
      ttl: this.#grid.ttl * this.#grid.unit,
      state: state === 1 ? 'leased' : 'available',
      metadata: NO_METADATA,
      previous: undefined,
    }
  }
}
