import type { EngineState } from '@leasehold/core/internal'
import type { Place, StoredLease } from '@leasehold/core/life-cycle'
import { ENTRY, FOREIGN, type Message } from './message.js'

/** One state of the exploration: all clients, the store, and the messages between them. Never changed, only replaced. */
export interface World {
  readonly clients: readonly Client[]
  readonly server: Server
  /** For how many units no clock can be wrong any more. */
  readonly steady: number
}

/** A client: its engine, and the user of its lease. Times are counted from its present, in milliseconds. */
export interface Client {
  readonly engine: EngineState
  /** The pending `acquire` of its user. */
  readonly waits: typeof NOBODY | typeof ONCE | typeof WAITING
  /** Whether its user has heard of a grant, and has neither released it nor heard of its loss. */
  readonly isOwed: boolean
  /** A grant id under which the store may still have a grant, which the client has given up; empty if there is none. */
  readonly leftover: string
  /** For the next grant id. */
  readonly nextId: number
  readonly messages: readonly Message[]
  /** The client's side of a store over a register. */
  readonly cas: CasClient
}

export const NOBODY = 0
export const ONCE = 1
export const WAITING = 2

/** The record of a name in a register. */
export interface Entry {
  /** Grows with every write. 0: none. */
  readonly version: number
  /** Empty if the name is free. */
  readonly owner: string
  readonly grantId: string
  readonly token: number
}

/** What a client's store remembers: of the entry that it saw last, and of the one that it wrote last. */
export interface CasClient {
  readonly seenVersion: number
  /** Since when it has seen the version. */
  readonly seenSince: number
  readonly written: Entry
  readonly operation: CasOperation | undefined
}

/** An operation of a store over a register: reads and conditional writes, until a write succeeds or nothing is to be written. */
export interface CasOperation {
  readonly method: 'acquire' | 'renew' | 'release' | 'read'
  /** The number of the engine's call. */
  readonly op: number
  readonly grantId: string
  readonly token: number
  /** The entry to be written by the request under way; `undefined` while it reads. */
  readonly writes: Entry | undefined
}

/** The store. A server-timed one has a lease and a queue, the other one an entry. Times are counted from its present. */
export interface Server {
  readonly lease: StoredLease | undefined
  readonly queue: readonly Place[]
  readonly entry: Entry
  /** For how many units the entry has not been written, up to a ttl. */
  readonly unchangedFor: number
  /** The largest token that was ever granted. */
  readonly largest: number
}

export const noEntry: Entry = { version: 0, owner: '', grantId: '', token: 0 }

export const idleCas: CasClient = { seenVersion: 0, seenSince: 0, written: noEntry, operation: undefined }

/** The beginning: nobody holds anything or asks for anything. The register has an entry, of a name that is free. */
export function beginning(clients: number): World {
  return {
    clients: Array.from({ length: clients }, () => newClient(1)),
    server: { lease: undefined, queue: [], entry: { ...noEntry, version: 1 }, unchangedFor: 0, largest: 0 },
    steady: 0,
  }
}

/** A client that has just started. */
export function newClient(nextId: number, messages: readonly Message[] = []): Client {
  const engine: EngineState = { phase: 'idle', op: 0 }
  return { engine, waits: NOBODY, isOwed: false, leftover: '', nextId, messages, cas: idleCas }
}

/** Whether a grant id still means something to a client. All others are those of somebody else to it, also its own old ones. */
export function knows({ engine, leftover, messages, cas: { operation } }: Client, grantId: string): boolean {
  if (grantId === '' || grantId === FOREIGN) return false
  const own = engine.phase === 'acquiring' ? engine.grantId : 'grant' in engine ? engine.grant.grantId : undefined
  if (grantId === own || grantId === leftover || grantId === operation?.grantId) return true
  return messages.some((message) => message.grantId === grantId)
}

/** Whether a client has seen a version that it can see again. Any other one is as good as none. */
export function hasSeen({ messages, cas: { seenVersion } }: Client, { entry }: Server): boolean {
  if (seenVersion === 0) return false
  return (
    seenVersion === entry.version || messages.some(({ kind, version }) => kind === ENTRY && version === seenVersion)
  )
}

/** Whether a client holds the grant that it wrote last: only then does an operation begin with what it wrote. */
export function usesWritten({ engine, cas: { written } }: Client): boolean {
  return written.version !== 0 && 'grant' in engine && engine.grant.grantId === written.grantId
}

/** Whether a client considers itself the holder, by its own clock. It can be wrong about this while it stands still. */
export function considersItselfHolder({ engine }: Client): boolean {
  return (engine.phase === 'held' || engine.phase === 'jeopardy') && engine.validUntil > 0
}
