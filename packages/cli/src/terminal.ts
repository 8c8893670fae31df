import type { Readable, Writable } from 'node:stream'
import type { Clock } from '@leasehold/core'
import type { WatchdogProcess } from './run/watchdog-process.js'

/** Where a command writes. */
export interface OutputStream extends Writable {
  readonly isTTY?: boolean
}

/** The surroundings of a command: those of the process, or of a test. */
export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean }
  /** For results only. */
  readonly output: OutputStream
  /** For errors, warnings, progress and questions. */
  readonly errors: OutputStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** For the command of `run`, where it was started before the command line was read. */
  readonly watchdog?: WatchdogProcess | undefined
}

/** Whether output to a stream may have colours: https://no-color.org. */
export function hasColours(stream: OutputStream, env: Terminal['env']): boolean {
  return stream.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb'
}

/** One line of JSON. Characters that would command or confuse a terminal are escaped: the value is the same. */
export function writeJSON({ output }: Pick<Terminal, 'output'>, value: unknown): void {
  output.write(`${JSON.stringify(value).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, escapedInJSON)}\n`)
}

/** A character outside of the basic plane takes two escapes. */
function escapedInJSON(mark: string): string {
  const units = mark.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'))
  return units.map((unit) => `\\u${unit}`).join('')
}
