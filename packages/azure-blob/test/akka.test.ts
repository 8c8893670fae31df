import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type AkkaBlobStoreOptions, akkaBlobStore } from '@leasehold/azure-blob'
import { LeaseConfigurationError, LeaseNameError, systemClock } from '@leasehold/core'
import type { CasStore } from '@leasehold/core/store'
import { wallTime } from '@leasehold/core/store-kit'
import { afterAll, describe, expect, it } from 'vitest'
import { AkkaNode } from './support/akka-node.js'
import { Azurite } from './support/azurite.js'
import { claimOf, granted, never } from './support/claims.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())
const container = azurite.container('akka-coordination-lease')

/** Akka's, shortened: it takes over after 3 s by its own clock. */
const PEERS = { heartbeatTimeout: 4_000, heartbeatInterval: 500, clockSkew: 500 }
const TTL = 5_000

function open(options: AkkaBlobStoreOptions = {}): CasStore {
  return akkaBlobStore(container, { peers: PEERS, ...options })
}

function akkaOn(name: string): AkkaNode {
  return new AkkaNode(container, name, { owner: 'akka', ...PEERS })
}

const claim = (name: string) => claimOf(name, { ttl: TTL })

await container.create()

describe.concurrent('a lease that is shared with Akka', () => {
  it('is written as Akka writes it, with seven digits and an offset', async () => {
    await granted(open(), 'written', { owner: 'anna', ttl: TTL })
    const text = String(await container.getBlobClient('written').downloadToBuffer())
    expect(text).toMatch(/^\{"Owner":"anna","Time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}\+00:00"\}$/)
  })

  it('is free for both sides after either side releases it', async () => {
    const [store, akka] = [open(), akkaOn('handed')]
    const first = await granted(store, 'handed', { ttl: TTL })
    expect(await akka.acquire()).toBe(false)
    await store.release(first, never)
    expect((await akka.read()).Owner).toBe('')
    expect(await akka.acquire()).toBe(true)
    expect(await store.acquire(claim('handed'), never)).toMatchObject({ granted: false, holder: { owner: 'akka' } })
    await akka.release()
    expect((await granted(store, 'handed', { ttl: TTL })).fencingToken).toBeGreaterThan(first.fencingToken)
    expect(await akka.acquire()).toBe(false)
  })

  it('that Akka renews is never taken over, whatever time Akka writes', { timeout: 60_000 }, async () => {
    const [store, akka] = [open(), akkaOn('renewed')]
    const decades = 20 * 365 * 86_400_000
    expect(await akka.acquire()).toBe(true)
    for (let beats = 0; beats < 12; beats += 1) {
      expect((await store.acquire(claim('renewed'), never)).granted).toBe(false)
      await pause(PEERS.heartbeatInterval)
      // A wall clock that is off by decades.
      expect(await akka.heartbeat(wallTime() - decades)).toBe(true)
    }
  })

  it('of a dead Akka node is taken over after it was seen unchanged for the time-out of Akka', async () => {
    const [store, akka] = [open(), akkaOn('died')]
    expect(await akka.acquire()).toBe(true)
    const start = systemClock.now()
    while (!(await store.acquire(claim('died'), never)).granted) await pause(50)
    expect(systemClock.now() - start).toBeGreaterThanOrEqual(PEERS.heartbeatTimeout)
    expect(await akka.heartbeat()).toBe(false)
  })

  it('of a dead Akka node is replaced by the first look of a process that has just started', async () => {
    const akka = akkaOn('looked-at')
    expect(await akka.acquire()).toBe(true)
    const start = systemClock.now()
    const look = async () => (await open({ clockDifference: 0 }).acquire(claim('looked-at'), never)).granted
    while (!(await look())) await pause(500)
    expect(systemClock.now() - start).toBeGreaterThanOrEqual(PEERS.heartbeatTimeout)
    expect(open({ clockDifference: 0 }).limits.looks).toEqual({ needed: 1, extra: 2_025 })
    expect(open({ clockDifference: Number.POSITIVE_INFINITY }).limits).not.toHaveProperty('looks')
    expect(() => open({ clockDifference: -1 })).toThrow(LeaseConfigurationError)
  })

  it('has a time that makes Akka wait for a whole ttl, also with a shorter time-out', async () => {
    const [store, akka] = [open(), akkaOn('dated')]
    const ttl = 30_000
    const before = wallTime()
    const grant = await granted(store, 'dated', { ttl })
    // The machine of the test and the service have one clock: Akka's may be ahead by the skew.
    const end = before + ttl + PEERS.clockSkew
    expect(akka.hasTimedOut(await akka.read(), end)).toBe(false)
    // But not for ever: the times of the service are whole seconds.
    expect(akka.hasTimedOut(await akka.read(), wallTime() + ttl + PEERS.clockSkew + 2_000)).toBe(true)
    const renewed = wallTime()
    await store.renew(grant, never)
    expect(akka.hasTimedOut(await akka.read(), renewed + ttl + PEERS.clockSkew)).toBe(false)
  })

  it('that Akka took over is lost, and neither renewed nor released', async () => {
    const [store, akka] = [open(), akkaOn('taken')]
    const grant = await granted(store, 'taken', { ttl: TTL })
    expect(await akka.acquire(wallTime() + 60_000)).toBe(true)
    expect(await store.renew(grant, never)).toMatchObject({
      renewed: false,
      reason: 'taken',
      holder: { owner: 'akka' },
    })
    expect(await store.release(grant, never)).toMatchObject({ released: false, holder: { owner: 'akka' } })
    expect((await akka.read()).Owner).toBe('akka')
  })

  it('has tokens that grow, though each write of Akka removes them', { timeout: 60_000 }, async () => {
    const [store, akka] = [open(), akkaOn('tokens')]
    const tokens: bigint[] = []
    for (let round = 0; round < 4; round += 1) {
      for (let grants = 0; grants < 3; grants += 1) {
        const grant = await granted(store, 'tokens', { ttl: TTL })
        tokens.push(grant.fencingToken)
        await store.release(grant, never)
      }
      // At once: within the second of the last write.
      expect(await akka.acquire()).toBe(true)
      await akka.release()
    }
    for (const [place, token] of tokens.entries()) if (place > 0) expect(token).toBeGreaterThan(tokens[place - 1] ?? 0n)
  })

  it('that Akka holds can be broken by an operator, and the next token is still larger', async () => {
    const [store, akka] = [open(), akkaOn('broken')]
    const first = await granted(store, 'broken', { ttl: TTL })
    await store.release(first, never)
    expect(await akka.acquire()).toBe(true)
    await store.break('broken', { period: 0, reason: 'by hand' }, never)
    expect(await akka.heartbeat()).toBe(false)
    expect((await granted(store, 'broken', { ttl: TTL })).fencingToken).toBeGreaterThan(first.fencingToken)
  })

  it.each([
    { text: '', what: 'nothing' },
    { text: 'text', what: 'no JSON' },
    { text: '[]', what: 'no object' },
    { text: '{"Owner":7}', what: 'no owner' },
    { text: `{"Owner":"${'x'.repeat(70_000)}"}`, what: 'too long an owner' },
  ])('whose blob has $what in it is an error, and is not overwritten', async ({ text }) => {
    const name = `odd-${randomUUID()}`
    await container.getBlockBlobClient(name).upload(text, text.length)
    await expect(open().acquire(claim(name), never)).rejects.toThrow(LeaseConfigurationError)
    await expect(open().acquire(claim(name), never)).rejects.toThrow(/does not contain a lease of Akka/)
    expect(String(await container.getBlobClient(name).downloadToBuffer())).toBe(text)
  })

  it("that is missing is a typed error if 'create' is off", async () => {
    await expect(open({ create: false }).acquire(claim('missing'), never)).rejects.toThrow(/turn 'create' on/)
    const elsewhere = akkaBlobStore(azurite.container(`made-${randomUUID()}`), { peers: PEERS })
    await expect(granted(elsewhere, 'made', { ttl: TTL })).resolves.toMatchObject({ name: 'made' })
  })
})

describe('the names of Akka blobs', () => {
  it.each([
    { name: 'MyApp_Singleton.one', blob: 'myapp-singleton-one' },
    { name: 'akka://Sys/user/ünï', blob: 'akkasysuseruni' },
    { name: 'ﬁ①', blob: 'fi1' },
    { name: `${'x'.repeat(63)}!`, blob: 'x'.repeat(63) },
  ])('$name is $blob', async ({ name, blob }) => {
    await granted(open(), name, { ttl: TTL })
    expect(await container.getBlobClient(blob).exists()).toBe(true)
  })

  it('reject a second name that is the same lease to Akka', async () => {
    const store = open()
    await store.read('job_1', never)
    await expect(store.read('job.1', never)).rejects.toThrow(/same lease as 'job_1'/)
    await expect(store.read('job_1', never)).resolves.toBeUndefined()
  })

  it.each([{ name: 'x'.repeat(64) }, { name: '✓' }])(
    '$name is refused: it would be cut off, or nothing',
    async ({ name }) => {
      await expect(open().acquire(claim(name), never)).rejects.toThrow(LeaseNameError)
    },
  )

  it.each([
    { heartbeatTimeout: 1_000, heartbeatInterval: 500 },
    { heartbeatInterval: 0 },
    { clockSkew: -1 },
    { heartbeatTimeout: Number.POSITIVE_INFINITY },
  ])('settings that Akka cannot have are refused when built: %o', (peers) => {
    expect(() => akkaBlobStore(container, { peers })).toThrow(/the settings of the Akka side are invalid/)
  })
})
