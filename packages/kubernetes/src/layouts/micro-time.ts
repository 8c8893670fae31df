const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

/**
 * The `MicroTime` of the Kubernetes API. The server rejects an object whose times do not have exactly six fractional
 * digits. `micros`: microseconds since 1970.
 */
export function toMicroTime(micros: number): string {
  const [millis, rest] = [Math.floor(micros / 1_000), micros % 1_000]
  return new Date(millis).toISOString().replace('Z', `${String(rest).padStart(3, '0')}Z`)
}

/** Whether a value has the format in which the server returns times. */
export function isMicroTime(text: unknown): text is string {
  return typeof text === 'string' && MICRO_TIME.test(text) && !Number.isNaN(Date.parse(text))
}
