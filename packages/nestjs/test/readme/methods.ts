// #region methods
import { LeasedCron, LeaseSignal, LeaseToken, WithLease } from '@leasehold/nestjs'
import type { Tick } from '@leasehold/recipes'
import { Injectable } from '@nestjs/common'

@Injectable()
export class Accounts {
  readonly log: string[] = []

  /** At 3 o'clock in Berlin, on one instance. A night that was missed is made up for once. */
  @LeasedCron('0 3 * * *', { timeZone: 'Europe/Berlin', missed: 'run-once', atMostFor: 10 * 60_000 })
  async close({ due, signal }: Tick) {
    if (!signal.aborted) this.log.push(`closed for ${due.toISOString()}`)
  }

  /** For one account, on one instance at a time. Other calls wait for 5 s, and then reject with a LeaseHeldError. */
  @WithLease((id: string) => `account/${id}`, { wait: 5_000 })
  async book(id: string, amount: number, @LeaseToken() token?: bigint, @LeaseSignal() signal?: AbortSignal) {
    if (!signal?.aborted) this.log.push(`booked ${amount} on ${id} under token ${token}`)
  }
}

// #endregion methods

// #region every-instance
import { EveryInstance } from '@leasehold/nestjs'
import { Cron } from '@nestjs/schedule'

export class Prices {
  refreshed = 0

  @Cron('* * * * *')
  @EveryInstance()
  refresh() {
    this.refreshed += 1
  }
}

// #endregion every-instance

// #region leases
import { InjectLeases, type Leases } from '@leasehold/nestjs'

export class Nights {
  constructor(@InjectLeases() leases: Leases) {
    this.leases = leases
  }

  readonly leases: Leases

  /** For all instances, from any of them. */
  async pause() {
    await this.leases.schedule('Accounts.close')?.pause({ reason: 'the ledger moves' })
  }

  async export() {
    return await this.leases.run('export', async ({ fencingToken }) => `written under token ${fencingToken}`)
  }
}
// #endregion leases
