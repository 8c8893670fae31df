const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

/**
 * The `MicroTime` of the Kubernetes API: exactly six fractional digits, which `Date.prototype.toISOString` has not, and
 * without which the server refuses the object. `micros`: microseconds since 1970.
 */
export function toMicroTime(micros: number): string {
  const [millis, rest] = [Math.floor(micros / 1_000), micros % 1_000]
  return new Date(millis).toISOString().replace('Z', `${String(rest).padStart(3, '0')}Z`)
}

/** Whether the server has written it: it normalises what it takes. */
export function isMicroTime(text: unknown): text is string {
  return typeof text === 'string' && MICRO_TIME.test(text) && !Number.isNaN(Date.parse(text))
}
