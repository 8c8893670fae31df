import { setTimeout as pause } from 'node:timers/promises'
import { describeUnless } from '@leasehold/testing/describe-unless'
import { MotoServer, motoProgram } from '@leasehold/testing/moto-server'
import { mysqlPrograms } from '@leasehold/testing/mysql-program'
import { MysqlServer } from '@leasehold/testing/mysql-server'
import { whyNoPostgres } from '@leasehold/testing/postgres-binary'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { redisProgram } from '@leasehold/testing/redis-program'
import { RedisServer } from '@leasehold/testing/redis-server'
import { ServerClock, type ServerClockKind, whyNoServerClock } from '@leasehold/testing/server-clock'
import { afterEach, expect, it, vi } from 'vitest'

const HOUR = 3_600_000

/** How far a server may be from the clock that it was given: a busy machine, and times in whole seconds. */
const NEAR = 60_000

const stops: (() => Promise<void> | void)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

function clockOf(kind: ServerClockKind): ServerClock {
  const clock = ServerClock.make(kind)
  if (clock === undefined) throw new Error(whyNoServerClock)
  stops.push(() => clock.remove())
  return clock
}

/** `time`: as the server sees it, in milliseconds. */
async function expectToFollow(clock: ServerClock, time: () => Promise<number>): Promise<void> {
  const lead = async (): Promise<number> => (await time()) - Date.now()
  expect(Math.abs(await lead())).toBeLessThan(NEAR)
  for (const by of [-HOUR, 3 * HOUR]) {
    clock.step(by)
    await vi.waitFor(async () => expect(Math.abs((await lead()) - clock.lead)).toBeLessThan(NEAR), { timeout: 20_000 })
  }
}

describeUnless(whyNoServerClock ?? redisProgram.whyNot, 'the clock of Redis', () => {
  it('is set while it runs, and stays as it is when Redis is started again', async () => {
    const clock = clockOf('threads')
    const server = await RedisServer.start({ clock })
    stops.push(() => server.stop())
    const time = async (): Promise<number> => Number(((await server.command('TIME')) as string[])[0]) * 1_000
    await expectToFollow(clock, time)
    await server.restart()
    expect(Math.abs((await time()) - Date.now() - 2 * HOUR)).toBeLessThan(NEAR)
  })
})

describeUnless(whyNoServerClock ?? whyNoPostgres, 'the clock of PostgreSQL', () => {
  it('is set while it runs, for all connections', async () => {
    const clock = clockOf('processes')
    const server = await PostgresServer.start({ clock })
    stops.push(() => server.stop())
    await expectToFollow(clock, async () => {
      const [row] = await server.query<{ time: string }>('select extract(epoch from clock_timestamp()) * 1000 as time')
      return Number(row?.time)
    })
  })
})

for (const kind of ['mysql', 'mariadb'] as const) {
  describeUnless(whyNoServerClock ?? mysqlPrograms[kind].whyNot, `the clock of ${kind}`, () => {
    it('is set while it runs', async () => {
      const clock = clockOf('threads')
      const server = await MysqlServer.start(kind, { clock })
      stops.push(() => server.stop())
      await expectToFollow(clock, async () => {
        const [row] = await server.query("select timestampdiff(second, '1970-01-01', utc_timestamp(6)) as time")
        return Number(row?.time) * 1_000
      })
    })
  })
}

describeUnless(whyNoServerClock ?? motoProgram.whyNot, 'the clock of moto', () => {
  it('is set while it runs', async () => {
    const clock = clockOf('threads')
    const server = await MotoServer.start(motoProgram, clock)
    stops.push(() => server.stop())
    await expectToFollow(clock, async () => {
      const answer = await fetch(`${server.url}/moto-api/data.json`)
      await answer.body?.cancel()
      return Date.parse(answer.headers.get('date') ?? '')
    })
  })
})

describeUnless(whyNoServerClock, 'a clock of a server', () => {
  it('runs faster for a while', async () => {
    const clock = clockOf('threads')
    clock.slew(2)
    await vi.waitFor(() => expect(clock.lead).toBeGreaterThan(200), { timeout: 20_000 })
    clock.slew(1)
    const { lead } = clock
    await pause(200)
    expect(clock.lead).toBe(lead)
  })
})
