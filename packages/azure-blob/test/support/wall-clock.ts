/** The wall clock of this machine, which Akka believes: milliseconds since 1970. */
export function wallClock(): number {
  return Date.now()
}
