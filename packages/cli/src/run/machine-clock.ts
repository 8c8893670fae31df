import { uptime } from 'node:os'
import { machineTime } from '@leasehold/core/store-kit'

/**
 * An instant on the clocks that all processes of this machine share, in milliseconds since its start. Two clocks: on Linux
 * the monotonic one stands still during a suspend.
 */
export interface MachineInstant {
  readonly monotonic: number
  /** Goes on during a suspend. Read in steps of 10 ms. */
  readonly boot: number
}

export function machineNow(): MachineInstant {
  const monotonic = machineTime()
  // On macOS the monotonic clock goes on during a suspend by itself.
  return { monotonic, boot: process.platform === 'linux' ? uptime() * 1000 : monotonic }
}

export function after(instant: MachineInstant, milliseconds: number): MachineInstant {
  return { monotonic: instant.monotonic + milliseconds, boot: instant.boot + milliseconds }
}

/** Resolves after a number of milliseconds. The timer keeps the process alive. */
export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
