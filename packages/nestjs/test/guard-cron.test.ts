import { MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { Injectable } from '@nestjs/common'
import { Cron, ScheduleModule } from '@nestjs/schedule'
import { Test } from '@nestjs/testing'
import { expect, it } from 'vitest'
import { LeaseholdModule } from '../src/index.js'

it('spike', async () => {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  const runs: string[] = []
  async function start(name: string) {
    @Injectable()
    class Reports {
      @Cron('* * * * *')
      send() {
        runs.push(name)
      }
    }
    const module = await Test.createTestingModule({
      imports: [
        LeaseholdModule.forRoot({ store, clock, guardCron: true, now: () => new Date(clock.wall()) }),
        ScheduleModule.forRoot(),
      ],
      providers: [Reports],
    }).compile()
    return await module.init()
  }
  const apps = [await start('anna'), await start('berta')]
  await clock.advance(180_500)
  expect(runs).toHaveLength(3)
  const closing = Promise.all(apps.map((app) => app.close()))
  await clock.advance(20_000)
  await closing
})
