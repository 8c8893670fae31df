import { type Clock, type Grant, type LeaseRecord, MemoryLeaseStore, type Metadata } from '@leasehold/core'
import { AbortableCall, type AcquireOutcome, type AcquireRequest, type BreakOptions } from '@leasehold/core/store'
import type { Connection } from './connection.js'
import type { ClientStore, Methods, SimulatedServer, SimulatedStore } from './simulated-store.js'

/** A store that decides on expiry by its own clock, as Redis or a database does: `MemoryLeaseStore` on a server. */
export class ServerTimedStore implements SimulatedStore {
  readonly methods: Methods
  isDown = false
  readonly #server: SimulatedServer
  readonly #store: MemoryLeaseStore
  /** Every name that was ever granted. */
  readonly #names = new Set<string>()
  #listeners = 0

  constructor(server: SimulatedServer) {
    const store = new MemoryLeaseStore({ clock: server.machine })
    this.#server = server
    this.#store = store
    this.methods = {
      acquire: async (request: AcquireRequest) => this.#seen(await store.acquire(request)),
      change: async (grant: Grant, to: { grantId: string; owner: string }) => this.#seen(await store.change(grant, to)),
      renew: (grant: Grant) => store.renew(grant),
      renewMany: (grants: readonly Grant[]) => store.renewMany(grants),
      release: (grant: Grant, metadata?: Metadata) => store.release(grant, undefined, metadata),
      update: (grant: Grant, metadata: Metadata) => store.update(grant, metadata),
      read: (name: string) => store.read(name),
      break: (name: string, options: BreakOptions) => this.#break(name, options),
      withdraw: (name: string, grantId: string) => store.withdraw(name, grantId),
      list: (prefix: string) => this.#list(prefix),
    }
  }

  get listeners(): number {
    return this.#listeners
  }

  open(connection: Connection, _clock: Clock): ClientStore {
    const { limits } = this.#store
    const { batched, watched } = this.#server
    return {
      kind: 'server-timed',
      limits,
      acquire: (request, call) => connection.call('acquire', [request], call),
      change: (grant, to, call) => connection.call('change', [grant, to], call),
      renew: (grant, call) => connection.call('renew', [grant], call),
      release: (grant, call, metadata) => connection.call('release', [grant, metadata], call),
      update: (grant, metadata, call) => connection.call('update', [grant, metadata], call),
      read: (name, call) => connection.call('read', [name], call),
      break: (name, options, call) => connection.call('break', [name, options], call),
      withdraw: (name, grantId, call) => connection.call('withdraw', [name, grantId], call),
      list: async function* (prefix, call) {
        yield* await connection.call<readonly LeaseRecord[]>('list', [prefix], call)
      },
      ...(batched ? { renewMany: (grants, call) => connection.call('renewMany', [grants], call) } : {}),
      ...(watched
        ? { watch: (name, call, grantId) => connection.watch(call, (send) => this.#watch(name, grantId, send)) }
        : {}),
      close: async () => {},
    }
  }

  async break(name: string): Promise<void> {
    await this.#break(name)
  }

  async forget(name: string): Promise<void> {
    const record = await this.#store.read(name)
    if (record?.state === 'leased' || record?.state === 'breaking') return
    await this.#store.delete(name)
  }

  #break(name: string, options: BreakOptions = {}): ReturnType<MemoryLeaseStore['break']> {
    const broken = this.#store.break(name, options)
    const note = async (): Promise<void> => {
      const { fencingToken = 0n } = (await this.#store.read(name)) ?? {}
      this.#server.onBreak({ name, fencingToken, period: options.period })
    }
    // Beside the answer, which must not come later for it.
    broken.then(note, () => {})
    return broken
  }

  #seen(outcome: AcquireOutcome): AcquireOutcome {
    if (outcome.granted) {
      this.#names.add(outcome.grant.name)
      this.#server.onGrant(outcome.grant)
    }
    return outcome
  }

  /** The listing of the store itself takes turns of the event loop, which would not be the same in every run. */
  async #list(prefix: string): Promise<readonly LeaseRecord[]> {
    const records: LeaseRecord[] = []
    for (const name of this.#names) {
      const record = name.startsWith(prefix) ? await this.#store.read(name) : undefined
      if (record !== undefined) records.push(record)
    }
    return records
  }

  #watch(name: string, grantId: string | undefined, send: (turn: LeaseRecord | undefined) => void): () => void {
    const watching = new AbortableCall()
    const sendTurns = async (): Promise<void> => {
      this.#listeners += 1
      for await (const turn of this.#store.watch(name, watching, grantId)) send(turn)
      this.#listeners -= 1
    }
    void sendTurns()
    return () => watching.abort()
  }
}
