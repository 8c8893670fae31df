import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '@leasehold/testing'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { violations } from '@leasehold/testing/fleet'
import { RedisServer } from '@leasehold/testing/redis-server'
import { type Deployment, rollOut } from '@leasehold/testing/rolling-deployment'
import { expect, it } from 'vitest'
import type { MovingTask } from './support/moving.js'
import { Scene } from './support/scene.js'

/** `ROUNDS=100` for a long run. */
const ROUNDS = Number(process.env.ROUNDS ?? 1)

const entry = fileURLToPath(new URL('./support/moving.ts', import.meta.url))

/** The way back in long runs only: each move takes ten seconds. */
const ways = [['redis', 'postgres'] as const, ...(ROUNDS > 1 ? [['postgres', 'redis'] as const] : [])]

describeRedis('processes that move their leases to another store, with kills', () => {
  describePostgres('between Redis and PostgreSQL', () => {
    it.each(ways)(
      `never hold at the same time, and tokens grow, in ${ROUNDS} moves from %s to %s`,
      {
        timeout: ROUNDS * 120_000,
      },
      async (from, to) => {
        const redis = await RedisServer.start()
        try {
          await Scene.play(async (scene) => {
            const { port } = await scene.server()
            const folder = temporaryFolder()
            const task = { redis: redis.port, postgres: port, ttl: 1_000, work: 5, pause: 40 }
            for (let round = 1; round <= ROUNDS; round += 1) {
              const name = `orders-${round}`
              const deploy = async (old: MovingTask['stores'], next: MovingTask['stores']): Promise<Deployment> => {
                const taskOf = (owner: string, isOld: boolean): MovingTask => {
                  return { ...task, name, owner, stores: isOld ? old : next }
                }
                return await rollOut({ folder, entry, taskOf })
              }
              const first = await deploy([from], [from, to])
              const second = await deploy([from, to], [to])
              expect([...first.violations, ...second.violations]).toEqual([])
              expect(violations([...first.holdings, ...second.holdings])).toEqual([])
            }
          })
        } finally {
          await redis.stop()
        }
      },
    )
  })
})
