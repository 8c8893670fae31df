/** Owners are named by the world, so nobody reads these. */
export function hostname(): string {
  return 'browser'
}

/** The monotonic clock of a browser has no boot clock beside it. */
export function uptime(): number {
  return 0
}
