import { writeSync } from 'node:fs'

/**
 * Writes to a descriptor without a stream of Node, which would make a pipe non-blocking from then on, also for a command
 * that inherits it. Never throws: the reader may have ended, and there is no other place to report to.
 */
export function writeNow(descriptor: number, text: string): void {
  try {
    writeSync(descriptor, text)
  } catch {
    // Nobody is left to read it.
  }
}
