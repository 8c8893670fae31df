import { KubernetesLeaseStore } from '@leasehold/kubernetes'
import { silentLogger } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { KubeConfigLike } from '../../src/api/kube-config.js'
import { GoElector } from './go-elector.js'
import { releaseLate } from './late-release.js'
import { call, granted } from './open-store.js'

const TTL = 6_000
/** How much longer than the ttl a challenger waits, and how late it may ask. */
const SLACK = 500
/** Of the heartbeats of a holder. */
const INTERVAL = 1_000

/** A Lease that Go controllers share, on the test server and on a real one. */
export function describeSharedLease(kubeConfig: () => Promise<KubeConfigLike>): void {
  describe('a Lease whose holder a Go elector empties by a late release', () => {
    it.each([
      ['who watches it', true],
      ['who learns of it at a heartbeat', false],
    ])(
      'is never held by two of ours, and is free when its holder has stopped, in 50 runs with a holder %s',
      { timeout: 300_000 },
      async (what, holderWatches) => {
        const config = await kubeConfig()
        for (let run = 0; run < 50; run += 1) {
          const times = await releaseLate({
            kubeConfig: config,
            name: `late-${holderWatches}-${run}`,
            transitions: run % 2 === 0 ? 'read' : 'remembered',
            holderWatches,
            phase: (run + 0.5) / 50,
          })
          const { released, lost, granted, overlap } = times
          expect(overlap, `${what}, run ${run}`).toBe(0)
          expect(lost, `${what}, run ${run}`).toBeLessThanOrEqual(granted)
          expect(granted - lost, `${what}, run ${run}`).toBeLessThan(SLACK)
          expect(granted - released, `${what}, run ${run}`).toBeLessThan(INTERVAL + SLACK)
        }
      },
    )

    it('is never held by two of ours, in 8 runs with a holder that is cut off and a Go elector in between', async () => {
      const config = await kubeConfig()
      for (let run = 0; run < 8; run += 1) {
        const { released, lost, granted, overlap } = await releaseLate({
          kubeConfig: config,
          name: `between-${run}`,
          transitions: run % 2 === 0 ? 'read' : 'remembered',
          holderWatches: false,
          phase: (run + 0.5) / 8,
          cutOff: true,
        })
        expect(overlap, `run ${run}`).toBe(0)
        expect(lost, `run ${run}`).toBeLessThanOrEqual(granted)
        // The waiter waits from when it first sees the Lease without our holder: at the latest when it asks at the expiry.
        expect(granted - released).toBeGreaterThanOrEqual(TTL)
        expect(granted - released).toBeLessThan(2 * TTL + SLACK)
      }
    }, 120_000)
  })

  describe('a Lease whose holder here a Go elector replaced too early', () => {
    /** A holder here that knows of nothing, a Go elector whose late release came, and a challenger here. */
    async function setUp(name: string, seconds = 1) {
      const config = await kubeConfig()
      const clock = new VirtualClock()
      const open = () => new KubernetesLeaseStore({ kubeConfig: config, clock, logger: silentLogger })
      const [ours, other] = [open(), open()]
      const [late, next] = [new GoElector(config, name, 'go_1', 6), new GoElector(config, name, 'go_2', seconds)]
      onTestFinished(async () => {
        late.close()
        next.close()
        await Promise.all([ours.close(), other.close()])
      })
      await late.acquire()
      await ours.read(name, call)
      clock.block(TTL + SLACK)
      const grant = await granted(ours, { name, ttl: TTL })
      await late.release()
      await next.acquire()
      const claim = () => other.acquire({ name, owner: 'other', grantId: 'g', ttl: TTL }, call)
      return { clock, grant, ours, next, claim }
    }

    it('is not free when the Go elector releases it: only a ttl after it was first seen without our holder', async () => {
      const { clock, next, claim } = await setUp('early-release')
      await next.release()
      expect(await claim()).toMatchObject({ granted: false, holder: { state: 'breaking' } })
      clock.block(TTL - 1)
      expect((await claim()).granted).toBe(false)
      clock.block(SLACK)
      expect((await claim()).granted).toBe(true)
    })

    it('is not taken over after the shorter duration of the Go elector', async () => {
      const { clock, claim } = await setUp('early-takeover')
      expect(await claim()).toMatchObject({ granted: false, holder: { owner: 'go_2', state: 'leased' } })
      clock.block(TTL - 1)
      expect(await claim()).toMatchObject({ granted: false, holder: { owner: 'go_2' } })
      clock.block(SLACK)
      expect((await claim()).granted).toBe(true)
    })

    it('is free at that time although Go electors take and release it again and again', async () => {
      const { clock, next, claim } = await setUp('early-and-often')
      for (let turn = 0; turn < 6; turn += 1) {
        await next.release()
        expect((await claim()).granted).toBe(false)
        await next.acquire()
        expect((await claim()).granted).toBe(false)
        clock.block(TTL / 6)
      }
      clock.block(SLACK)
      await next.release()
      expect((await claim()).granted).toBe(true)
    })

    it('is freed by our holder when it releases, though the Go elector was there in between', async () => {
      const { ours, grant, next, claim } = await setUp('early-and-freed')
      expect(await ours.release(grant, call)).toMatchObject({ released: false, holder: { owner: 'go_2' } })
      await next.release()
      expect((await claim()).granted).toBe(false)
      expect(await ours.release(grant, call)).toEqual({ released: true })
      expect((await claim()).granted).toBe(true)
    })
  })

  describe('a Lease that was held here and then by a Go elector', () => {
    async function setUp(name: string) {
      const config = await kubeConfig()
      const clock = new VirtualClock()
      const open = () => new KubernetesLeaseStore({ kubeConfig: config, clock, logger: silentLogger })
      const [ours, other] = [open(), open()]
      const go = new GoElector(config, name, 'go_1', 6)
      onTestFinished(async () => {
        go.close()
        await Promise.all([ours.close(), other.close()])
      })
      return { clock, other, go, grant: await granted(ours, { name, ttl: TTL }) }
    }

    it('is free at once where a challenger saw the Go elector for our ttl, though our note is still there', async () => {
      const { clock, other, go } = await setUp('taken-over')
      await go.acquire()
      await other.read('taken-over', call)
      clock.block(TTL + SLACK)
      await go.release()
      expect((await granted(other, { name: 'taken-over' })).owner).toBe('me')
    })

    it('is free at once where our own holder releases it after a late release has emptied it', async () => {
      const config = await kubeConfig()
      const go = new GoElector(config, 'freed', 'go_1', 6)
      onTestFinished(() => go.close())
      await go.acquire()
      const clock = new VirtualClock()
      const ours = new KubernetesLeaseStore({ kubeConfig: config, clock, logger: silentLogger })
      onTestFinished(() => ours.close())
      await ours.read('freed', call)
      clock.block(TTL + SLACK)
      const grant = await granted(ours, { name: 'freed' })
      await go.release()
      const other = new KubernetesLeaseStore({ kubeConfig: config, logger: silentLogger })
      onTestFinished(() => other.close())
      const claim = () => other.acquire({ name: 'freed', owner: 'other', grantId: 'g', ttl: TTL }, call)
      expect((await claim()).granted).toBe(false)
      expect(await ours.release(grant, call)).toEqual({ released: true })
      expect((await claim()).granted).toBe(true)
    })
  })
}
