import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { shownValue } from '../errors/shown-value.js'

/** The units of HOCON.md, "Duration format": exactly these, as the getters of a configuration have them. */
const milliseconds: ReadonlyMap<string, number> = new Map(
  Object.entries({
    'ns nano nanos nanosecond nanoseconds': 1e-6,
    'us micro micros microsecond microseconds': 1e-3,
    'ms milli millis millisecond milliseconds': 1,
    's second seconds': 1_000,
    'm minute minutes': 60_000,
    'h hour hours': 3_600_000,
    'd day days': 86_400_000,
  }).flatMap(([names, factor]) => names.split(' ').map((name) => [name, factor] as const)),
)

/**
 * A duration of a configuration in milliseconds: a number is one already, a text has a unit (`12s`, `500 ms`) or says
 * `infinite`. Throws a `LeaseConfigurationError` that names the key.
 */
export function toMilliseconds(key: string, value: unknown): number {
  const duration = durationOf(value)
  if (duration !== undefined) return duration
  throw new LeaseConfigurationError(
    `${key} must be a duration such as 12s, 500ms or infinite, not ${shownValue(value)}`,
  )
}

/** The duration in milliseconds; `undefined` if the value is no duration. */
export function durationOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isNaN(value) ? undefined : value
  if (value === 'infinite' || value === 'infinity') return Number.POSITIVE_INFINITY
  const [, amount, unit = 'ms'] = (typeof value === 'string' && /^\s*(\d+(?:\.\d+)?)\s*([a-z]+)?\s*$/.exec(value)) || []
  const factor = milliseconds.get(unit)
  const duration = amount === undefined || factor === undefined ? Number.NaN : Number(amount) * factor
  // Too many digits make a number infinite. Only the word may mean "without end".
  return Number.isFinite(duration) ? duration : undefined
}
