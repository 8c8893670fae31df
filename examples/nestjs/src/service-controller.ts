import { LeaseToken, WithLease } from '@leasehold/nestjs'
import { LeaseholdHealthIndicator } from '@leasehold/nestjs/terminus'
import { Controller, Get, Inject, Param, Post } from '@nestjs/common'
import { HealthCheck, HealthCheckService } from '@nestjs/terminus'
import { Poller } from './poller.js'
import { Reports } from './reports.js'

@Controller()
export class ServiceController {
  @Inject(Reports)
  private readonly reports!: Reports

  @Inject(Poller)
  private readonly poller!: Poller

  @Inject(HealthCheckService)
  private readonly checks!: HealthCheckService

  @Inject(LeaseholdHealthIndicator)
  private readonly indicator!: LeaseholdHealthIndicator

  @Get('reports')
  sent(): readonly string[] {
    return this.reports.sent()
  }

  @Get('leader')
  leader() {
    return this.poller.leader ?? {}
  }

  // #region with-lease
  @Post('accounts/:id')
  @WithLease((id: string) => `account/${id}`, { wait: 5_000 })
  async book(@Param('id') id: string, @LeaseToken() token?: bigint) {
    // Send the token with each write, and let the database reject smaller ones.
    return { id, token: String(token) }
  }
  // #endregion with-lease

  // #region health
  @Get('health')
  @HealthCheck()
  health() {
    return this.checks.check([() => this.indicator.isHealthy()])
  }
  // #endregion health
}
