import type { AcquireOptions } from '../lease/acquire-options.js'
import type { LeaseRun } from '../lease/lease-run.js'
import { Caller } from '../lease/shared-callers.js'
import type { Clock } from '../time/clock.js'

/** One caller of `acquire`, `adopt` or `run` of a lease over a store. */
export class AcquireCaller extends Caller {
  /** The run that wants the grant; `undefined` for the other callers. */
  readonly run: LeaseRun | undefined
  /** The holder's grant that `preempt.when` was asked about last, and whether the caller wants it broken. */
  judged: { readonly grantId: string; readonly breaks: boolean } | undefined

  constructor(options: AcquireOptions, until: number, clock: Clock, run?: LeaseRun) {
    super(options, until, clock)
    this.run = run
  }
}
