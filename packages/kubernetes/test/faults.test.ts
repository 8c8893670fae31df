import { setTimeout as sleep } from 'node:timers/promises'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import { leases } from './support/api-server/test-api-server.js'
import { call, granted, openStore, startServer } from './support/open-store.js'
import { type Player, Scene } from './support/scene.js'

/** As long as a slow machine may need, in milliseconds. */
const PATIENCE = { timeout: 60_000, interval: 20 }
const FOREVER = { wait: Number.POSITIVE_INFINITY }

const heartbeats = ({ events }: Player): number => events.filter((event) => event === 'renewed').length

describe.concurrent('the way to the API server', { timeout: 90_000 }, () => {
  it('is cut for longer than the lease lasts: the holder stops first, then another is granted it', async () => {
    await Scene.play(async (scene) => {
      const way = await scene.proxy()
      const [a, b] = [await scene.player('a', way), await scene.player('b')]
      expect(await a.lease.acquire(FOREVER)).toBe(true)
      const waiting = b.lease.acquire(FOREVER)
      await vi.waitFor(() => expect(heartbeats(a)).toBeGreaterThan(0), PATIENCE)
      way.blackHole()
      expect(await waiting).toBe(true)
      expect(b.overlaps).toEqual([])
      expect(a.losses.map(({ reason }) => reason)).toEqual(['expired'])
      expect(b.lease.fencingToken).toBeGreaterThan(0n)
      // When it comes back, it touches nothing.
      way.heal()
      await vi.waitFor(() => expect(heartbeats(b)).toBeGreaterThan(1), PATIENCE)
      expect(scene.server.get(leases, 'job')?.spec?.holderIdentity).toMatch(/^b_/)
      expect(b.losses).toEqual([])
    })
  })

  it.each(['blackHole', 'dropResponses'] as const)(
    'is disturbed for a moment (%s): the holder stays',
    async (disturb) => {
      await Scene.play(async (scene) => {
        const way = await scene.proxy()
        const a = await scene.player('a', way)
        await a.lease.acquire(FOREVER)
        const token = a.lease.fencingToken
        way[disturb]()
        await vi.waitFor(() => expect(a.events).toContain('jeopardy'), PATIENCE)
        way.heal()
        await vi.waitFor(() => expect(a.events).toContain('recovered'), PATIENCE)
        expect(a.losses).toEqual([])
        expect(a.lease.fencingToken).toBe(token)
      })
    },
  )

  it('is reset again and again: the holder stays', async () => {
    await Scene.play(async (scene) => {
      const way = await scene.proxy()
      const a = await scene.player('a', way)
      await a.lease.acquire(FOREVER)
      for (let reset = 0; reset < 10; reset += 1) {
        way.reset()
        await sleep(300)
      }
      await vi.waitFor(() => expect(heartbeats(a)).toBeGreaterThan(2), PATIENCE)
      expect(a.losses).toEqual([])
    })
  })

  it('is slower than the heartbeat: one request is in flight at a time', async () => {
    await Scene.play(async (scene) => {
      const way = await scene.proxy()
      const times = { heartbeatTimeout: 12_000, heartbeatInterval: 500, operationTimeout: 6_000 }
      const a = await scene.player('a', way, times)
      await a.lease.acquire(FOREVER)
      scene.server.answered.length = 0
      way.slowDown(1_500)
      await vi.waitFor(() => expect(heartbeats(a)).toBeGreaterThan(3), PATIENCE)
      const confirmed = heartbeats(a)
      const puts = scene.server.requests.filter(({ method }) => method === 'PUT').length
      expect(puts - confirmed).toBeLessThanOrEqual(1)
      expect(new Set(scene.server.answered)).toEqual(new Set([200]))
      expect(a.losses).toEqual([])
    })
  })
})

describe.concurrent('the API server', { timeout: 90_000 }, () => {
  it('is restarted: the holder stays, under the same token, and tokens go on growing', async () => {
    await Scene.play(async (scene) => {
      const [a, b] = [await scene.player('a'), await scene.player('b')]
      await a.lease.acquire(FOREVER)
      const token = a.lease.fencingToken ?? 0n
      await scene.server.goAway()
      await vi.waitFor(() => expect(a.events).toContain('jeopardy'), PATIENCE)
      await scene.server.comeBack()
      await vi.waitFor(() => expect(a.events).toContain('recovered'), PATIENCE)
      expect(a.losses).toEqual([])
      expect(a.lease.fencingToken).toBe(token)
      await a.lease.release()
      await b.lease.acquire(FOREVER)
      expect(b.lease.fencingToken).toBeGreaterThan(token)
    })
  })

  it('sends no changes, although a watch is open: takeovers and heartbeats go on', async () => {
    await Scene.play(async (scene) => {
      const way = await scene.proxy()
      const [a, b] = [await scene.player('a', way), await scene.player('b')]
      await a.lease.acquire(FOREVER)
      // The watch of the waiter is never answered.
      scene.server.disturb = ({ query }) => (query.has('watch') ? { delay: new Promise(() => {}) } : undefined)
      const waiting = b.lease.acquire(FOREVER)
      await vi.waitFor(() => expect(heartbeats(a)).toBeGreaterThan(2), PATIENCE)
      way.blackHole()
      expect(await waiting).toBe(true)
      expect(b.overlaps).toEqual([])
      await vi.waitFor(() => expect(heartbeats(b)).toBeGreaterThan(1), PATIENCE)
    })
  })

  it('has the object removed by an operator: the holder is notified, and does not create it again', async () => {
    await Scene.play(async (scene) => {
      const a = await scene.player('a')
      await a.lease.acquire(FOREVER)
      const token = a.lease.fencingToken ?? 0n
      scene.server.remove(leases, 'job')
      await vi.waitFor(() => expect(a.losses.map(({ reason }) => reason)).toEqual(['deleted']), PATIENCE)
      expect(scene.server.get(leases, 'job')).toBeUndefined()
      expect(await a.lease.acquire(FOREVER)).toBe(true)
      expect(a.lease.fencingToken).toBeGreaterThan(token)
    })
  })

  it('has the holder changed by hand: the holder is notified, and changes nothing', async () => {
    await Scene.play(async (scene) => {
      const a = await scene.player('a')
      await a.lease.acquire(FOREVER)
      const { metadata, spec } = scene.server.get(leases, 'job') ?? {}
      scene.server.plant(leases, 'job', { metadata: { ...metadata }, spec: { ...spec, holderIdentity: 'operator' } })
      await vi.waitFor(
        () => expect(a.losses).toEqual([expect.objectContaining({ reason: 'taken', owner: 'operator' })]),
        PATIENCE,
      )
      expect(scene.server.get(leases, 'job')?.spec?.holderIdentity).toBe('operator')
    })
  })
})

it('a stale holder that continues after a takeover changes nothing', async () => {
  const server = await startServer()
  const clock = new VirtualClock()
  const [stale, fresh] = [await openStore(server.port), await openStore(server.port, { clock })]
  const old = await granted(stale, { owner: 'stale' })
  await fresh.read('job', call)
  clock.block(16_000)
  const grant = await granted(fresh, { owner: 'fresh' })
  const before = server.get(leases, 'job')
  expect(await stale.renew(old, call)).toMatchObject({ renewed: false, reason: 'taken', holder: { owner: 'fresh' } })
  expect(await stale.release(old, call)).toMatchObject({ released: false })
  expect(await stale.change(old, { grantId: 'x', owner: 'stale' }, call)).toMatchObject({ granted: false })
  expect(server.get(leases, 'job')).toEqual(before)
  expect(await fresh.renew(grant, call)).toEqual({ renewed: true })
})
