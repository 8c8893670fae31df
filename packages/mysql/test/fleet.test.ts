import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@leasehold/core'
import { migrate } from '@leasehold/mysql'
import { eventually, temporaryFolder } from '@leasehold/testing'
import { describeMysql } from '@leasehold/testing/describe-mysql'
import { Fleet, violations } from '@leasehold/testing/fleet'
import { MysqlServer } from '@leasehold/testing/mysql-server'
import { expect, it } from 'vitest'
import type { Contest } from './support/contender.js'
import { poolTo } from './support/libraries.js'

const TIMES = { heartbeatTimeout: 3_000, heartbeatInterval: 500, operationTimeout: 450 }
const OWNERS = ['a', 'b', 'c', 'd', 'e', 'f']

describeMysql('processes', (kind) => {
  it('that are killed and stopped, on a server that is killed and stopped: never two holders, and no late write', {
    timeout: 120_000,
  }, async (test) => {
    const server = await MysqlServer.start(kind)
    const fleet = await Fleet.create<Contest>(
      temporaryFolder(test),
      fileURLToPath(new URL('./support/contender.ts', import.meta.url)),
    )
    try {
      const pool = poolTo(server)
      await migrate(pool)
      await pool.query('create table ledger (place bigint auto_increment primary key, name text, token bigint)')
      await pool.end()
      const contestOf = (owner: string): Contest => {
        const name = OWNERS.indexOf(owner) % 2 === 0 ? 'harbour' : 'quay'
        return { port: server.port, owner, name, times: TIMES, work: 30 }
      }
      for (const owner of OWNERS) await fleet.start(contestOf(owner))
      const goOn = async (): Promise<void> => {
        const since = fleet.holdings.length
        await eventually('they go on', async () => fleet.holdings.length > since + 6)
      }
      await goOn()
      await fleet.kill('a')
      fleet.freeze('b')
      await sleep(TIMES.heartbeatTimeout + 700)
      fleet.thaw('b')
      await goOn()
      await fleet.start(contestOf('a'))
      await server.kill()
      await server.restart()
      await goOn()
      server.freeze()
      await sleep(TIMES.heartbeatTimeout + 500)
      server.thaw()
      await goOn()
      const held = (): number => new Set(fleet.holdings.map(({ owner }) => owner)).size
      const until = systemClock.now() + 30_000
      while (held() < OWNERS.length && systemClock.now() < until) await sleep(100)
      await fleet.stop()
      expect(held()).toBe(OWNERS.length)
      expect([violations(fleet.holdings), fleet.faults]).toEqual([[], []])
      // In the order in which they were written, tokens of one name never get smaller.
      const rows = await server.query('select name, token from ledger order by place')
      const last = new Map<unknown, number>()
      for (const { name, token } of rows) {
        expect(Number(token)).toBeGreaterThanOrEqual(last.get(name) ?? 0)
        last.set(name, Number(token))
      }
      expect(rows.length).toBeGreaterThan(20)
    } finally {
      await fleet.stop()
      await server.stop()
    }
  })
})
