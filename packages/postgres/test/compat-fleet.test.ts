import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '@leasehold/testing'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { rollOut } from '@leasehold/testing/rolling-deployment'
import { expect, it } from 'vitest'
import type { AdvisoryTask } from './support/old-and-new.js'
import { Scene } from './support/scene.js'

/** `ROUNDS=100` for a long run. */
const ROUNDS = Number(process.env.ROUNDS ?? 5)

const entry = fileURLToPath(new URL('./support/old-and-new.ts', import.meta.url))

describePostgres('five processes with an advisory lock that are replaced one by one, with kills', () => {
  it(`never hold with a new one, in ${ROUNDS} deployments`, { timeout: ROUNDS * 60_000 }, async (test) => {
    await Scene.play(async (scene) => {
      const { port } = await scene.server()
      const folder = temporaryFolder(test)
      for (let round = 1; round <= ROUNDS; round += 1) {
        const task = { port, name: `orders-${round}`, ttl: 1_000, work: 5 }
        // The server passes the lock from one old process to the next at once: with longer pauses, a new one gets it, too.
        const taskOf = (owner: string, isOld: boolean): AdvisoryTask => {
          return { ...task, owner, isOld, pause: isOld ? 250 : 40 }
        }
        expect((await rollOut({ folder, entry, taskOf })).violations).toEqual([])
      }
    })
  })
})
