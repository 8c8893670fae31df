import { readFileSync, readlinkSync } from 'node:fs'

/** A thread of a process, told apart from a later one with the same number. */
export interface WaiterProcess {
  readonly pid: number
  /** The kernel's number of the thread, that of the process for its main thread; empty where the system does not tell. */
  readonly thread: string
  /** When the thread was started, in the kernel's ticks since boot; empty where the system does not tell. */
  readonly started: string
  /** In which namespace the numbers count; empty where there are none. */
  readonly namespace: string
}

/** Behind the name of the program, which may hold anything, in parentheses. */
const STATE_FIELD = 0
const STARTED_FIELD = 19

/** The calling thread. */
export function thisWaiter(): WaiterProcess {
  const { pid } = process
  const thread = /\/task\/(\d+)$/.exec(readLink('/proc/thread-self'))?.[1] ?? ''
  return { pid, thread, started: statusOf(pid, thread)?.started ?? '', namespace: readLink('/proc/self/ns/pid') }
}

/**
 * Whether `waiter` is certainly dead, seen from the thread `self`. Of a process in another namespace (a container)
 * nothing is known: its place then ends by not being repeated.
 */
export function isDead(waiter: WaiterProcess, self: WaiterProcess): boolean {
  if (waiter.namespace !== self.namespace) return false
  const { pid, thread, started } = waiter
  if (pid === self.pid && thread === self.thread) return started !== self.started
  try {
    process.kill(pid, 0)
  } catch (error) {
    // Any other failure says that there is such a process, of another user.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true
  }
  if (started === '') return false
  const status = statusOf(pid, thread)
  // The system may hide all threads of a process of another user; it does not hide one alone.
  if (status === undefined) return statusOf(pid, String(pid)) !== undefined
  // One that was killed keeps its number until its parent has taken notice.
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
