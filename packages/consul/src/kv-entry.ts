import { type LeaseValue, readValue } from './lease-value.js'

/** The flags of a lock of Consul's Go API, which `consul lock` uses too. It refuses a key with other flags. */
export const LOCK_FLAGS = '3304740253564472344'

/** A key of Consul's store. */
export interface KvEntry {
  readonly key: string
  /** The index of the Raft log at the last write of the key; one log serves all keys. */
  readonly modifyIndex: number
  /** The session that holds the key; empty if none does. */
  readonly session: string
  /** Whether it is the lock of a lease, or of the Go API. */
  readonly isLock: boolean
  /** `undefined` if another program wrote the value. */
  readonly value: LeaseValue | undefined
}

interface Fields {
  readonly Key?: unknown
  readonly ModifyIndex?: unknown
  readonly Session?: unknown
  readonly Flags?: unknown
  readonly Value?: unknown
}

/** The entry in a part of an answer; `undefined` if it is not one. */
export function toEntry(part: unknown): KvEntry | undefined {
  const { Key, ModifyIndex, Session, Flags, Value } = Object(part) as Fields
  if (typeof Key !== 'string' || typeof ModifyIndex !== 'number') return undefined
  return {
    key: Key,
    modifyIndex: ModifyIndex,
    session: typeof Session === 'string' ? Session : '',
    // JSON.parse makes a double of the flags: no other program has flags that are rounded to the same one.
    isLock: Flags === Number(LOCK_FLAGS),
    value: typeof Value === 'string' ? readValue(Buffer.from(Value, 'base64').toString()) : undefined,
  }
}
