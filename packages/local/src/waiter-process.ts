import { readFileSync, readlinkSync } from 'node:fs'

/** A thread of a process. Later threads may have the same number, but not the same start. */
export interface WaiterProcess {
  readonly pid: number
  /** The kernel's number of the thread: for the main thread that of the process; empty if the system has none. */
  readonly thread: string
  /** When the thread was started, in the kernel's ticks since boot; empty if the system does not show it. */
  readonly started: string
  /** The namespace of the numbers; empty if the system has none. */
  readonly namespace: string
}

/** The positions of fields after the name of the program, which is in parentheses and may contain any character. */
const STATE_FIELD = 0
const STARTED_FIELD = 19

export function thisWaiter(): WaiterProcess {
  const { pid } = process
  const thread = /\/task\/(\d+)$/.exec(readLink('/proc/thread-self'))?.[1] ?? ''
  return { pid, thread, started: statusOf(pid, thread)?.started ?? '', namespace: readLink('/proc/self/ns/pid') }
}

/**
 * Whether `waiter` is certainly dead, seen from the thread `self`. The state of a process in another namespace (a
 * container) is unknown: its place ends when its request is not repeated.
 */
export function isDead(waiter: WaiterProcess, self: WaiterProcess): boolean {
  if (waiter.namespace !== self.namespace) return false
  const { pid, thread, started } = waiter
  if (pid === self.pid && thread === self.thread) return started !== self.started
  try {
    process.kill(pid, 0)
  } catch (error) {
    // Any other error means that the process exists and belongs to another user.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true
  }
  if (started === '') return false
  const status = statusOf(pid, thread)
  // The system may hide all threads of another user's process, but never only some of them.
  if (status === undefined) return statusOf(pid, String(pid)) !== undefined
  // A killed process keeps its number until its parent has read its exit status.
  return status.started !== started || status.state === 'Z' || status.state === 'X'
}

function statusOf(pid: number, thread: string): { state: string; started: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { state: fields[STATE_FIELD] ?? '', started: fields[STARTED_FIELD] ?? '' }
  } catch {
    return undefined
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
