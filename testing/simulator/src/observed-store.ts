import type { Clock } from '@leasehold/core'
import {
  AbortableCall,
  type CasEntry,
  type CasRecord,
  type CasRegister,
  type CasWritten,
  casStore,
} from '@leasehold/core/store'
import type { VirtualClock } from '../../../packages/testkit/src/time/virtual-clock.js'
import type { Connection } from './connection.js'
import type { Monitor } from './monitor.js'
import type { SimulationPlan } from './plan.js'
import type { ClientStore, SimulatedStore } from './simulated-store.js'
import { type StoredEntry, type StoredMark, StoreTimes } from './store-times.js'

/** The smallest and the largest ttl of a run. */
const limits = { minTtl: 100, maxTtl: 3_600_000 }

/**
 * A compare-and-set register on a server, and in each process a `casStore` that observes it on the clock of that
 * process: only the challengers time the leases, unless the store keeps times of its records.
 */
export class ObservedStore implements SimulatedStore {
  readonly #plan: SimulationPlan
  readonly #monitor: Monitor
  readonly #machine: VirtualClock
  readonly #entries = new Map<string, StoredEntry>()
  readonly #times: StoreTimes | undefined
  readonly #listening = new Set<() => void>()
  readonly #register: Pick<CasRegister<number>, 'read' | 'create' | 'replace' | 'clockError'>
  readonly #operator: ReturnType<typeof casStore<number>>
  #version = 0
  #lastCreation = 0

  /** `machine`: of the server. */
  constructor(plan: SimulationPlan, monitor: Monitor, machine: VirtualClock) {
    this.#plan = plan
    this.#monitor = monitor
    this.#machine = machine
    this.#times = plan.times === undefined ? undefined : new StoreTimes(plan, () => machine.wall())
    this.#register = {
      ...(this.#times === undefined ? {} : { clockError: this.#times.clockError }),
      read: async (name) => {
        const entry = this.#entries.get(name)
        return entry && this.#answerOf(entry)
      },
      create: async (name, record) => (this.#entries.has(name) ? undefined : this.#write(name, record)),
      replace: async (name, record, version) =>
        this.#entries.get(name)?.version === version ? this.#write(name, record) : undefined,
    }
    this.#operator = casStore({ kind: 'observed', forgets: true, ...this.#register }, { ...limits, clock: machine })
  }

  get listeners(): number {
    return this.#listening.size
  }

  open(connection: Connection, clock: Clock): ClientStore {
    const { read, create, replace, ...times } = this.#register
    const list = (prefix: string) =>
      [...this.#entries].flatMap(([name, entry]) => (name.startsWith(prefix) ? { name, ...this.#answerOf(entry) } : []))
    const register: CasRegister<number> = {
      kind: 'observed',
      forgets: true,
      ...times,
      read: (name, call) => connection.call('read', call, () => read(name, call)),
      create: (name, record, call) => connection.call('create', call, () => create(name, record, call)),
      replace: (name, record, version, call) =>
        connection.call('replace', call, () => replace(name, record, version, call)),
      ...(this.#plan.times === 'marks'
        ? {
            doubt: (...[name, version, since, call]) =>
              connection.call('doubt', call, async () => this.#mark(name, { version, since })),
          }
        : {}),
      list: async function* (prefix, call) {
        yield* await connection.call('list', call, async () => list(prefix))
      },
      ...(this.#plan.watched
        ? { watch: (_name, call) => connection.watch<undefined>(call, (send) => this.#listen(() => send(undefined))) }
        : {}),
    }
    // The check before the first grant is no part of the histories: the register keeps its conditions.
    return casStore(register, { ...limits, clock, probe: false })
  }

  async break(name: string): Promise<void> {
    await this.#operator.break(name, {}, new AbortableCall())
  }

  async forget(name: string): Promise<void> {
    if (this.#entries.get(name)?.record.owner === '') this.#entries.delete(name)
  }

  #listen(wake: () => void): () => void {
    this.#listening.add(wake)
    return () => this.#listening.delete(wake)
  }

  #answerOf({ mark, ...entry }: StoredEntry): CasEntry<number> {
    if (this.#times === undefined) return entry
    return { ...entry, readAt: this.#times.read(), ...(mark === undefined ? {} : { doubtedSince: mark.since }) }
  }

  /** A write drops the mark of the version before. */
  #mark(name: string, mark: StoredMark): void {
    const entry = this.#entries.get(name)
    if (entry?.version !== mark.version) return
    this.#entries.set(name, { ...entry, mark })
    this.#monitor.note('store', 'marked', `version ${mark.version} of '${name}'`)
  }

  #write(name: string, record: CasRecord): CasWritten<number> {
    this.#version += 1
    const createdAt = this.#entries.get(name)?.createdAt ?? this.#nextCreation()
    const writtenAt = this.#plan.times === 'written' ? { writtenAt: this.#times?.read() ?? Number.NaN } : {}
    this.#entries.set(name, { record, version: this.#version, createdAt, ...writtenAt })
    const { owner, grantId, fencingToken } = record
    if (owner !== '') this.#monitor.onGrant({ name, owner, grantId, fencingToken })
    for (const wake of this.#listening) wake()
    return { version: this.#version, createdAt }
  }

  /** Creations have different milliseconds: a register that forgets needs that. */
  #nextCreation(): number {
    this.#lastCreation = Math.max(Math.ceil(this.#machine.wall()), this.#lastCreation + 1)
    return this.#lastCreation
  }
}
