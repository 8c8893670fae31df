import { type Clock, LeaseConfigurationError, type LeaseStore } from '@leasehold/core'
import { shownValue } from '@leasehold/core/internal'
import { wallTime } from '@leasehold/core/store-kit'
import { ScheduleControl } from '@leasehold/recipes'
import type { ScheduleRequest } from '../protocol.js'

export interface ControlOptions {
  /** The time limit of each call to the store, in milliseconds. */
  readonly timeout: number
  readonly clock?: Clock | undefined
}

/**
 * The least ttl of the lease under which a change is made, in milliseconds. Somebody waits for the change, and waits no longer than
 * this for another operator.
 */
const SHORTEST_TTL = 15_000

/** Names of users are cut to this number of characters. */
const LONGEST_AUTHOR = 200

/** The fields of a request, by its action. It comes from outside, so that each may be anything. */
const fields: Readonly<Record<ScheduleRequest['action'], readonly string[]>> = {
  pause: ['reason', 'until'],
  resume: [],
  'run-now': [],
  skip: ['tick'],
}

/**
 * Does what a reader of the page asks for: pauses or resumes a schedule, asks for a run, or has a tick skipped. `by`: who asks; this
 * process if it is empty.
 * Resolves once that is recorded. Rejects with a `LeaseConfigurationError` or a `LeaseNameError` if the request is not valid, and
 * as the methods of `ScheduleControl` do.
 */
export async function controlSchedule(
  store: LeaseStore,
  request: ScheduleRequest,
  by: string,
  { timeout, clock }: ControlOptions,
): Promise<void> {
  const given: Readonly<Record<string, unknown>> = Object(request)
  const { name, action } = given
  if (typeof name !== 'string') throw wrong(`name must be the name of a schedule, not ${shownValue(name)}`)
  if (typeof action !== 'string' || !Object.hasOwn(fields, action)) {
    throw wrong(`action must be one of ${Object.keys(fields).join(', ')}, not ${shownValue(action)}`, name)
  }
  const allowed = ['name', 'action', ...fields[action as ScheduleRequest['action']]]
  const other = Object.keys(given).find((field) => !allowed.includes(field))
  if (other !== undefined) throw wrong(`'${action}' takes ${allowed.join(', ')}, and no ${shownValue(other)}`, name)
  const control = new ScheduleControl(store, name, {
    operationTimeout: timeout,
    heartbeatTimeout: Math.min(Math.max(SHORTEST_TTL, 4 * timeout, store.limits.minTtl), store.limits.maxTtl),
    ...(clock === undefined ? {} : { clock, now: () => new Date(clock.wall?.() ?? wallTime()) }),
  })
  const author = by.trim() === '' ? {} : { by: by.slice(0, LONGEST_AUTHOR) }
  const checked = request as ScheduleRequest
  if (checked.action === 'pause') {
    const { reason, until } = checked
    await control.pause({ reason, ...author, ...(until === undefined ? {} : { until: dateOf('until', until, name) }) })
  } else if (checked.action === 'skip') await control.skip(dateOf('tick', checked.tick, name))
  else if (checked.action === 'resume') await control.resume()
  else await control.runNow(author)
}

function dateOf(field: string, value: unknown, name: string): Date {
  const date = new Date(typeof value === 'number' ? value : Number.NaN)
  if (!Number.isNaN(date.getTime())) return date
  throw wrong(`${field} must be an instant in milliseconds since 1970, not ${shownValue(value)}`, name)
}

function wrong(message: string, leaseName?: string): LeaseConfigurationError {
  return new LeaseConfigurationError(`schedule: ${message}`, leaseName === undefined ? {} : { leaseName })
}
