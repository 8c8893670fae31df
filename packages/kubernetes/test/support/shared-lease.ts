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

/** A Lease that Go controllers share, on the test server and on a real one. */
export function describeSharedLease(kubeConfig: () => Promise<KubeConfigLike>): void {
  describe('a Lease whose holder a Go elector empties by a late release', () => {
    it.each([
      ['who watches it', true],
      ['who learns of it at a heartbeat', false],
    ])(
      'is never held by two of ours, in 50 runs with a holder %s',
      { timeout: 300_000 },
      async (what, holderWatches) => {
        const config = await kubeConfig()
        for (let run = 0; run < 50; run += 1) {
          const transitions = run % 2 === 0 ? 'read' : 'remembered'
          const name = `late-${holderWatches}-${run}`
          const phase = (run + 0.5) / 50
          const { released, lost, granted, overlap } = await releaseLate({
            kubeConfig: config,
            name,
            transitions,
            holderWatches,
            phase,
          })
          expect(overlap, `${what}, run ${run}`).toBe(0)
          expect(lost, `${what}, run ${run}`).toBeLessThanOrEqual(granted)
          // The waiter waits from when it first sees the holder emptied: at the latest when it asks at the expiry.
          expect(granted - released).toBeGreaterThanOrEqual(TTL)
          expect(granted - released).toBeLessThan(2 * TTL + SLACK)
        }
      },
    )
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
      return { ours, other, go, grant: await granted(ours, { name }) }
    }

    it('is free at once where the Go elector that took it over released it, though our note is still there', async () => {
      const { other, go } = await setUp('taken-over')
      await go.acquire()
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
