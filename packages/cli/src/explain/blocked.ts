import type { RecordedStack, StackFrame } from '@leasehold/recorder/internal'
import { durationText } from '../duration-text.js'
import { BUSY_PART, type Finding } from './causes.js'

/** A time in which the event loop did not turn. Milliseconds. */
interface Blocked extends RecordedStack {
  readonly duration: number
  /** The processor time that the process used meanwhile. */
  readonly cpu: number
}

/** How much of the time the thread of the recorder has to have run, to prove that the process was not stopped. */
const WATCHED_PART = 0.5

/** How much of a time a process that was not stopped uses the processor, if it runs code: a busy machine gives it little. */
const LEAST_BUSY_PART = 0.05

/** Why the event loop did not turn. */
export function blockedFinding(
  { duration, cpu, watched = 0, stack, noStack }: Blocked,
  process: string,
  until = '',
): Finding {
  const [long, used] = [durationText(duration), durationText(cpu)]
  const where = stack === undefined ? '' : ` in ${callText(stack)}`
  const found = { process, ...(stack !== undefined && { stack }) }
  const hasRun = watched >= duration * WATCHED_PART
  if (cpu >= duration * (hasRun ? LEAST_BUSY_PART : BUSY_PART)) {
    const unknown = noStack === undefined ? '' : ` (no stack: ${noStack.message})`
    return {
      cause: 'busy-loop',
      because:
        `its event loop was blocked for ${long}${where}, in which its process used ${used} of processor time: code ran ` +
        `without a pause${unknown}${until}`,
      ...found,
    }
  }
  if (hasRun && (stack !== undefined || noStack?.code === 'native')) {
    const what = stack === undefined ? 'a synchronous call such as execSync, or native code' : 'a synchronous call'
    return {
      cause: 'synchronous-wait',
      because:
        `its event loop was blocked for ${long}${where}, in which its process used only ${used} of processor time, and was ` +
        `not stopped: the main thread waited in ${what}${until}`,
      ...found,
    }
  }
  return {
    cause: 'stopped',
    because:
      `its process did not run for ${long}, and used ${used} of processor time in it: it was stopped ` +
      `(SIGSTOP, a debugger), or the machine gave it no processor${until}`,
    process,
  }
}

/** The innermost call in code of the application. Where there is none, the innermost one in a library; else, the innermost one. */
function callText(stack: readonly StackFrame[]): string {
  const outside = stack.filter(({ file }) => !file.startsWith('node:'))
  const call = outside.find(({ file }) => !/(^|[\\/])node_modules[\\/]/.test(file)) ?? outside[0] ?? stack[0]
  return call === undefined ? 'an unknown function' : frameText(call, '`')
}

/** A call as `parse (src/import.ts:12:3)`. */
export function frameText({ function: name, file, line, column }: StackFrame, quote = ''): string {
  return `${quote}${name}${quote} (${file}:${line}:${column})`
}
