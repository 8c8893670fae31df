import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@leasehold/core'
import { temporaryFolder } from '@leasehold/testing'
import { describePgBouncer } from '@leasehold/testing/describe-postgres'
import { violations } from '@leasehold/testing/fleet'
import { expect, it } from 'vitest'
import { type Contest, contenders } from '../support/fleet.js'
import { Scene } from '../support/scene.js'

describePgBouncer('100 processes on 10 connections', () => {
  it('behind PgBouncer: never two holders, and everybody gets a turn', { timeout: 400_000 }, async (test) => {
    await Scene.play(async (scene) => {
      const server = await scene.server()
      const { port } = await scene.bouncer(server, { poolSize: 10 })
      const fleet = await contenders(temporaryFolder(test))
      scene.atEnd(() => fleet.stop())
      const owners = Array.from({ length: 100 }, (_, place) => `ship-${place}`)
      const times = { heartbeatTimeout: 15_000, heartbeatInterval: 3_000, operationTimeout: 5_000 }
      const contestOf = (owner: string, place: number): Contest => {
        return { port, owner, names: [`berth-${place % 10}`], times, work: 20, connections: 1 }
      }
      // A few at a time: to start a process takes far more of the machine than to let it run.
      for (let first = 0; first < owners.length; first += 10) {
        await Promise.all(owners.slice(first, first + 10).map((owner, place) => fleet.start(contestOf(owner, place))))
      }
      const held = (): number => new Set(fleet.holdings.map(({ owner }) => owner)).size
      // Without notifications waiters ask again after a while; on a busy machine that takes long.
      const until = systemClock.now() + 200_000
      while (held() < owners.length && systemClock.now() < until) await sleep(100)
      expect(held()).toBe(owners.length)
      const [row] = await server.query<{ connections: string }>(
        `SELECT count(*) AS connections FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
      )
      expect(Number(row?.connections)).toBeLessThanOrEqual(10)
      await fleet.stop()
      expect(violations(fleet.holdings)).toEqual([])
    })
  })
})
