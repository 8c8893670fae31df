import {
  type AcquireOutcome,
  type AcquireRequest,
  type BreakOptions,
  type Clock,
  type Grant,
  LeaseConflictError,
  type LeaseRecord,
  type LeaseStore,
  MemoryLeaseStore,
} from '@leasehold/core'
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
      release: (grant: Grant) => store.release(grant),
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
      acquire: (request, signal) => connection.call('acquire', [request], signal),
      change: (grant, to, signal) => connection.call('change', [grant, to], signal),
      renew: (grant, signal) => connection.call('renew', [grant], signal),
      release: (grant, signal) => connection.call('release', [grant], signal),
      read: (name, signal) => connection.call('read', [name], signal),
      break: (name, options, signal) => connection.call('break', [name, options], signal),
      withdraw: (name, grantId, signal) => connection.call('withdraw', [name, grantId], signal),
      ...(batched ? { renewMany: (grants, signal) => connection.call('renewMany', [grants], signal) } : {}),
      ...(watched
        ? { watch: (name, signal, grantId) => connection.watch(() => this.#watch(connection, name, signal, grantId)) }
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
    signal: AbortSignal,
    grantId: string | undefined,
  ): AsyncIterable<LeaseRecord | undefined> {
    const ended = new AbortController()
    const end = (): void => stream.end()
    const forget = connection.onCut(() => stream.end(new Error('connection reset')))
    const stream = new PushStream<LeaseRecord | undefined>(() => {
      signal.removeEventListener('abort', end)
      forget()
      ended.abort()
    })
    signal.addEventListener('abort', end, { once: true })
    void this.#pushTo(stream, connection, this.#store.watch(name, ended.signal, grantId))
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
