import { LocalLeaseStore } from '@leasehold/local'
import { LeaseholdModule } from '@leasehold/nestjs'
import { LeaseholdHealthIndicator } from '@leasehold/nestjs/terminus'
import { type DynamicModule, Module } from '@nestjs/common'
import { ScheduleModule } from '@nestjs/schedule'
import { TerminusModule } from '@nestjs/terminus'
import { INSTANCE, type Instance } from './instance-options.js'
import { Poller } from './poller.js'
import { Reports } from './reports.js'
import { ServiceController } from './service-controller.js'

@Module({})
class AppModule {}

/** The module of one instance. */
export function appModuleOf(instance: Instance): DynamicModule {
  return {
    module: AppModule,
    // #region module
    imports: [
      ScheduleModule.forRoot(),
      TerminusModule,
      LeaseholdModule.forRoot({
        // Any store: Redis, PostgreSQL, Kubernetes and so on. This one is for the processes of one machine.
        store: new LocalLeaseStore({ folder: instance.folder }),
        guardCron: true,
        owner: instance.name,
        heartbeatTimeout: 3_000,
        heartbeatInterval: 500,
        operationTimeout: 500,
      }),
    ],
    // #endregion module
    controllers: [ServiceController],
    providers: [Reports, Poller, LeaseholdHealthIndicator, { provide: INSTANCE, useValue: instance }],
  }
}
