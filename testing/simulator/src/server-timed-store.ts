import { type LeaseRecord, MemoryLeaseStore } from '@leasehold/core'
import { AbortableCall, type AcquireOutcome, type BreakOptions } from '@leasehold/core/store'
import type { VirtualClock } from '../../../packages/testkit/src/time/virtual-clock.js'
import type { Connection } from './connection.js'
import type { Monitor } from './monitor.js'
import type { SimulationPlan } from './plan.js'
import type { ClientStore, SimulatedStore } from './simulated-store.js'

/** What the client of the store can do. */
type ServerPlan = Pick<SimulationPlan, 'batched' | 'watched'>

/** Gets every grant and break of the store. */
type GrantMonitor = Pick<Monitor, 'onGrant' | 'grants' | 'breaks'>

/** A store that decides on expiry by its own clock, as Redis or a database does: `MemoryLeaseStore` on a server. */
export class ServerTimedStore implements SimulatedStore {
  readonly #plan: ServerPlan
  readonly #monitor: GrantMonitor
  readonly #machine: VirtualClock
  readonly #store: MemoryLeaseStore
  #listeners = 0

  /** `machine`: of the server. */
  constructor(
    plan: ServerPlan,
    monitor: GrantMonitor,
    machine: VirtualClock,
    store = new MemoryLeaseStore({ clock: machine }),
  ) {
    this.#plan = plan
    this.#monitor = monitor
    this.#machine = machine
    this.#store = store
  }

  get listeners(): number {
    return this.#listeners
  }

  open(connection: Connection): ClientStore {
    const store = this.#store
    const { batched, watched } = this.#plan
    const list = (prefix: string) => this.#list(prefix)
    return {
      kind: 'server-timed',
      limits: store.limits,
      acquire: (request, call) => connection.call('acquire', call, () => this.#seen(store.acquire(request))),
      change: (grant, to, call) => connection.call('change', call, () => this.#seen(store.change(grant, to))),
      renew: (grant, call) => connection.call('renew', call, () => store.renew(grant)),
      release: (grant, call, metadata) =>
        connection.call('release', call, () => store.release(grant, undefined, metadata)),
      update: (grant, metadata, call) => connection.call('update', call, () => store.update(grant, metadata)),
      read: (name, call) => connection.call('read', call, () => store.read(name)),
      break: (name, options, call) => connection.call('break', call, () => this.#break(name, options)),
      withdraw: (name, grantId, call) => connection.call('withdraw', call, () => store.withdraw(name, grantId)),
      list: async function* (prefix, call) {
        yield* await connection.call('list', call, () => list(prefix))
      },
      ...(batched
        ? { renewMany: (grants, call) => connection.call('renewMany', call, () => store.renewMany(grants)) }
        : {}),
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
      this.#monitor.breaks.push({ name, fencingToken, period: options.period, at: this.#machine.time.now })
    }
    // Beside the answer, which must not come later for it.
    broken.then(note, () => {})
    return broken
  }

  async #seen(answered: Promise<AcquireOutcome>): Promise<AcquireOutcome> {
    const outcome = await answered
    if (outcome.granted) this.#monitor.onGrant(outcome.grant)
    return outcome
  }

  /** The listing of the store itself takes turns of the event loop, which would not be the same in every run. */
  async #list(prefix: string): Promise<readonly LeaseRecord[]> {
    const records: LeaseRecord[] = []
    for (const name of new Set(this.#monitor.grants.map(({ name }) => name))) {
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
