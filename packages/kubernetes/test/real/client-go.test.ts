import { temporaryFolder } from '@leasehold/testing'
import { whyNoClientGo } from '@leasehold/testing/client-go-elector'
import { describeUnless } from '@leasehold/testing/describe-unless'
import { expect, it } from 'vitest'
import { describeReal } from '../support/describe-real.js'
import { LateReleaseScene } from '../support/late-releases.js'
import { RollingRestarts } from '../support/rolling-restarts.js'

/** How often each scene is played. A round of restarts takes about 8 s. */
const ROUNDS = Number(process.env.CLIENT_GO_ROUNDS ?? 3)

/**
 * On a busy machine, the longest time without a leader, in milliseconds: twice the LeaseDuration, which a waiter waits that has
 * seen nothing of the past, and as much again.
 */
const LONGEST_GAP = 20_000

/** How many late releases happen side by side. */
const SIDE_BY_SIDE = 5

const time = ROUNDS * 120_000

describeUnless(whyNoClientGo, 'electors of client-go 0.20.2 and of this package', () => {
  describeReal((server) => {
    /** Plays a scene in rounds, each with a Lease of its own. */
    async function inRounds<T>(
      name: string,
      act: (scene: LateReleaseScene, round: number) => Promise<T>,
    ): Promise<T[]> {
      const results: T[] = []
      for (let first = 0; first < ROUNDS; first += SIDE_BY_SIDE) {
        const rounds = Array.from({ length: Math.min(SIDE_BY_SIDE, ROUNDS - first) }, (_, place) => first + place)
        const play = (round: number) =>
          LateReleaseScene.play(server(), `${name}-${round}`, (scene) => act(scene, round))
        results.push(...(await Promise.all(rounds.map(play))))
      }
      return results
    }

    it('a late release of Go is a conflict, and the holder here keeps the lease', { timeout: time }, async () => {
      for (const { statuses, losses, holder, isHeld } of await inRounds('late-go', (scene) => scene.goReleasesLate())) {
        expect(statuses).toEqual([409])
        expect(losses).toEqual([])
        expect(holder).toMatch(/^leasehold_/)
        expect(isHeld).toBe(true)
      }
    })

    it('a late release of the holder here is a conflict, and Go leads on', { timeout: time }, async () => {
      const rounds = await inRounds('late-leasehold', (scene) => scene.leaseholdReleasesLate())
      for (const { statuses, holder, isLed } of rounds) {
        expect(statuses.length).toBeGreaterThan(0)
        expect(statuses.every((status) => status === 409)).toBe(true)
        expect(holder).toBe('go')
        expect(isLed).toBe(true)
      }
    })

    it.for([true, false])(
      'a late release over the present object, as of newer client-go, empties the Lease: the holder stops (watches: %s)',
      { timeout: time },
      async (watches, test) => {
        const play = (scene: LateReleaseScene) => scene.goReleasesLateOverPresent(watches)
        const rounds = await inRounds(`over-present-${watches}`, play)
        const noticedAfter = rounds.map((round) => round.noticedAfter).sort((a, b) => a - b)
        await test.annotate(
          JSON.stringify({
            rounds: rounds.length,
            noticedAfter: { median: noticedAfter[Math.floor(rounds.length / 2)], longest: noticedAfter.at(-1) },
            overlaps: rounds.filter(({ overlap }) => overlap > 0).length,
            longestOverlap: Math.max(...rounds.map(({ overlap }) => overlap)),
          }),
        )
        for (const { statuses, losses } of rounds) {
          expect(statuses).toEqual([200])
          expect(losses).toEqual([expect.objectContaining({ reason: 'taken' })])
        }
      },
    )

    it('never lead at the same time, while replicas of one kind are replaced by those of the other, one by one', {
      timeout: time,
    }, async (test) => {
      const folder = temporaryFolder(test)
      const report = await RollingRestarts.run(server(), { name: 'rolling', rounds: ROUNDS, folder })
      await test.annotate(JSON.stringify(report))
      expect(report.overlaps).toEqual([])
      expect(report.longestGap).toBeLessThan(LONGEST_GAP)
      expect(report.changes).toBeGreaterThanOrEqual(Math.floor(ROUNDS / 2))
    })
  })
})
