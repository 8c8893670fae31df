import { createLease, MemoryLeaseStore, type StoreLease } from '@leasehold/core'
import {
  LeaderElection,
  PartitionGroup,
  ReadWriteLease,
  Schedule,
  ScheduleControl,
  Semaphore,
} from '@leasehold/recipes'
import type { VirtualClock } from '@leasehold/testkit'
import { SeveredStore } from '../../packages/ui/test/browser/support/severed-store.js'

const MINUTE = 60_000

const logger = { debug() {}, info() {}, warn() {}, error() {} }

const times = { heartbeatTimeout: MINUTE, heartbeatInterval: 15_000, operationTimeout: 5_000, logger }

/** What the recipes with `start()` have in common. */
interface StartedWork {
  on(event: 'error', listener: () => void): unknown
  start(): void
}

/** The processes of a shop, on the virtual time of the last hours: some were replaced, one crashed, a lease was broken. */
export class Shop {
  readonly store: MemoryLeaseStore
  readonly #clock: VirtualClock
  readonly #leases = new Map<string, { readonly lease: StoreLease; readonly way: SeveredStore }>()
  #ending = new AbortController()

  constructor(clock: VirtualClock) {
    this.#clock = clock
    this.store = new MemoryLeaseStore({ clock })
  }

  /** What has happened by now. Takes three hours of virtual time. */
  async play(): Promise<void> {
    const pods = ['web-7f9c-x2kq', 'web-7f9c-m8dz', 'web-7f9c-t4bn', 'web-7f9c-p6wv']
    for (const pod of pods) this.#workAs(pod)
    for (const tenant of [
      'anna',
      'bruno',
      'carla',
      'dario',
      'elena',
      'felix',
      'greta',
      'hugo',
      'ida',
      'jonas',
      'klara',
      'leo',
    ]) {
      await this.#hold(`tenants/${tenant}`, pods[tenant.length % pods.length] ?? '', { plan: 'business' })
    }
    await this.#hold('orders/import', 'web-7f9c-x2kq', {
      host: 'node-3',
      version: '2.14.0',
      file: 'orders-2026-11-28.csv',
    })
    await this.#hold('orders/export', 'web-7f9c-m8dz', { host: 'node-1', version: '2.14.0' })
    await this.#hold('search/index', 'indexer-0', { host: 'node-2', shard: 'eu' })
    await this.#hold('mail/outbox', 'mailer-1', { host: 'node-1' })
    await this.#hold('payments/settlement', 'ledger-0', { host: 'node-4', batch: '8841' })

    await this.#pass(25)
    await this.#handOver('orders/import', 'web-7f9c-t4bn')
    await this.#pass(20)
    this.#crash('search/index')
    await this.#pass(4)
    await this.#hold('search/index', 'indexer-1', { host: 'node-3', shard: 'eu' })
    await this.#pass(31)
    await this.#release('mail/outbox')
    await this.#pass(9)
    await this.#hold('mail/outbox', 'mailer-2', { host: 'node-2' })
    await this.#pass(22)
    await this.#break('payments/settlement', 'stuck since the network change, see the runbook')
    await this.#pass(3)
    await this.#hold('payments/settlement', 'ledger-1', { host: 'node-2', batch: '8842' })
    await this.#pass(18)
    await this.#handOver('orders/import', 'web-7f9c-p6wv')
    for (const tenant of ['dario', 'felix', 'ida']) await this.#handOver(`tenants/${tenant}`, 'web-7f9c-x2kq')
    await this.#pass(17)
    await this.#release('tenants/hugo')
    await new ScheduleControl(this.store, 'newsletter', {
      owner: 'Grace',
      clock: this.#clock,
      now: () => this.#now(),
    }).pause({
      reason: 'the provider of mails has an outage',
    })
    await this.#pass(8)
    this.#queueFor('orders/import', ['web-7f9c-m8dz', 'web-7f9c-x2kq'])
    this.#crash('mail/outbox')
    await this.#pass(0.5)
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    await this.store.close()
  }

  #now(): Date {
    return new Date(this.#clock.wall())
  }

  #pass(minutes: number): Promise<void> {
    return this.#clock.advance(minutes * MINUTE)
  }

  async #hold(name: string, owner: string, metadata: Record<string, string>): Promise<void> {
    const way = new SeveredStore(this.store)
    const lease = createLease(way.store, name, { ...times, owner, clock: this.#clock })
    await lease.acquire({ metadata })
    this.#leases.set(name, { lease, way })
  }

  async #release(name: string): Promise<void> {
    await this.#leases.get(name)?.lease.release()
  }

  async #handOver(name: string, owner: string): Promise<void> {
    await this.#release(name)
    await this.#hold(name, owner, { host: 'node-5', version: '2.14.1' })
  }

  async #break(name: string, reason: string): Promise<void> {
    await this.store.break(name, { period: 0, reason })
  }

  /** Its process has gone: nobody renews it any more, and it expires. */
  #crash(name: string): void {
    this.#leases.get(name)?.way.cut()
  }

  #queueFor(name: string, owners: readonly string[]): void {
    for (const owner of owners) {
      const lease = createLease(this.store, name, { ...times, owner, clock: this.#clock })
      lease.acquire({ wait: Number.POSITIVE_INFINITY, signal: this.#ending.signal, keepAlive: false }).catch(() => {})
    }
  }

  #workAs(owner: string): void {
    const leases = { ...times, owner, clock: this.#clock, stopTimeout: 1_000 }
    const environment = { ...leases, keepAlive: false }
    const now = () => this.#now()
    const recipes: readonly StartedWork[] = [
      new LeaderElection(this.store, {
        ...environment,
        name: 'invoicing',
        rank: owner.length % 3,
        onElected: untilAborted,
      }),
      new LeaderElection(this.store, { ...environment, name: 'rate-feed', onElected: untilAborted }),
      new Schedule(this.store, {
        ...environment,
        now,
        name: 'exchange-rates',
        cron: '*/10 * * * *',
        work: () => this.#work(20),
      }),
      new Schedule(this.store, {
        ...environment,
        now,
        name: 'newsletter',
        cron: '15 * * * *',
        work: () => this.#work(90),
      }),
      new Schedule(this.store, {
        ...environment,
        now,
        name: 'stock-sync',
        every: 5 * MINUTE,
        work: async ({ due }) => {
          await this.#work(45)
          if (Math.floor(due.getTime() / (5 * MINUTE)) % 7 === 0) throw new Error('the warehouse answered 503')
        },
      }),
      new PartitionGroup(this.store, {
        ...environment,
        name: 'events',
        partitions: 16,
        metadata: { zone: owner.length % 2 === 0 ? 'eu-1' : 'eu-2' },
        onAssigned: untilAborted,
      }),
    ]
    for (const recipe of recipes) {
      recipe.on('error', () => {})
      recipe.start()
    }
    const semaphore = new Semaphore(this.store, { ...leases, name: 'bank-api', permits: 3 })
    const renderers = new Semaphore(this.store, { ...leases, name: 'pdf-renderers', permits: 8 })
    const catalogue = new ReadWriteLease(this.store, { ...leases, name: 'catalogue', readers: 10 })
    const options = { wait: Number.POSITIVE_INFINITY, signal: this.#ending.signal }
    for (const lease of [semaphore, renderers, catalogue.shared]) lease.run(untilAborted, options).catch(() => {})
  }

  /** Takes so many seconds of virtual time. */
  #work(seconds: number): Promise<void> {
    return new Promise((resolve) => this.#clock.schedule(seconds * 1_000, resolve))
  }
}

function untilAborted({ signal }: { readonly signal: AbortSignal }): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
