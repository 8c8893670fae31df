import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'

const milliseconds: Readonly<Record<string, number>> = {
  ms: 1,
  millis: 1,
  milli: 1,
  milliseconds: 1,
  millisecond: 1,
  s: 1_000,
  seconds: 1_000,
  second: 1_000,
  m: 60_000,
  minutes: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hours: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  days: 86_400_000,
  day: 86_400_000,
}

/**
 * A duration of a configuration in milliseconds: a number is one already, a text has a unit (`12s`, `500 ms`) or says
 * `infinite`. Throws a `LeaseConfigurationError` that names the key.
 */
export function toMilliseconds(key: string, value: unknown): number {
  if (typeof value === 'number') return value
  if (value === 'infinite' || value === 'infinity') return Number.POSITIVE_INFINITY
  const [, amount, unit = 'ms'] = (typeof value === 'string' && /^\s*(\d+(?:\.\d+)?)\s*([a-z]+)?\s*$/.exec(value)) || []
  const factor = Object.hasOwn(milliseconds, unit) ? milliseconds[unit] : undefined
  if (amount === undefined || factor === undefined) {
    throw new LeaseConfigurationError(`${key} must be a duration such as 12s, 500ms or infinite, not ${String(value)}`)
  }
  return Number(amount) * factor
}
