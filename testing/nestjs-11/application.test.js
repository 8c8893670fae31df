// A test of the application with Jest, without real time.
const { providersOf } = require('./application.js')
const { LeaseholdTestingModule } = require('@leasehold/nestjs/testing')
const { VirtualClock } = require('@leasehold/testkit')
const { ScheduleModule } = require('@nestjs/schedule')
const { Test } = require('@nestjs/testing')

test('each tick runs once, at the time of the test', async () => {
  const calls = []
  const { Reports } = providersOf(calls)
  const module = await Test.createTestingModule({
    imports: [ScheduleModule.forRoot(), LeaseholdTestingModule.forRoot({ guardCron: true })],
    providers: [Reports],
  }).compile()
  await module.init()
  await module.get(VirtualClock).advance(3_500)
  await module.close()
  expect(calls.filter(([kind]) => kind === 'cron')).toHaveLength(3)
  expect(calls.filter(([kind]) => kind === 'leader')).toEqual([['leader', 1n]])
})
