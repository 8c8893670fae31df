import {
  type Clock,
  type Grant,
  LeaseConflictError,
  type LeaseRecord,
  type LeaseStore,
  MemoryLeaseStore,
  type Metadata,
} from '@leasehold/core'
import {
  AbortableCall,
  type AcquireOutcome,
  type AcquireRequest,
  type BreakOptions,
  type StoreCall,
} from '@leasehold/core/store'
import type { Connection, Methods } from './connection.js'
import { PushStream } from './push-stream.js'
import { onceEach, type SeenGrant, type SimulatedServer, type SimulatedStore } from './simulated-store.js'

/** A store that decides on expiry by its own clock, as Redis or a database does: `MemoryLeaseStore` on a server. */
export class ServerTimedStore implements SimulatedStore {
  readonly methods: Methods
  readonly #server: SimulatedServer
  readonly #store: MemoryLeaseStore
  readonly #onGrant: (grant: SeenGrant) => void
  #listeners = 0

  constructor(server: SimulatedServer) {
    const store = new MemoryLeaseStore({ clock: server.machine })
    this.#server = server
    this.#onGrant = onceEach(server.onGrant)
    this.#store = store
    this.methods = {
      acquire: async (request: AcquireRequest) => this.#seen(await store.acquire(request)),
      change: async (grant: Grant, to: { grantId: string; owner: string }) => this.#seen(await store.change(grant, to)),
      renew: (grant: Grant) => store.renew(grant),
      renewMany: (grants: readonly Grant[]) => store.renewMany(grants),
      release: (grant: Grant, metadata?: Metadata) => store.release(grant, undefined, metadata),
      update: (grant: Grant, metadata: Metadata) => store.update(grant, metadata),
      read: (name: string) => store.read(name),
      break: (name: string, options: BreakOptions) => store.break(name, options),
      withdraw: (name: string, grantId: string) => store.withdraw(name, grantId),
    }
  }

  get listeners(): number {
    return this.#listeners
  }

  open(connection: Connection, _clock: Clock): LeaseStore {
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
      ...(batched ? { renewMany: (grants, call) => connection.call('renewMany', [grants], call) } : {}),
      ...(watched
        ? { watch: (name, call, grantId) => connection.watch(() => this.#watch(connection, name, call, grantId)) }
        : {}),
      close: async () => {},
    }
  }

  async break(name: string): Promise<void> {
    try {
      await this.#store.break(name)
    } catch (error) {
      if (!(error instanceof LeaseConflictError)) throw error
    }
  }

  async forget(name: string): Promise<void> {
    const record = await this.#store.read(name)
    if (record?.state === 'leased' || record?.state === 'breaking') return
    await this.#store.delete(name)
  }

  #seen(outcome: AcquireOutcome): AcquireOutcome {
    if (outcome.granted) this.#onGrant(outcome.grant)
    return outcome
  }

  #watch(
    connection: Connection,
    name: string,
    call: StoreCall,
    grantId: string | undefined,
  ): AsyncIterable<LeaseRecord | undefined> {
    const watching = new AbortableCall()
    let forgetCall = (): void => {}
    const end = (): void => stream.end()
    const forget = connection.onCut(() => stream.end(new Error('connection reset')))
    const stream = new PushStream<LeaseRecord | undefined>(() => {
      forgetCall()
      forget()
      watching.abort()
    })
    forgetCall = call.onAbort(end)
    void this.#pushTo(stream, connection, this.#store.watch(name, watching, grantId))
    return stream
  }

  async #pushTo(
    stream: PushStream<LeaseRecord | undefined>,
    connection: Connection,
    turns: AsyncIterable<LeaseRecord | undefined>,
  ): Promise<void> {
    this.#listeners += 1
    for await (const turn of turns) connection.push(() => stream.push(turn))
    this.#listeners -= 1
  }
}
