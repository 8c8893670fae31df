import type { LeaseErrorDetails, StoreCall } from '@leasehold/core/store'
import { inRounds, RecentMap } from '@leasehold/core/store-kit'
import { type Compare, CREATE, EQUAL, type Header, MOD, type RequestOp, type TxnResponse } from './client/api.js'
import type { EtcdClient } from './client/etcd-client.js'
import type { KeySpace } from './key-space.js'
import {
  type Claim,
  type ClaimNote,
  type LeaseNote,
  type NameState,
  readsOf,
  stateIn,
  toValue,
  UNUSED,
} from './name-state.js'

/** How many names are remembered. */
const MOST_NAMES = 16_384

/** How often a write is tried while others write the same name. */
const ROUNDS = 20

/** The changes of one transaction. The record and the queue of the name must still be as they were read. */
export interface Changes {
  readonly note?: LeaseNote
  /** A key in the queue, with its new value and server lease; its place in the queue stays. */
  readonly claim?: { readonly key: Buffer; readonly note: ClaimNote; readonly lease: string }
  /** The key of the lock, which is deleted. */
  readonly freed?: Buffer
  /** The key of a waiter that holds the lock now, under another key: its place ends. */
  readonly left?: Buffer
}

/**
 * A write, and the function that makes the outcome from the answer to it; or the outcome alone, which then has to come from
 * a state that was read just now.
 */
export type Plan<T> = { readonly outcome: T } | { readonly changes: Changes; readonly done: (written: Header) => T }

/**
 * Reads names, and writes them if they have not changed since. It remembers the names as they were last seen, so that most
 * operations are one transaction. If the name has changed since, the answer to that transaction has its new state.
 */
export class NameTable {
  readonly keys: KeySpace
  readonly #client: EtcdClient
  readonly #seen = new RecentMap<NameState>(MOST_NAMES)

  constructor(client: EtcdClient, keys: KeySpace) {
    this.#client = client
    this.keys = keys
  }

  /** Reads a name; the read is linearizable. */
  async read(name: string, grantId: string | undefined, call: StoreCall): Promise<NameState> {
    return this.#see(name, await this.#client.read(readsOf(this.keys, name, grantId), call))
  }

  /** Makes a plan from the state of the name, and writes it; does so again while another writer is faster. */
  async carryOut<T>(
    name: string,
    grantId: string | undefined,
    call: StoreCall,
    plan: (state: NameState) => Plan<T>,
  ): Promise<T> {
    const details: LeaseErrorDetails = { leaseName: name, store: 'etcd' }
    let state = this.#seen.get(name) ?? UNUSED
    const round = async (isFirst: boolean): Promise<{ readonly outcome: T } | undefined> => {
      let planned = plan(state)
      if ('outcome' in planned && isFirst) {
        state = await this.read(name, grantId, call)
        planned = plan(state)
      }
      if ('outcome' in planned) return planned
      const answer = await this.#write(name, grantId, state, planned.changes, call)
      if (!answer.succeeded) {
        state = this.#see(name, answer)
        return undefined
      }
      this.#wrote(name, state, planned.changes, answer.header)
      return { outcome: planned.done(answer.header) }
    }
    return (await inRounds(name, details, round, ROUNDS)).outcome
  }

  #write(name: string, grantId: string | undefined, state: NameState, changes: Changes, call: StoreCall) {
    const { note, claim, freed, left } = changes
    const success: RequestOp[] = []
    if (note !== undefined) success.push({ requestPut: { key: this.keys.recordOf(name), value: toValue(note) } })
    if (claim !== undefined) {
      success.push({ requestPut: { key: claim.key, value: toValue(claim.note), lease: claim.lease } })
    }
    if (freed !== undefined) success.push({ requestDeleteRange: { key: freed } })
    if (left !== undefined && claim?.key.equals(left) !== true) success.push({ requestDeleteRange: { key: left } })
    const request = { compare: this.#unchanged(name, state), success, failure: readsOf(this.keys, name, grantId) }
    return this.#client.write(name, request, call)
  }

  /** Compares that the record and the first key of the queue are as they were read: no key can come before the first. */
  #unchanged(name: string, { noteRevision, first }: NameState): Compare[] {
    const note = { result: EQUAL, target: MOD, key: this.keys.recordOf(name), modRevision: noteRevision }
    if (first !== undefined) {
      return [note, { result: EQUAL, target: MOD, key: first.key, modRevision: first.modRevision }]
    }
    return [note, { result: EQUAL, target: CREATE, ...this.keys.claimsOf(name), createRevision: '0' }]
  }

  #see(name: string, answer: TxnResponse): NameState {
    const state = stateIn(name, answer)
    this.#seen.set(name, state)
    return state
  }

  #wrote(name: string, state: NameState, { note, claim, freed }: Changes, { revision }: Header): void {
    const next: NameState = {
      note: note === undefined ? state.note : { ...note, token: note.token ?? revision },
      noteRevision: note === undefined ? state.noteRevision : revision,
      // When the first key of a queue is deleted, the next one is not known: no key is the best guess.
      first: freed === undefined ? (claim === undefined ? state.first : claimOf(claim, state, revision)) : undefined,
      own: undefined,
      revision: BigInt(revision),
    }
    this.#seen.set(name, next)
  }
}

function claimOf(claim: NonNullable<Changes['claim']>, { first }: NameState, revision: string): Claim {
  return { ...claim, createRevision: first?.createRevision ?? revision, modRevision: revision }
}
