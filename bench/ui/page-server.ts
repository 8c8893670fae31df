import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MemoryLeaseStore } from '@leasehold/core'
import { LeaseUi } from '@leasehold/ui'
import { collectedMemory, type Memory } from '../support/memory.js'

export interface PageServerTask {
  readonly leases: number
  /** Grants and releases a second, without the heartbeats. */
  readonly changes: number
  readonly token: string
}

/** Of each lease, in milliseconds. Each is renewed three times in it. */
const TTL = 30_000

/** How often the script goes on, in milliseconds. */
const STEP = 50

/** A page over a store in memory whose leases change by a script: some are released and granted to the next owner. */
export class PageServer {
  readonly #store = new MemoryLeaseStore()
  readonly #server: Server
  readonly #names: readonly string[]
  readonly #held = new Map<string, string>()
  #grants = 0
  #renewed = 0

  constructor(task: PageServerTask) {
    const { leases, token } = task
    const teams = ['orders', 'invoices', 'mail', 'search', 'payments']
    this.#names = Array.from({ length: leases }, (_, number) => `${teams[number % teams.length]}/tenant-${number}`)
    const ui = new LeaseUi(this.#store, { token, writable: true, maxStreams: 2_000 })
    this.#server = createServer((request, response) => void ui.handle(request, response))
  }

  /** Resolves with the port. */
  async open({ changes }: PageServerTask): Promise<number> {
    for (const name of this.#names) await this.#grant(name)
    let begun = 0
    const startedAt = performance.now()
    setInterval(() => {
      const due = ((performance.now() - startedAt) / 1_000) * changes
      while (begun < due) {
        begun += 1
        void this.#change(begun)
      }
      void this.#renewDue()
    }, STEP)
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return (this.#server.address() as AddressInfo).port
  }

  memory(): Memory {
    return collectedMemory()
  }

  /** Processor time of the process so far, in milliseconds. */
  processor(): number {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000
  }

  /** One of two changes frees a name, and the next one grants it to another owner. */
  async #change(number: number): Promise<void> {
    // A prime, so that the changes are spread over the list.
    const name = this.#names[(Math.floor(number / 2) * 7_919) % this.#names.length] ?? ''
    const grantId = this.#held.get(name)
    if (grantId === undefined) await this.#grant(name)
    else {
      this.#held.delete(name)
      await this.#store.release({ name, owner: '', grantId, fencingToken: 0n, ttl: TTL })
    }
  }

  async #grant(name: string): Promise<void> {
    this.#grants += 1
    const owner = `worker-${this.#grants % 97}.example.com-${1_000 + (this.#grants % 89)}`
    const outcome = await this.#store.acquire({ name, owner, grantId: crypto.randomUUID(), ttl: TTL })
    if (outcome.granted) this.#held.set(name, outcome.grant.grantId)
  }

  /** A heartbeat of the next part of all names, so that each has one in a third of its ttl. */
  async #renewDue(): Promise<void> {
    const part = Math.ceil((this.#names.length * STEP) / (TTL / 3))
    for (let count = 0; count < part; count += 1) {
      const name = this.#names[this.#renewed % this.#names.length] ?? ''
      this.#renewed += 1
      const grantId = this.#held.get(name)
      if (grantId !== undefined) await this.#store.renew({ name, owner: '', grantId, fencingToken: 0n, ttl: TTL })
    }
  }
}

/** For a process of its own. */
export async function openPageServer(task: PageServerTask) {
  const server = new PageServer(task)
  const port = await server.open(task)
  return {
    port: () => port,
    memory: () => server.memory(),
    processor: () => server.processor(),
  }
}
