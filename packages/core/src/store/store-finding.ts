/** One condition of leases, and whether a store keeps it. */
export interface StoreFinding {
  /** The condition, in a few words, such as `conditional writes`. */
  readonly check: string
  /**
   * - `ok`: the store keeps the condition.
   * - `warning`: leases work, but less well, or a rare failure of the server can break the condition.
   * - `failed`: the store breaks the condition: leases are not exclusive, cannot be held, or get lost.
   * - `unknown`: the store does not say, for instance because the user may not ask.
   */
  readonly result: 'ok' | 'warning' | 'failed' | 'unknown'
  /** What was seen, such as the value of the setting. Part of a sentence, without a full stop. */
  readonly found?: string
  /** The setting of the server or the client that decides it, such as `maxmemory-policy`. */
  readonly setting?: string
  /** What to change. Part of a sentence, without a full stop. Absent if there is nothing to change. */
  readonly change?: string
}

/** From this difference on, in milliseconds, the clock of a server is probably wrong. */
const WRONG_BY = 60_000

/**
 * Compares the clock of a server with the wall clock of this machine; all times are milliseconds since 1970. `asked` and
 * `answered`: when the request was sent, and when its answer came.
 */
export function clockFinding(server: number, asked: number, answered: number): StoreFinding {
  const check = 'clock'
  if (!Number.isFinite(server)) return { check, result: 'unknown', found: 'the server does not give its time' }
  const least = Math.max(asked - server, server - answered, 0)
  const difference = Math.round(server - (asked + answered) / 2)
  const found = `the server is ${Math.abs(difference)} ms ${difference < 0 ? 'behind' : 'ahead of'} this machine`
  if (least < WRONG_BY) return { check, result: 'ok', found }
  const change =
    'set both clocks by NTP: leases do not compare them, but fencing tokens are taken from that of the server'
  return { check, result: 'warning', found, change }
}
