import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Clock, Grant, LeaseRecord, LeaseStore } from '@leasehold/core'
import { AbortableCall, type AcquireOutcome, type AcquireRequest, type StoreCall } from '@leasehold/core/store'
import { type Law, lawsWith } from './law.js'
import { type PassingTime, timeOf } from './passing-time.js'
import { storeAbilities } from './store-abilities.js'
import type { HolderElsewhere, StoreAbility, StoreBackend, StoreSubject } from './store-subject.js'

/** A rule that a `LeaseStore` has to keep. */
export type StoreLaw = Law<StoreTrial, StoreAbility>

/** Makes laws that get two clients of the backend. */
export const storeLawsOf = lawsWith<StoreTrial, StoreAbility, readonly [LeaseStore, LeaseStore]>(async (trial) => [
  await trial.client(),
  await trial.open(),
])

/** Makes laws that also get a grant of the name to the first client. */
export const grantedStoreLawsOf = lawsWith<StoreTrial, StoreAbility, readonly [Grant, LeaseStore, LeaseStore]>(
  async (trial) => {
    const [client, other] = [await trial.client(), await trial.open()]
    return [await trial.granted(client), client, other]
  },
)

const VIRTUAL_TTL = 10_000
const REAL_TTL = 2_000

/** An allowance after the end of a ttl: drift, margins and steps of clocks. */
const SLACK = 150

/** The surroundings of one law over a store: a backend of its own, clients, and time. */
export class StoreTrial {
  /** The lease name, which no other trial uses. */
  readonly name: string
  readonly ttl: number
  readonly time: PassingTime
  readonly backend: StoreBackend
  readonly clock: Clock
  readonly #subject: StoreSubject
  readonly #guids = new Map<string, string>()
  readonly #clients = new Set<LeaseStore>()

  private constructor(subject: StoreSubject, time: PassingTime, clock: Clock, backend: StoreBackend) {
    this.#subject = subject
    this.name = `${subject.prefix ?? ''}law-${randomUUID()}`
    this.time = time
    this.clock = clock
    this.backend = backend
    this.ttl = ttlOf(subject)
  }

  static async begin(subject: StoreSubject): Promise<StoreTrial> {
    const time = timeOf(subject)
    const { clock } = time.createMachine()
    return new StoreTrial(subject, time, clock, await subject.start(clock))
  }

  /** For how long without a heartbeat the store may keep a name, in milliseconds. */
  get longest(): number {
    const [client] = this.#clients
    return longestOf(this.ttl, client)
  }

  /** A new call, for one operation. */
  get call(): AbortableCall {
    return new AbortableCall()
  }

  /** A client of the backend; the same again where there can only be one. */
  async open(clock = this.clock): Promise<LeaseStore> {
    const client = await this.backend.open(clock)
    this.#clients.add(client)
    return client
  }

  /** The client that was opened first. */
  async client(): Promise<LeaseStore> {
    const [first] = this.#clients
    return first ?? (await this.open())
  }

  /** Why the subject cannot run a law with these needs. */
  async lacks(needs: readonly StoreAbility[]): Promise<string | undefined> {
    const able = { subject: this.#subject, backend: this.backend, client: await this.client() }
    return needs.map((need) => storeAbilities[need]).find(([has]) => !has(able))?.[1]
  }

  /** A grant id of this trial, the same for the same label: a GUID, for stores that take nothing else. */
  guid(label: string): string {
    const guid = this.#guids.get(label) ?? randomUUID()
    this.#guids.set(label, guid)
    return guid
  }

  async acquire(client: LeaseStore, request: Partial<AcquireRequest> = {}): Promise<AcquireOutcome> {
    const { name, ttl } = this
    return await client.acquire({ name, owner: 'owner', grantId: randomUUID(), ttl, ...request }, this.call)
  }

  /** The grant of a request that has to be granted. */
  async granted(client: LeaseStore, request: Partial<AcquireRequest> = {}): Promise<Grant> {
    const outcome = await this.acquire(client, request)
    assert(outcome.granted, `the request was refused, but no other owner should hold '${request.name ?? this.name}'`)
    return outcome.grant
  }

  /** The holder of the name, from the answer to a request that must be refused. */
  async refused(client: LeaseStore, request: Partial<AcquireRequest> = {}): Promise<LeaseRecord | undefined> {
    const outcome = await this.acquire(client, request)
    assert(!outcome.granted, 'the request was granted, but another owner should hold the name')
    return outcome.holder
  }

  async read(client: LeaseStore): Promise<LeaseRecord | undefined> {
    return await client.read(this.name, this.call)
  }

  /** Lets held leases expire: by the store's clock, or as observed by the given clients, which read the record before. */
  async expire(...observers: LeaseStore[]): Promise<void> {
    for (const observer of observers) await this.read(observer)
    await this.pass(this.longest * 1.02 + SLACK)
  }

  /** Checks that a watch ends when its call is aborted, and leaves no listener on the call. */
  async endsWhenAborted(watch: (call: StoreCall) => AsyncIterable<unknown> | undefined): Promise<void> {
    const { call } = this
    const watching = (async () => {
      for await (const _ of watch(call) ?? []);
    })()
    await this.pass(this.ttl / 100)
    call.abort()
    await this.time.until(watching, this.ttl)
    assert.equal(call.listeners, 0)
  }

  pass(duration: number): Promise<void> {
    return this.time.pass(duration)
  }

  /** Deletes the record, as an operator would. */
  async delete(): Promise<void> {
    await this.backend.delete?.(this.name)
  }

  /** Copies the record, as a backup does; resolves with a function that replaces the present record by the copy. */
  async copy(): Promise<() => Promise<void>> {
    assert(this.backend.copy !== undefined)
    const putBack = await this.backend.copy(this.name)
    return async () => void (await putBack())
  }

  async holdElsewhere(): Promise<HolderElsewhere> {
    assert(this.backend.holdElsewhere !== undefined)
    return await this.backend.holdElsewhere(this.name)
  }

  async end(): Promise<void> {
    for (const client of this.#clients) await client.close()
    await this.backend.stop?.()
  }
}

export function ttlOf({ ttl, time }: Pick<StoreSubject, 'ttl' | 'time'>): number {
  return ttl ?? (time === 'virtual' ? VIRTUAL_TTL : REAL_TTL)
}

/** For how long without a heartbeat a store may keep a name, in milliseconds; the ttl where there is no store. */
export function longestOf(ttl: number, store: Pick<LeaseStore, 'limits'> | undefined): number {
  const { ttls, extra } = store?.limits.frees ?? { ttls: 1, extra: 0 }
  return ttl * ttls + extra
}
