import { readdirSync, readFileSync } from 'node:fs'
import { childProcesses } from '@leasehold/testing/child-processes'

/** In milliseconds; 100 ticks a second on every Linux that Node runs on. */
const TICK = 10

/**
 * The processor time of a server on this machine, in milliseconds: of its main process, of its children that have exited,
 * and of those that run, without one of them.
 */
export function processorTimeOf(main: number, without?: number): number {
  const [user = 0, system = 0] = statOf(main).slice(13, 15).map(Number)
  const running = [main, ...childProcesses(main)].filter((pid) => pid !== without)
  return running.reduce((sum, pid) => sum + processorTime(pid), (user + system) * TICK)
}

/** The fields after the name of the program, which may contain spaces and stands in parentheses. */
export function statOf(pid: number): readonly string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
}

/** Of the threads that run, in milliseconds; 0 of a process that has exited. */
function processorTime(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    return threads.reduce((sum, thread) => {
      const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
      return sum + Number(nanoseconds) / 1e6
    }, 0)
  } catch {
    return 0
  }
}
