import { type ServerClock, whyNoServerClock } from '@leasehold/testing/server-clock'
import type { SystemFault } from '../systems/system.js'

/** How much faster or slower a clock runs, in millionths: as those of the clients, so that any two differ by less than 1 %. */
const MOST_SLEW = 4_000

/** How long a clock runs at a wrong rate, in milliseconds. */
const SLEW = [1_000, 10_000] as const

interface ClockBounds {
  /** Such as `clock of server 1`: it is set while the server is killed or frozen, too. */
  readonly target: string
  /** The longest step back, in milliseconds. Some grants last so much longer. */
  readonly back: number
  /** The longest step forward, in milliseconds. */
  readonly forward: number
}

/**
 * Faults of the clock by which a store decides about expiry. A step back, and a wrong rate, let grants last longer. A step forward
 * ends grants that their holders count on, which the stores document as a limit: it is drawn only if it is asked for.
 */
export function clockFaults(
  clock: ServerClock | undefined,
  { target, back, forward }: ClockBounds,
): readonly SystemFault[] {
  if (clock === undefined) return []
  const atOnce = [0, 0] as const
  const end = (): void => {}
  return [
    {
      kind: 'set-clock-back',
      target,
      weight: 0.5,
      lasts: atOnce,
      most: back,
      begin: ({ amount = 0 } = {}) => clock.step(-Math.abs(amount)),
      end,
    },
    {
      kind: 'set-clock-forward',
      target,
      weight: 0,
      lasts: atOnce,
      most: forward,
      begin: ({ amount = 0 } = {}) => clock.step(Math.abs(amount)),
      end,
    },
    {
      kind: 'slew-clock',
      target,
      weight: 0.5,
      lasts: SLEW,
      most: MOST_SLEW,
      begin: ({ amount = 0 } = {}) => clock.slew(1 + amount / 1_000_000),
      end: () => clock.slew(1),
    },
  ]
}

/**
 * The clock of a service that is compared with itself only. `difference`: by how much two of its times may be wrong against each
 * other, in milliseconds, as the store assumes it.
 */
export function boundedClockFaults(
  clock: ServerClock | undefined,
  { target, difference, forward }: { readonly target: string; readonly difference: number; readonly forward: number },
): readonly SystemFault[] {
  if (clock === undefined) return []
  const common = { target, lasts: [0, 0], end: () => {} } as const
  return [
    {
      ...common,
      kind: 'step-clock',
      most: difference / 2,
      begin: ({ amount = 0 } = {}) => clock.step(amount - clock.lead),
    },
    {
      ...common,
      kind: 'set-clock-forward',
      weight: 0,
      most: forward,
      begin: ({ amount = 0 } = {}) => clock.step(Math.abs(amount)),
    },
  ]
}

/** Why the clock is left alone, for the report. */
export function clockLeftOut(clock: ServerClock | undefined): readonly string[] {
  return clock === undefined ? [`clocks of servers: ${whyNoServerClock}`] : []
}
