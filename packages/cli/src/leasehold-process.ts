import { Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { systemClock } from '@leasehold/core'
import { leasehold } from './leasehold.js'
import type { WatchdogProcess } from './run/watchdog-process.js'
import type { OutputStream } from './terminal.js'
import { writeNow } from './write-now.js'

const STANDARD_ERROR = 2

/** Standard error, without a stream of Node. */
const errors: OutputStream = new Writable({
  write(chunk, _encoding, done) {
    writeNow(STANDARD_ERROR, String(chunk))
    done()
  },
})

/**
 * Carries out the command line of this process, and never rejects. Resolves with the exit code. The streams are made when
 * they are first used: Node then makes a pipe non-blocking, also for a command that inherits it, which then fails to read
 * or write.
 */
export async function main(watchdog?: WatchdogProcess): Promise<number> {
  return await leasehold(process.argv.slice(2), {
    get input() {
      return process.stdin
    },
    get output() {
      return process.stdout
    },
    get errors() {
      return isatty(STANDARD_ERROR) ? process.stderr : errors
    },
    env: process.env,
    clock: systemClock,
    watchdog,
  })
}
