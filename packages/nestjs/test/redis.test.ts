import type { Tick } from '@leasehold/recipes'
import { RedisLeaseStore } from '@leasehold/redis'
import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { Cron, ScheduleModule } from '@nestjs/schedule'
import { Test } from '@nestjs/testing'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { LeaseHeld, LeaseholdModule } from '../src/index.js'
import { silent } from './support/application.js'

describeRedis('guardCron on a Redis server', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await RedisServer.start()
  })
  afterAll(() => server.stop())

  it('runs each tick once on two instances, and goes on when one of them has shut down', async () => {
    const dues: string[] = []
    async function start() {
      class Reports {
        @Cron('* * * * * *')
        send(@LeaseHeld() { due }: Tick) {
          dues.push(due.toISOString())
        }
      }
      const client = new Redis(server.port, '127.0.0.1')
      const leasehold = LeaseholdModule.forRoot({ store: new RedisLeaseStore(client), guardCron: true, logger: silent })
      const module = await Test.createTestingModule({
        imports: [ScheduleModule.forRoot(), leasehold],
        providers: [Reports],
      }).compile()
      onTestFinished(async () => {
        await module.close()
        client.disconnect()
      })
      return await module.init()
    }
    const [first] = [await start(), await start()]
    await eventually('both run', async () => dues.length >= 3)
    await first.close()
    const before = dues.length
    await eventually('the other goes on', async () => dues.length >= before + 2)
    expect(new Set(dues).size).toBe(dues.length)
  })
})
