import { readFileSync, readlinkSync } from 'node:fs'

/** A process, told apart from a later one with the same number. */
export interface WaiterProcess {
  readonly pid: number
  /** When it was started, in the kernel's ticks since boot; empty where the system does not tell. */
  readonly started: string
  /** In which namespace the number counts; empty where there are none. */
  readonly namespace: string
}

/** Behind the name of the program, which may hold anything, in parentheses. */
const STATE_FIELD = 0
const STARTED_FIELD = 19

export function thisProcess(): WaiterProcess {
  const { pid } = process
  return { pid, started: statusOf(pid)?.started ?? '', namespace: readNamespace() }
}

/**
 * Whether `waiter` is certainly dead, seen from the process `self`. Of a process in another namespace (a container)
 * nothing is known: its place then ends by not being repeated.
 */
export function isDead(waiter: WaiterProcess, self: WaiterProcess): boolean {
  if (waiter.namespace !== self.namespace) return false
  if (waiter.pid === self.pid) return waiter.started !== self.started
  try {
    process.kill(waiter.pid, 0)
  } catch (error) {
    // Any other failure says that there is such a process, of another user.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true
  }
  if (waiter.started === '') return false
  const status = statusOf(waiter.pid)
  if (status === undefined) return false
  // One that was killed keeps its number until its parent has taken notice.
  return status.started !== waiter.started || status.state === 'Z' || status.state === 'X'
}

function statusOf(pid: number): { state: string; started: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { state: fields[STATE_FIELD] ?? '', started: fields[STARTED_FIELD] ?? '' }
  } catch {
    return undefined
  }
}

function readNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}
