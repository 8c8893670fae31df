import { readFileSync } from 'node:fs'
import { childProcesses } from '@leasehold/testing/child-processes'

/** In milliseconds; 100 ticks a second on every Linux that Node runs on. */
const TICK = 10

/**
 * The processor time of a server on this machine, in milliseconds: of its main process, of its children that have exited,
 * and of those that run, without one of them.
 */
export function processorTimeOf(main: number, without?: number): number {
  const [user, system, exitedUser, exitedSystem] = statOf(main).slice(11, 15).map(Number)
  const ended = ((user ?? 0) + (system ?? 0) + (exitedUser ?? 0) + (exitedSystem ?? 0)) * TICK
  const children = childProcesses(main)
  return children.filter((pid) => pid !== without).reduce((sum, pid) => sum + processorTime(pid), ended)
}

/** The fields after the name of the program, which may contain spaces and stands in parentheses. */
export function statOf(pid: number): readonly string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
}

/** Milliseconds; 0 of a process that has exited. */
function processorTime(pid: number): number {
  try {
    const [nanoseconds] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
    return Number(nanoseconds) / 1e6
  } catch {
    return 0
  }
}
