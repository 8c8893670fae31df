import { setImmediate as turn } from 'node:timers/promises'
import { systemClock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { granted, never } from '@leasehold/testing/job-claims'
import { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { differingClusterLibraries } from './support/libraries.js'
import { Scene } from './support/scene.js'

const LIMIT = 100

/** The server answers no command for so long: the answer comes while the loop is blocked, not before. */
const PAUSED = 1_000

/** Longer than a connection may be silent. */
const BLOCKED = 1_500

describeRedis('a blocked event loop', () => {
  it.each(differingClusterLibraries)(
    'ends no connection of $name whose answers have come meanwhile',
    async ({ server: clientOf }) => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const other = new Redis(server.port)
        scene.atEnd(() => other.quit())
        const connections = async (): Promise<string | undefined> =>
          /total_connections_received:(\d+)/.exec(await other.info('stats'))?.[1]
        const store = scene.store(clientOf(server))
        await granted(store, 'x')
        const before = await connections()
        await other.client('PAUSE', PAUSED, 'ALL')
        const call = new AbortableCall(LIMIT)
        systemClock.schedule(LIMIT, () => call.abort(new Error('too late')))
        const reading = store.read('job', call)
        await turn()
        await turn()
        const until = systemClock.now() + BLOCKED
        while (systemClock.now() < until);
        await expect(reading).rejects.toThrow('too late')
        expect(await store.read('job', never)).toMatchObject({ state: 'leased' })
        expect(await connections()).toBe(before)
      })
    },
  )
})
