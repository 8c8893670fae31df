// #region testing
import { LeaseholdTestingModule } from '@leasehold/nestjs/testing'
import { VirtualClock } from '@leasehold/testkit'
import { Test } from '@nestjs/testing'
import { Accounts } from './methods.js'

export async function closesAccountsAtNight() {
  const module = await Test.createTestingModule({
    imports: [LeaseholdTestingModule.forRoot()],
    providers: [Accounts],
  }).compile()
  await module.init()
  // A day passes, in milliseconds.
  await module.get(VirtualClock).advance(24 * 60 * 60_000)
  await module.close()
  return module.get(Accounts).log
}

// #endregion testing

// #region override
import { LEASEHOLD_OPTIONS } from '@leasehold/nestjs'
import { testLeaseholdOptions } from '@leasehold/nestjs/testing'
import { AppModule } from './guard-cron.js'

export async function runsAppModule(clock: VirtualClock) {
  const module = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(LEASEHOLD_OPTIONS)
    .useValue(testLeaseholdOptions({ clock, guardCron: true }))
    .compile()
  return await module.init()
}
// #endregion override
