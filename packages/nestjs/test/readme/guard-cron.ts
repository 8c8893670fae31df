// #region module
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LocalLeaseStore } from '@leasehold/local'
import { LeaseholdModule } from '@leasehold/nestjs'
import { Injectable, Module } from '@nestjs/common'
import { Cron, ScheduleModule } from '@nestjs/schedule'

@Injectable()
export class Reports {
  sent = 0

  @Cron('0 3 * * *')
  async sendAll() {
    this.sent += 1
  }
}

@Module({
  imports: [
    ScheduleModule.forRoot(),
    // For the processes of one machine. For several machines: RedisLeaseStore, PostgresLeaseStore and so on.
    LeaseholdModule.forRoot({
      store: new LocalLeaseStore({ folder: join(tmpdir(), 'my-app-leases') }),
      guardCron: true,
    }),
  ],
  providers: [Reports],
})
export class AppModule {}
// #endregion module
