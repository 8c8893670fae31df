import { eventually } from '@leasehold/testing'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { heartbeats } from '@leasehold/testing/players'
import { within } from '@leasehold/testing/real-time'
import { SmallDisk } from '@leasehold/testing/small-disk'
import { describe, expect, it } from 'vitest'
import { Scene } from '../support/scene.js'

/** `undefined` where this process may not mount one. */
function smallDisk(scene: Scene, megabytes: number): SmallDisk | undefined {
  const disk = SmallDisk.mount(megabytes)
  scene.atEnd(async () => disk?.unmount())
  return disk
}

const NO_MOUNT = 'this process may not mount a file system'

describePostgres('a full disk', () => {
  describe.concurrent('', { timeout: 90_000 }, () => {
    it('keeps no holder from its heartbeats, and refuses what needs space with an error', async ({ skip }) => {
      await Scene.play(async (scene) => {
        const disk = smallDisk(scene, 100)
        if (disk === undefined) return skip(NO_MOUNT)
        const server = await scene.server({ dir: disk.folder })
        const store = scene.store(server)
        const a = scene.player('a', store)
        await a.lease.acquire()
        disk.fill()
        // So large that it needs pages.
        const metadata = { text: 'x'.repeat(3_000) }
        const attempts = Array.from({ length: 60 }, (_, place) =>
          store.acquire(claimOf(`grant-${place}`, { name: `job-${place}`, metadata }), within(5_000)),
        )
        const outcomes = await Promise.allSettled(attempts)
        const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
        expect(errors.length).toBeGreaterThan(0)
        for (const error of errors) expect(error).toMatchObject({ code: 'unavailable' })
        const before = heartbeats(a)
        await eventually('it is renewed on the full disk', async () => heartbeats(a) > before + 2)
        disk.free()
        expect((await granted(store, 'later', { name: 'later', metadata })).grantId).toBe('later')
        expect(a.losses).toEqual([])
      })
    })

    it('that ends the server: the holder stops in time, and tokens grow when there is space again', async ({
      skip,
    }) => {
      await Scene.play(async (scene) => {
        const disk = smallDisk(scene, 120)
        if (disk === undefined) return skip(NO_MOUNT)
        const server = await scene.server({ dir: disk.folder })
        const [a, b] = [scene.player('a', scene.store(server)), scene.player('b', scene.store(server))]
        await a.lease.acquire()
        const token = a.lease.fencingToken ?? 0n
        disk.fill()
        // The log needs its next file, and PostgreSQL ends itself without it.
        for (let count = 0; count < 40; count += 1) {
          await server.query(`SELECT pg_logical_emit_message(true, 'fill', repeat('x', 1000000))`).catch(() => {})
        }
        await eventually('it is lost', async () => a.losses.length > 0)
        expect(a.losses.map(({ reason }) => reason)).toEqual(['expired'])
        disk.free()
        await server.restart()
        expect(await b.lease.acquire({ wait: 30_000 })).toBe(true)
        expect(b.lease.fencingToken).toBeGreaterThan(token)
        expect(b.overlaps).toEqual([])
        expect(await scene.store(server).read('job', never)).toMatchObject({ owner: 'b' })
      })
    })
  })
})
