/** The wall clock of the machine in milliseconds since 1970, for the ticks of schedules. Leases never use it. */
export function wallClock(): number {
  return Date.now()
}
