import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LeaseHeld } from '@leasehold/nestjs'
import type { Tick } from '@leasehold/recipes'
import { Inject, Injectable } from '@nestjs/common'
import { Cron } from '@nestjs/schedule'
import { INSTANCE, type Instance } from './instance-options.js'

/** The reports of the service. Without a guard, each instance would send each of them. */
@Injectable()
export class Reports {
  @Inject(INSTANCE)
  private readonly instance!: Instance

  @Cron('* * * * * *')
  send(@LeaseHeld() { due }: Tick): void {
    appendFileSync(this.#file, `${due.toISOString()} ${this.instance.name}\n`)
  }

  /** The reports that all instances have sent: the time that each was due, and its sender. */
  sent(): readonly string[] {
    return existsSync(this.#file) ? readFileSync(this.#file, 'utf8').trim().split('\n') : []
  }

  get #file(): string {
    return join(this.instance.folder, 'reports.txt')
  }
}
