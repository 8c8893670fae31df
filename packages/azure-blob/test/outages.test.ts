import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type AzureBlobLease, AzureBlobLeaseStore, createAzureBlobLease } from '@leasehold/azure-blob'
import { describe, expect, it, vi } from 'vitest'
import { Azurite, type AzuriteOptions } from './support/azurite.js'
import { type Finishing, times } from './support/proxied.js'

/** How often all leases are looked at, in milliseconds. */
const LOOK = 5

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Several owners that contend for several names, each for ever. */
class Contenders {
  /** Names that two held at one look. */
  readonly overlaps: string[] = []
  /** The tokens of each name, in the order of its grants. */
  readonly tokens = new Map<string, bigint[]>()
  readonly #leases: AzureBlobLease[] = []
  #isOver = false

  constructor(azurite: Azurite, names: readonly string[], owners: number) {
    const container = `outage-${randomUUID()}`
    for (let owner = 0; owner < owners; owner += 1) {
      const store = new AzureBlobLeaseStore(azurite.container(container))
      for (const name of names) {
        const lease = createAzureBlobLease(store, name, { ...times, owner: `owner ${owner}`, logger: quiet })
        lease.on('acquired', ({ fencingToken }) => {
          this.tokens.set(name, [...(this.tokens.get(name) ?? []), fencingToken])
        })
        this.#leases.push(lease)
        void this.#claimForEver(lease)
      }
    }
    void this.#look()
  }

  /** The names that are held. */
  get held(): ReadonlySet<string> {
    return new Set(this.#leases.filter((lease) => lease.checkLease()).map(({ settings }) => settings.name))
  }

  async end(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#leases.map((lease) => lease.close().catch(() => {})))
  }

  async #claimForEver(lease: AzureBlobLease): Promise<void> {
    while (!this.#isOver) {
      if (!lease.checkLease()) await lease.acquire({ wait: 60_000 }).catch(() => {})
      await pause(100)
    }
  }

  async #look(): Promise<void> {
    while (!this.#isOver) {
      const holders = this.#leases.filter((lease) => lease.checkLease()).map(({ settings }) => settings.name)
      for (const name of new Set(holders))
        if (holders.filter((held) => held === name).length > 1) this.overlaps.push(name)
      await pause(LOOK)
    }
  }
}

async function begin(
  test: Finishing,
  { names = ['a', 'b', 'c'], options = {} }: { names?: readonly string[]; options?: AzuriteOptions } = {},
): Promise<{ azurite: Azurite; contenders: Contenders; allHeld: () => Promise<void> }> {
  const azurite = await Azurite.start(options)
  const contenders = new Contenders(azurite, names, 3)
  const allHeld = async (): Promise<void> => {
    await vi.waitUntil(() => contenders.held.size === names.length, { timeout: 60_000 })
  }
  test.onTestFinished(async () => {
    await contenders.end()
    await azurite.stop()
  })
  await allHeld()
  return { azurite, contenders, allHeld }
}

/** One holder at a time, and each grant with a larger token than all before. */
function expectSafe({ overlaps, tokens }: Contenders): void {
  expect(overlaps).toEqual([])
  for (const [, granted] of tokens) {
    for (const [place, token] of granted.entries())
      if (place > 0) expect(token).toBeGreaterThan(granted[place - 1] ?? 0n)
  }
}

describe.concurrent('the service', () => {
  it('that is frozen for longer than the ttl: no lease is held, then each by one owner', {
    timeout: 180_000,
  }, async (test) => {
    const { azurite, contenders, allHeld } = await begin(test)
    azurite.signal('SIGSTOP')
    await pause(times.heartbeatTimeout + 1_000)
    expect(contenders.held.size).toBe(0)
    azurite.signal('SIGCONT')
    await allHeld()
    expectSafe(contenders)
  })

  it('that is frozen for less: its leases are kept', { timeout: 180_000 }, async (test) => {
    const { azurite, contenders, allHeld } = await begin(test)
    const before = [...contenders.tokens]
    azurite.signal('SIGSTOP')
    await pause(times.heartbeatTimeout / 3)
    expect(contenders.held.size).toBe(3)
    azurite.signal('SIGCONT')
    await allHeld()
    await pause(2 * times.heartbeatInterval)
    expect([...contenders.tokens]).toEqual(before)
    expectSafe(contenders)
  })

  it('that is killed and restarts without data: one grant each, with larger tokens than before', {
    timeout: 180_000,
  }, async (test) => {
    const { azurite, contenders, allHeld } = await begin(test)
    const { port } = azurite
    await azurite.stop('SIGKILL')
    await pause(times.heartbeatTimeout + 1_000)
    expect(contenders.held.size).toBe(0)
    const restarted = await Azurite.start({ port })
    test.onTestFinished(() => restarted.stop())
    await allHeld()
    expectSafe(contenders)
    for (const [, tokens] of contenders.tokens) expect(tokens.length).toBeGreaterThan(1)
  })

  it('that is restarted under load, with its data: one holder each, with growing tokens', {
    timeout: 180_000,
  }, async (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'leasehold-azurite-'))
    test.onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const names = Array.from({ length: 10 }, (_, place) => `name ${place}`)
    const { azurite, contenders, allHeld } = await begin(test, { names, options: { folder } })
    const { port } = azurite
    await azurite.stop('SIGTERM')
    // Longer than the ttl: after a restart Azurite takes every lease for expired, which the service does not.
    await pause(times.heartbeatTimeout + 1_000)
    const again = await Azurite.start({ folder, port })
    test.onTestFinished(() => again.stop())
    await allHeld()
    expectSafe(contenders)
    for (const [, [first = 0n, second]] of contenders.tokens) expect(second).toBeGreaterThan(first)
  })
})
